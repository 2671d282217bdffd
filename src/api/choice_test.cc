// SPDX-License-Identifier: Apache-2.0
#include "api/choice.h"

#include <gtest/gtest.h>

#include <regex>

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

// A token whose text is cut: by a stop string that may begin in it, or amid a character.
TEST(ChoiceIds, TheRestOfATokenIsJoinedToItsBeginning) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  const auto run = [&](std::vector<TokenId> ids, std::vector<std::string> stop) {
    ChoiceOptions options;
    options.parser.initial = chat::Channel::kResponse;
    options.stop = std::move(stop);
    options.random = random_bits;
    options.ids_with_text = true;
    Choice choice(*tokenizer, chat::shapes::load_markers(*tokenizer), options);
    std::vector<Delta> deltas;
    for (const TokenId id : ids) {
      const engine::GeneratedToken token{.id = id, .top = {}};
      choice.push({&token, 1}, deltas);
    }
    choice.finish(chat::StopCause::kLength, deltas);
    std::string out;
    for (const Delta& delta : deltas) {
      out += "[" + delta.event.text + " " + std::to_string(delta.token_ids.size()) + "]";
    }
    return out;
  };
  TokenId word = 0;  // the first one of three letters
  while (!std::regex_match(std::string(tokenizer->bytes_of(word)), std::regex("[a-z]{3}"))) {
    ++word;
  }
  const std::string text(tokenizer->bytes_of(word));
  EXPECT_EQ(run({word, word}, {text.substr(1) + "!"}),
            "[" + text.substr(0, 1) + " 1][" + text.substr(1) + text + " 1][ 0]");
  const auto byte = [&](char c) {
    for (TokenId id = 0; id < 1000; ++id) {
      if (tokenizer->bytes_of(id) == std::string_view(&c, 1)) {
        return id;
      }
    }
    return TokenId{0};
  };
  EXPECT_EQ(run({byte('\xC3'), byte('\xC3')}, {}), "[\uFFFD\uFFFD 2][ 0]");
}

constexpr const char* kCall =
    "<|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|><|close|>call<|sep|>";

TEST(Choice, TextHeldBackForAStopStringComesBeforeTheCallThatFollows) {
  EXPECT_EQ(deltas_of("hel" + std::string(kCall), {"hello"}), "hel|call f|tool_calls");
}

// The length limit may fall inside what could have become a stop string: that text is the model's.
TEST(Choice, TextHeldBackForAStopStringIsDeliveredWhenTheAnswerIsCut) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  for (const std::string text : {"say hel", "say hell", "hel", "hhe"}) {
    for (const auto cause : {chat::StopCause::kLength, chat::StopCause::kStopToken}) {
      ChoiceOptions options;
      options.parser.initial = chat::Channel::kResponse;
      options.stop = {"hello"};
      options.logprobs = true;
      Choice choice(*tokenizer, chat::shapes::load_markers(*tokenizer), options);
      std::vector<Delta> deltas;
      const auto ids = chat::shapes::encode(*tokenizer, text);
      for (const TokenId id : ids) {
        const engine::GeneratedToken token{.id = id, .top = {}};
        choice.push({&token, 1}, deltas);
      }
      std::string before;
      for (const Delta& delta : deltas) {
        before += delta.event.text;
      }
      EXPECT_EQ(before, text.substr(0, text.rfind("he"))) << "held back while it may go on";
      choice.finish(cause, deltas);
      std::string streamed;
      std::size_t logprobs = 0;
      for (const Delta& delta : deltas) {
        streamed += delta.event.text;
        logprobs += delta.logprobs.size();
      }
      EXPECT_EQ(streamed, text);
      EXPECT_EQ(logprobs, ids.size());
      const auto whole = choice.completion(0);
      EXPECT_EQ(whole.message.content, text);
      EXPECT_EQ(whole.finish_reason, cause == chat::StopCause::kLength ? "length" : "stop");
    }
  }
}

TEST(Choice, NothingFollowsAStopString) {
  EXPECT_EQ(deltas_of("hello" + std::string(kCall), {"lo"}), "hel|stop");
}

