// SPDX-License-Identifier: Apache-2.0
// Sources that want anything but a short answer walk the masks: what they have written can always
// be completed, and what they end is an instance, compact and well-formed.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_tree.h"
#include "base/rng.h"
#include "grammar/message_rules.h"
#include "grammar/random_schema.h"
#include "grammar/random_text.h"
#include "grammar/test_tokens.h"
#include "grammar/validator.h"
#include "testing/paths.h"

namespace daybreak::grammar {
namespace {

enum class Wish : std::uint8_t { kWhitespace, kLongest, kNeverClose, kBroken, kRandom };
constexpr std::array kWishes{Wish::kWhitespace, Wish::kLongest, Wish::kNeverClose, Wish::kBroken,
                             Wish::kRandom};

// How much a source likes a token.
int liking(Wish wish, std::string_view text, Rng& rng) {
  const auto has = [&](std::string_view any) {
    return text.find_first_of(any) != std::string_view::npos;
  };
  switch (wish) {
    case Wish::kWhitespace:
      return static_cast<int>(
          std::ranges::count_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\t'; }));
    case Wish::kLongest:
      return static_cast<int>(text.size());
    case Wish::kNeverClose:
      return has("\"}]") ? 0 : 1;
    case Wish::kBroken:  // escapes and halves of characters
      return has("\\\xC3\xA9\xF0\x9F\x98\x80") || text.starts_with("d83d") ? 1 : 0;
    case Wish::kRandom:
      return static_cast<int>(rng.below(2));
  }
  return 0;
}

// How much one who is in a hurry likes it. Brackets within a string are text, so quotes and
// brackets take turns.
int closing(int step, bool stop, std::string_view text) {
  if (stop) {
    return 5;
  }
  if (text.find('\\') != std::string_view::npos) {
    return 0;
  }
  if (text.find_first_not_of("}]") == std::string_view::npos) {
    return step % 2 == 0 ? 4 : 3;
  }
  return text == "\"" ? (step % 2 == 0 ? 3 : 4) : 1;
}

struct Walk {
  std::string text;
  bool ended = false;
};

constexpr int kPatience = 30;
constexpr int kSteps = 220;

// Follows the masks for at most kSteps ids; after kPatience of them the source gives in and takes
// what closes something.
Walk walk(const std::shared_ptr<const Grammar>& grammar, Wish wish, Rng& rng) {
  const TestTokens& tokens = test_tokens();
  const std::array<TokenId, 1> stop{tokens.eos};
  Matcher matcher(grammar, tokens.index, stop);
  Walk walked;
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<TokenId> allowed = mask_ids(matcher.mask());
    if (allowed.empty()) {
      ADD_FAILURE() << "nothing may follow " << walked.text;
      return walked;
    }
    std::vector<TokenId> best;
    int most = -1;
    for (const TokenId id : allowed) {
      const std::string_view text = tokens.bytes(id);
      const int likes = step > kPatience   ? closing(step, id == tokens.eos, text)
                        : id == tokens.eos ? 0
                                           : liking(wish, text, rng);
      if (likes > most) {
        best.clear();
        most = likes;
      }
      if (likes == most) {
        best.push_back(id);
      }
    }
    const TokenId id = pick(rng, best);
    EXPECT_TRUE(matcher.accept(id)) << walked.text << " id " << id;
    if (id == tokens.eos) {
      walked.ended = true;
      return walked;
    }
    walked.text += tokens.bytes(id);
  }
  return walked;
}

// Returns the text without its strings' contents.
std::string outside_strings(std::string_view text) {
  std::string out;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (inside && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      inside = !inside;
      out += '"';
    } else if (!inside) {
      out += text[i];
    }
  }
  return out;
}

bool has_lone_surrogate(std::string_view text) {
  bool high = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::uint32_t unit = 0;
    if (text[i] == '\\' && text[i + 1] == 'u') {
      unit =
          static_cast<std::uint32_t>(std::stoul(std::string(text.substr(i + 2, 4)), nullptr, 16));
      i += 5;
    } else if (text[i] == '\\') {
      ++i;
    }
    const bool low = unit >= 0xDC00 && unit <= 0xDFFF;
    if (high != low) {
      return true;
    }
    high = unit >= 0xD800 && unit <= 0xDBFF;
  }
  return high;
}

