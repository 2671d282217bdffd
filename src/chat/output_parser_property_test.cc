// SPDX-License-Identifier: Apache-2.0
// What holds for any output: how it is cut does not matter, and what is told is well-formed.

#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_tree.h"
#include "base/utf8.h"
#include "chat/output_parser.h"
#include "chat/output_shapes.h"

namespace daybreak::chat {
namespace {

using shapes::Outcome;

using Random = std::mt19937_64;

// Joins neighbouring text of one kind, as a client that adds deltas up does.
std::vector<OutputEvent> joined(const std::vector<OutputEvent>& events) {
  std::vector<OutputEvent> out;
  for (const OutputEvent& event : events) {
    const bool text = event.kind == OutputEvent::Kind::kReasoning ||
                      event.kind == OutputEvent::Kind::kContent ||
                      event.kind == OutputEvent::Kind::kToolArguments;
    if (text && !out.empty() && out.back().kind == event.kind && out.back().index == event.index) {
      out.back().text += event.text;
    } else {
      out.push_back(event);
    }
  }
  return out;
}

std::vector<std::size_t> random_chunks(Random& random, std::size_t total) {
  std::vector<std::size_t> chunks;
  for (std::size_t sum = 0; sum < total;) {
    chunks.push_back(random() % 5);
    sum += chunks.back();
  }
  return chunks;
}

void expect_same(const Outcome& got, const Outcome& whole) {
  EXPECT_EQ(got.message, whole.message);
  EXPECT_EQ(joined(got.events), joined(whole.events));
  EXPECT_EQ(got.finish_reason, whole.finish_reason);
  EXPECT_EQ(got.reasoning_tokens, whole.reasoning_tokens);
}

// Returns how many ways of cutting were compared with the whole.
std::size_t expect_cuts_do_not_matter(const tokenizer::Tokenizer& tokenizer,
                                      const std::vector<TokenId>& ids,
                                      const OutputParserOptions& options, StopCause stop,
                                      Random& random) {
  constexpr std::size_t kRandomCuts = 3;
  const Outcome whole = shapes::parse(tokenizer, ids, options, stop);
  expect_same(shapes::parse(tokenizer, ids, options, stop, std::vector<std::size_t>(ids.size(), 1)),
              whole);
  for (std::size_t i = 0; i < kRandomCuts; ++i) {
    expect_same(shapes::parse(tokenizer, ids, options, stop, random_chunks(random, ids.size())),
                whole);
  }
  return 1 + kRandomCuts;
}

// What a client relies on, whatever the model wrote.
void expect_well_formed(const Outcome& outcome) {
  std::size_t begun = 0;
  for (const OutputEvent& event : outcome.events) {
    EXPECT_TRUE(is_valid_utf8(event.text) && is_valid_utf8(event.name));
    switch (event.kind) {
      case OutputEvent::Kind::kReasoning:
      case OutputEvent::Kind::kContent:
        EXPECT_FALSE(event.text.empty());
        break;
      case OutputEvent::Kind::kToolCallBegin:
        EXPECT_EQ(event.index, begun++);
        EXPECT_FALSE(event.name.empty());
        break;
      case OutputEvent::Kind::kToolArguments:
        EXPECT_FALSE(event.text.empty());
        EXPECT_EQ(event.index + 1, begun) << "arguments of a call that is not the last";
        break;
      case OutputEvent::Kind::kToolCallEnd:
        EXPECT_EQ(event.index + 1, begun);
        break;
    }
  }
  for (const AssistantToolCall& call : outcome.message.tool_calls) {
    if (call.complete) {
      const auto tree = parse_json_tree(call.arguments, {.max_depth = 64});
      EXPECT_TRUE(tree && tree->is(JsonNode::Kind::kObject)) << call.arguments;
      EXPECT_TRUE(!tree || tree->duplicate == JsonNode::kNoDuplicate) << call.arguments;
    }
  }
}

class Generator {
 public:
  Generator(const tokenizer::Tokenizer& tokenizer, std::uint64_t seed)
      : tokenizer_(tokenizer), random_(seed) {}

  // A json block's text is passed through, JSON or not, so outputs without any are marked.
  struct Output {
    std::vector<TokenId> ids;
    bool json_blocks = false;
  };
  Output output() {
    ids_.clear();
    json_blocks_ = random_() % 4 == 0;
    for (std::size_t n = random_() % 24; n > 0; --n) {
      piece();
    }
    return {ids_, json_blocks_};
  }

  Random& random() { return random_; }

 private:
  template <std::size_t N>
  std::string_view pick(const std::array<std::string_view, N>& from) {
    return from[random_() % N];
  }

  void add(std::string_view text, bool special) {
    tokenizer_.encode(text, special ? tokenizer::AllowSpecial::kYes : tokenizer::AllowSpecial::kNo,
                      tokenizer::Slicing::kOn, ids_);
  }