// A model that goes on after its message would otherwise generate unseen tokens up to the limit.
TEST(Choice, TokenAfterTheMessageEndsTheAnswer) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  const auto markers = chat::shapes::load_markers(*tokenizer);
  const std::string message = "hi<|close|>response<|sep|><|close|>message<|sep|>";
  const std::size_t whole = chat::shapes::encode(*tokenizer, message).size();
  struct Case {
    std::string more;
    bool ends_with_message;
    bool finished;
    std::size_t tokens;  // counted after the message
  };
  for (const Case& c : {Case{"", true, false, 0}, Case{"<|end_of_msg|>", true, false, 1},
                        Case{"\n\n\n", true, true, 1}, Case{"<|open|>message", true, true, 1},
                        Case{"!!!", false, false, 3}}) {
    SCOPED_TRACE(c.more);
    ChoiceOptions options;
    options.parser.initial = chat::Channel::kResponse;
    options.ends_with_message = c.ends_with_message;
    Choice choice(*tokenizer, markers, options);
    std::vector<Delta> deltas;
    for (const TokenId id : chat::shapes::encode(*tokenizer, message + c.more)) {
      const engine::GeneratedToken token{.id = id, .top = {}};
      choice.push({&token, 1}, deltas);
    }
    EXPECT_EQ(choice.finished(), c.finished);
    EXPECT_EQ(choice.completion_tokens(), whole + c.tokens);
    choice.finish(chat::StopCause::kLength, deltas);
    EXPECT_EQ(choice.completion(0).finish_reason, c.ends_with_message ? "stop" : "length");
    EXPECT_EQ(choice.completion(0).message.content, "hi");
  }
}

// The deltas of an answer that starts in the think channel, one token at a time.
std::vector<Delta> deltas_of_ids(const tokenizer::Tokenizer& tokenizer, ChoiceOptions options,
                                 const std::string& text) {
  options.parser.initial = chat::Channel::kThink;
  options.random = random_bits;
  Choice choice(tokenizer, chat::shapes::load_markers(tokenizer), options);
  std::vector<Delta> deltas;
  for (const TokenId id : chat::shapes::encode(tokenizer, text)) {
    const engine::GeneratedToken token{.id = id, .top = {}};
    choice.push({&token, 1}, deltas);
  }
  choice.finish(chat::StopCause::kStopToken, deltas);
  return deltas;
}

TEST(Choice, VendorCallIdsCountOnAndRandomOnesDoNot) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  const std::string calls =
      "<|close|>think<|sep|><|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|><|close|>"
      "call<|sep|><|open|>call tool=\"g\" index=\"2\"<|sep|><|close|>call<|sep|>";
  const auto ids_of = [&](std::optional<std::uint64_t> first) {
    ChoiceOptions options;
    options.first_call_number = first;
    std::vector<std::string> ids;
    for (const Delta& delta : deltas_of_ids(*tokenizer, options, calls)) {
      if (!delta.tool_call_id.empty()) {
        ids.push_back(delta.tool_call_id);
      }
    }
    return ids;
  };
  EXPECT_EQ(ids_of(3), (std::vector<std::string>{"f_3", "g_4"}));
  const auto random = ids_of(std::nullopt);
  ASSERT_EQ(random.size(), 2U);
  EXPECT_TRUE(random[0].starts_with("call_") && random[0] != random[1]);
}

// Where the ids of markup go: to the delta that could be sent only after it.
TEST(Choice, IdsOfMarkupStandWithTheNextDelta) {
  const auto tokenizer = chat::shapes::load_tokenizer();
  std::string seen;
  for (const Delta& delta :
       deltas_of_ids(*tokenizer, {},
                     "a<|close|>think<|sep|><|open|>response<|sep|>b<|close|>response<|sep|>"
                     "<|close|>message<|sep|><|end_of_msg|>")) {
    for (const TokenId id : delta.token_ids) {
      seen += tokenizer->bytes_of(id);
    }
    seen += delta.finish_reason.empty() ? "|" : "";
  }
  EXPECT_EQ(seen,
            "a|<|close|>think<|sep|><|open|>response<|sep|>|b|<|close|>response<|sep|>"
            "<|close|>message<|sep|><|end_of_msg|>");
}

}  // namespace
}  // namespace daybreak::api