// Spaces only after , and : and one at a time.
bool has_odd_whitespace(std::string_view text, JsonSpaces spaces) {
  const std::string outside = outside_strings(text);
  for (std::size_t i = 0; i < outside.size(); ++i) {
    if (std::isspace(static_cast<unsigned char>(outside[i])) != 0 &&
        (outside[i] != ' ' || spaces == JsonSpaces::kNone || i == 0 ||
         (outside[i - 1] != ',' && outside[i - 1] != ':'))) {
      return true;
    }
  }
  return false;
}

class Adversarial : public ::testing::Test {
 protected:
  // Returns whether the schema compiled.
  bool attack(const std::string& schema, Rng& rng) {
    SCOPED_TRACE(schema);
    for (const JsonSpaces spaces : {JsonSpaces::kNone, JsonSpaces::kOptional}) {
      const auto grammar = compile_schema(schema, {.spaces = spaces, .integers = Integers::kPlain});
      if (!grammar) {
        return false;
      }
      for (const Wish wish : kWishes) {
        const Walk walked = walk(*grammar, wish, rng);
        ++walks_;
        if (walked.ended) {
          ++ended_;
          check(schema, walked.text, spaces);
        }
        if (HasFailure()) {
          return true;
        }
      }
    }
    return true;
  }

  void check(const std::string& schema, const std::string& text, JsonSpaces spaces) {
    const auto tree = parse_json_tree(text);
    ASSERT_TRUE(tree) << text << ": " << tree.error().message;
    EXPECT_FALSE(has_lone_surrogate(text)) << text;
    EXPECT_FALSE(has_odd_whitespace(text, spaces)) << text;
    auto document = SchemaDocument::parse(schema);
    ASSERT_TRUE(document);
    const auto validator = Validator::create(*std::move(document));
    if (!validator) {
      return;
    }
    const auto result = validator->validate(*tree, {.formats = Formats::kAssert});
    if (result) {
      ++judged_;
      EXPECT_TRUE(result->valid()) << text << ": " << result->errors.front().message;
    }
  }

  std::size_t walks_ = 0;
  std::size_t ended_ = 0;
  std::size_t judged_ = 0;
};

TEST_F(Adversarial, RandomSchemas) {
  std::size_t compiled = 0;
  for (std::uint64_t seed = 0; seed < 120 && !HasFailure(); ++seed) {
    Rng rng(seed + 77);
    compiled += attack(random_schema(rng, {.max_depth = 3}), rng) ? 1 : 0;
  }
  EXPECT_GT(compiled, 60U);
  EXPECT_GT(ended_, walks_ / 2);
  EXPECT_GT(judged_, ended_ / 2);
}

TEST_F(Adversarial, ToolsOfTheCorpus) {
  std::istringstream lines(
      testing::read_file(testing::source_path("testdata/grammar/tools.jsonl")));
  Rng rng(4);
  std::size_t tools = 0;
  for (std::string line; std::getline(lines, line) && !HasFailure(); ++tools) {
    const auto entry = parse_json_tree(line);
    ASSERT_TRUE(entry);
    EXPECT_TRUE(attack(entry->find("schema")->text, rng));
  }
  EXPECT_EQ(tools, 120U);
  EXPECT_GT(ended_, walks_ / 3);  // names are spelled byte by byte: some run out of steps
  EXPECT_EQ(judged_, ended_);
}

TEST(AdversarialChecks, SeeWhatTheyLookFor) {
  EXPECT_TRUE(has_lone_surrogate(R"("\ud83d")"));
  EXPECT_TRUE(has_lone_surrogate(R"("\ude00")"));
  EXPECT_TRUE(has_lone_surrogate(R"("\ud83dx\ude00")"));
  EXPECT_FALSE(has_lone_surrogate(R"("\ud83d\ude00\\ud83d")"));
  EXPECT_TRUE(has_odd_whitespace(R"({"a" :1})", JsonSpaces::kOptional));
  EXPECT_TRUE(has_odd_whitespace(R"({"a":  1})", JsonSpaces::kOptional));
  EXPECT_TRUE(has_odd_whitespace("[1,\n2]", JsonSpaces::kOptional));
  EXPECT_TRUE(has_odd_whitespace("[1, 2]", JsonSpaces::kNone));
  EXPECT_FALSE(has_odd_whitespace(R"(["a  \" b", 2])", JsonSpaces::kOptional));
}

}  // namespace
}  // namespace daybreak::grammar