  std::string_view header() {
    static constexpr std::array<std::string_view, 13> kHeaders = {
        "think",           "response",    "tools",         "message", "argument",
        "call tool=\"\"",  "call tool=f", "call tool=\"g", "call",    "message role=\"user\"",
        "call tool=\"f\"", "respon",      "json"};
    return kHeaders[random_() % (json_blocks_ ? kHeaders.size() : kHeaders.size() - 1)];
  }

  void marker(std::string_view kind, std::string_view text) {
    add(kind, true);
    add(text, false);
    add("<|sep|>", true);
  }

  void piece() {
    static constexpr std::array<std::string_view, 12> kTexts = {
        "a",       " the time",        "\n",           "1",    "[1, 2]", "\"", "\\",
        "{\"k\":", "\xF0\xA0\xAE\xB7", "\xE4\xBD\xA0", "true", ""};
    static constexpr std::array<std::string_view, 3> kArguments = {
        "argument key=\"a\" type=\"string\"", "argument key=\"b\" type=\"number\"",
        "argument key=\"c\" type=\"array\""};
    static constexpr std::array<std::string_view, 8> kMarkers = {
        "<|open|>", "<|close|>", "<|sep|>", "<|sep|>",
        "<|open|>", "[EOS]",     "[BOS]",   "<|media_pad|>"};
    const std::size_t kind = random_() % 20;
    if (kind < 3) {
      marker("<|open|>", "call tool=\"f\" index=\"1\"");
    } else if (kind < 6) {
      marker("<|open|>", pick(kArguments));
    } else if (kind < 9) {
      marker("<|open|>", header());
    } else if (kind < 12) {
      marker("<|close|>", header());
    } else if (kind < 17) {
      add(pick(kTexts), false);
    } else if (kind == 17) {
      add(pick(kMarkers), true);
    } else if (kind == 18) {
      add(header(), false);
    } else {
      ids_.push_back(static_cast<TokenId>(random_() % 256));  // any byte, in some order
    }
  }

