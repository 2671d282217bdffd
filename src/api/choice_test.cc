// SPDX-License-Identifier: Apache-2.0
#include "api/choice.h"

#include <gtest/gtest.h>

#include "api/random.h"
#include "chat/output_shapes.h"

namespace daybreak::api {
namespace {

// The kinds and texts of all deltas of an answer, on one line.
std::string deltas_of(const std::string& text, const std::vector<std::string>& stop) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  ChoiceOptions options;
  options.parser.initial = chat::Channel::kResponse;
  options.stop = stop;
  options.random = random_bits;
  Choice choice(*tokenizer, chat::shapes::load_markers(*tokenizer), options);
  std::vector<Delta> deltas;
  for (const TokenId id : chat::shapes::encode(*tokenizer, text)) {
    const engine::GeneratedToken token{.id = id, .top = {}};
    choice.push({&token, 1}, deltas);
  }
  choice.finish(chat::StopCause::kStopToken, deltas);
  std::string out;
  for (const Delta& delta : deltas) {
    if (!delta.finish_reason.empty()) {
      out += "|" + std::string(delta.finish_reason);
    } else if (delta.event.kind == chat::OutputEvent::Kind::kContent) {
      out += delta.event.text;
    } else if (delta.event.kind == chat::OutputEvent::Kind::kToolCallBegin) {
      out += "|call " + delta.event.name;
    }
  }
  return out;
}

constexpr const char* kCall =
    "<|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|><|close|>call<|sep|>";

TEST(Choice, TextHeldBackForAStopStringComesBeforeTheCallThatFollows) {
  EXPECT_EQ(deltas_of("hel" + std::string(kCall), {"hello"}), "hel|call f|tool_calls");
}

TEST(Choice, NothingFollowsAStopString) {
  EXPECT_EQ(deltas_of("hello" + std::string(kCall), {"lo"}), "hel|stop");
}

}  // namespace
}  // namespace daybreak::api