  const tokenizer::Tokenizer& tokenizer_;
  Random random_;
  std::vector<TokenId> ids_;
  bool json_blocks_ = false;
};

TEST(OutputParserProperty, CutsOfEveryShapeDoNotMatter) {
  const auto tokenizer = shapes::load_tokenizer();
  Random random(1);
  const auto all = shapes::load_shapes();
  std::size_t cuts = 0;
  for (const shapes::Shape& shape : all) {
    SCOPED_TRACE(shape.name);
    const auto ids = shapes::encode(*tokenizer, shape.text);
    cuts += expect_cuts_do_not_matter(*tokenizer, ids, shape.options, shape.stop, random);
    const Outcome whole = shapes::parse(*tokenizer, ids, shape.options, shape.stop);
    for (std::size_t i = 0; i <= ids.size(); ++i, ++cuts) {  // and every cut in two
      expect_same(shapes::parse(*tokenizer, ids, shape.options, shape.stop, {i}), whole);
    }
    ASSERT_FALSE(HasFailure());
  }
  std::cout << "PROOF parser_cuts: " << all.size() << " shapes, " << cuts << " cuts, all equal\n";
}

TEST(OutputParserProperty, CutsOfMutatedShapesDoNotMatter) {
  const auto tokenizer = shapes::load_tokenizer();
  Random random(2);
  for (const shapes::Shape& shape : shapes::load_shapes()) {
    SCOPED_TRACE(shape.name);
    const auto original = shapes::encode(*tokenizer, shape.text);
    for (int round = 0; round < 30 && !original.empty(); ++round) {
      auto ids = original;
      const std::size_t at = random() % ids.size();
      switch (random() % 3) {
        case 0:
          ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        case 1:
          ids.insert(ids.begin() + static_cast<std::ptrdiff_t>(at), ids[random() % ids.size()]);
          break;
        default:
          std::swap(ids[at], ids[random() % ids.size()]);
      }
      expect_cuts_do_not_matter(*tokenizer, ids, shape.options, shape.stop, random);
    }
  }
}

TEST(OutputParserProperty, RandomOutputIsCutAlikeAndWellFormed) {
  const auto tokenizer = shapes::load_tokenizer();
  Generator generator(*tokenizer, 3);
  constexpr std::array kInitial = {Channel::kThink, Channel::kResponse, Channel::kNone};
  constexpr std::array kStops = {StopCause::kStopToken, StopCause::kStopString, StopCause::kLength,
                                 StopCause::kCancelled};
  std::size_t calls = 0;
  for (int round = 0; round < 4'000; ++round) {
    SCOPED_TRACE(round);
    const auto [ids, json_blocks] = generator.output();
    Random& random = generator.random();
    OutputParserOptions options;
    options.initial = kInitial[random() % kInitial.size()];
    options.tools_allowed = random() % 8 != 0;
    const StopCause stop = kStops[random() % kStops.size()];
    expect_cuts_do_not_matter(*tokenizer, ids, options, stop, random);
    const Outcome outcome = shapes::parse(*tokenizer, ids, options, stop);
    calls += outcome.message.tool_calls.size();
    if (!json_blocks) {
      expect_well_formed(outcome);
    }
    EXPECT_TRUE(options.tools_allowed || outcome.message.tool_calls.empty());
    ASSERT_FALSE(HasFailure()) << tokenizer->decode(ids);
  }
  EXPECT_GT(calls, 1'000U) << "the generator makes too few calls";
}

// Where a word of the output went: every one is unique, and none is the beginning of a header.
struct Words {
  const tokenizer::Tokenizer& tokenizer;
  std::vector<TokenId> ids = {};
  std::vector<std::string> all = {};

  void marker(std::string_view kind, const std::string& header, bool whole) {
    tokenizer.encode(kind, tokenizer::AllowSpecial::kYes, tokenizer::Slicing::kOn, ids);
    tokenizer.encode(header, tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOn, ids);
    if (whole) {
      tokenizer.encode("<|sep|>", tokenizer::AllowSpecial::kYes, tokenizer::Slicing::kOn, ids);
    }
  }
  void word() {
    all.push_back("q" + std::to_string(1'000'000 + all.size()) + "z");
    tokenizer.encode(all.back(), tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOn, ids);
  }
};

Words random_words(const tokenizer::Tokenizer& tokenizer, Random& random) {
  static constexpr std::array<std::string_view, 3> kChannels = {"think", "response", "tools"};
  Words out{.tokenizer = tokenizer};
  for (std::size_t n = 1 + random() % 20; n > 0; --n) {
    const std::string channel(kChannels[random() % kChannels.size()]);
    switch (random() % 12) {
      case 0:
      case 1:
        out.marker("<|open|>", channel, true);
        break;
      case 2:
      case 3:
        out.marker("<|close|>", channel, true);
        break;
      case 4:  // the model forgets `sep` and goes on with a word of its own
        out.marker(random() % 2 == 0 ? "<|open|>" : "<|close|>", channel + " ", false);
        out.word();
        break;
      case 5:
        out.marker(random() % 2 == 0 ? "<|open|>" : "<|close|>", "", false);
        break;
      case 6:
        out.marker("<|open|>", "call tool=\"f\" index=\"1\"", true);
        break;
      case 7:
        out.marker("<|open|>", "argument key=\"k" + std::to_string(n) + "\" type=\"string\"", true);
        break;
      case 8:
        out.marker("<|close|>", random() % 2 == 0 ? "call" : "argument", true);
        break;
      default:
        out.word();
    }
  }
  return out;
}

TEST(OutputParserProperty, NoTextIsLostAndNoMarkerIsShown) {
  const auto tokenizer = shapes::load_tokenizer();
  Random random(5);
  constexpr std::array kInitial = {Channel::kThink, Channel::kResponse, Channel::kNone};
  constexpr std::array kStops = {StopCause::kStopToken, StopCause::kLength};
  std::size_t kept = 0;
  for (int round = 0; round < 20'000; ++round) {
    const Words words = random_words(*tokenizer, random);
    const Outcome got =
        shapes::parse(*tokenizer, words.ids, {.initial = kInitial[random() % kInitial.size()]},
                      kStops[random() % kStops.size()]);
    std::string shown = got.message.reasoning_content + " " + got.message.content;
    for (const AssistantToolCall& call : got.message.tool_calls) {
      shown += " " + call.name + call.arguments;
    }
    EXPECT_EQ(shown.find("<|"), std::string::npos) << shown;
    std::size_t missing = 0;
    for (const std::string& word : words.all) {
      missing += shown.find(word) == std::string::npos ? word.size() : 0;
    }
    kept += words.all.size();
    // What stands outside every channel is dropped, and counted.
    EXPECT_LE(missing, got.drops.text_bytes) << tokenizer->decode(words.ids) << "\n"
                                             << shapes::show(got.message);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(kept, 50'000U);
}

TEST(OutputParserProperty, WhereThereWasTextTheReplyIsNotEmpty) {
  const auto tokenizer = shapes::load_tokenizer();
  static constexpr std::array<std::string_view, 10> kPieces = {"<|open|>think<|sep|>",
                                                               "<|close|>think<|sep|>",
                                                               "<|open|>response<|sep|>",
                                                               "<|close|>response<|sep|>",
                                                               "<|open|>tools<|sep|>",
                                                               "<|close|>tools<|sep|>",
                                                               "text",
                                                               "<|sep|>",
                                                               "<|close|>call<|sep|>",
                                                               "<|close|>argument<|sep|>"};
  Random random(4);
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    for (std::size_t n = random() % 8; n > 0; --n) {
      text += kPieces[random() % kPieces.size()];
    }
    const Outcome got =
        shapes::parse(*tokenizer, shapes::encode(*tokenizer, text), {}, StopCause::kStopToken);
    EXPECT_EQ(got.message == AssistantMessage{}, text.find("text") == std::string::npos) << text;
  }
}

}  // namespace
}  // namespace daybreak::chat
