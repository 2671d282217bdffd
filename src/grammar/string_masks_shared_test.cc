// SPDX-License-Identifier: Apache-2.0
// Masks over the real K3 vocabulary against stepping through every token.

#include <gtest/gtest.h>

#include "base/rng.h"
#include "grammar/regex.h"
#include "grammar/string_masks.h"
#include "grammar/vocabulary_index.h"
#include "testing/paths.h"

namespace daybreak::grammar {
namespace {

constexpr std::size_t kVocabSize = 163840;

class K3StringMasks : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto path = daybreak::testing::shared_path("tokenizer/kimi-k3");
    DAYBREAK_SHARED_OR_SKIP(path);
    auto tokenizer = tokenizer::Tokenizer::load(path);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    index = VocabularyIndex::make(**tokenizer, kVocabSize);
  }

  // Compares every id, and returns one that stays inside, or kNoToken.
  TokenId check(const std::shared_ptr<const StringLanguage>& language, StringCoding coding,
                const StringState& state, Rng& rng) const {
    const auto mask = index->strings().find(language, coding, state);
    std::vector<std::uint8_t> got(kVocabSize);
    for (const TokenId id : mask->list) {
      got[id] = 1;
    }
    for (TokenId id = 0; mask->row && id < kVocabSize; ++id) {
      got[id] |= (*mask->row)[id / 32] >> (id % 32) & 1;
    }
    std::vector<std::uint64_t> exit_of(kVocabSize);  // length of the rest and state, 1-based
    const auto exit_value = [](std::size_t rest, Dfa::State at) { return rest << 32 | (at + 1); };
    std::vector<std::size_t> rest_length(index->strings().rests().nodes());
    fill_depths(rest_length);
    for (const StringExit& exit : mask->exits) {
      for (const TokenId id : exit.ids) {
        exit_of[id] = exit_value(rest_length[exit.rest], exit.state);
      }
    }
    std::vector<TokenId> inside;
    std::size_t wrong = 0;
    for (TokenId id = 0; id < kVocabSize; ++id) {
      const std::string_view token = index->token(id);
      StringState at = state;
      StringStep stepped = StringStep::kInside;
      std::size_t taken = 0;
      while (taken < token.size() && stepped == StringStep::kInside) {
        stepped = step(*language, coding, at, static_cast<std::uint8_t>(token[taken++]));
      }
      const bool in = !token.empty() && stepped == StringStep::kInside;
      const bool closed = stepped == StringStep::kClosed;
      wrong += (got[id] != 0) != in;
      wrong += exit_of[id] != (closed ? exit_value(token.size() - taken, at.state) : 0);
      if (in) {
        inside.push_back(id);
      }
    }
    EXPECT_EQ(wrong, 0U) << "state " << state.state << " chars " << state.chars << " phase "
                         << static_cast<int>(state.phase) << " partial " << state.partial;
    return inside.empty() ? TokenTrie::kNoToken
                          : inside[rng.below(static_cast<std::uint32_t>(inside.size()))];
  }

  void fill_depths(std::vector<std::size_t>& depths) const {
    const TokenTrie& rests = index->strings().rests();
    for (TokenTrie::Node node = 0; node < rests.nodes(); ++node) {
      for (TokenTrie::Node child = node + 1; child < rests.end(node); child = rests.end(child)) {
        depths[child] = depths[node] + 1;
      }
    }
  }

  std::shared_ptr<const VocabularyIndex> index;
};

TEST_F(K3StringMasks, EqualSteppingThroughEveryToken) {
  struct Case {
    const char* pattern;
    std::uint32_t least = 0;
    std::uint32_t most = kNoMaxChars;
  };
  const Case cases[] = {
      {""},
      {"", 5, 20},
      {"^[a-z0-9-]{1,20}$"},
      {"^[ -~]*$", 2},
      {"^.{1,30}$"},
      {"^\\S+ \\S+$"},
      {"^[\\u4e00-\\u9fa5]{2,10}$"},
      {"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+$"},
      {"^https?://[^\\s/?#]+(/[^\\s?#]*)?$", 0, 60},
      {"^(red|green|light green|\"quoted\"|\\n)$"},
      {"^(?!(name|age|address)$)"},
      {"^[a-z ]+$", 3, 12},
  };
  Rng rng(5);
  for (const Case& c : cases) {
    Budget budget(10'000'000);
    auto dfa = compile_regex(c.pattern, RegexMatch::kSearch, budget);
    ASSERT_TRUE(dfa) << c.pattern << dfa.error().message;
    const auto language = *StringLanguage::make(std::make_shared<const Dfa>(*std::move(dfa)),
                                                c.least, c.most, budget);
    SCOPED_TRACE(c.pattern);
    for (const StringCoding coding : {StringCoding::kJson, StringCoding::kRaw}) {
      StringState state;
      for (int tokens = 0; tokens < 4; ++tokens) {
        const TokenId id = check(language, coding, state, rng);
        if (id == TokenTrie::kNoToken) {
          break;
        }
        // Often not the whole token: then the next state may lie within a code point.
        const std::string_view bytes = index->token(id);
        for (std::size_t at = 0; at < bytes.size() && (at == 0 || rng.below(4) != 0); ++at) {
          ASSERT_EQ(step(*language, coding, state, static_cast<std::uint8_t>(bytes[at])),
                    StringStep::kInside);
        }
      }
    }
  }
}

TEST_F(K3StringMasks, WithinEscapesOfAnyText) {
  const auto any = StringLanguage::all();
  Rng rng(6);
  for (const char* text :
       {"\\",         "\\u",          "\\u0",         "\\ud",          "\\ud8",
        "\\ud83",     "\\u12",        "\\u123",       "\\ud83d",       "\\ud83d\\",
        "\\ud83d\\u", "\\ud83d\\ud",  "\\ud83d\\ude", "\\ud83d\\ude0", "\xC3",
        "\xE0",       "\xED",         "\xE4",         "\xE4\xB8",      "\xF0",
        "\xF0\x9F",   "\xF0\x9F\x98", "\xF1",         "\xF4",          "\xF4\x8F"}) {
    StringState state;
    for (const char byte : std::string_view(text)) {
      ASSERT_EQ(step(*any, StringCoding::kJson, state, static_cast<std::uint8_t>(byte)),
                StringStep::kInside);
    }
    (void)check(any, StringCoding::kJson, state, rng);
  }
}

TEST_F(K3StringMasks, HoldOrdinaryTokensOnly) {
  std::size_t ordinary = 0;
  for (TokenId id = 0; id < index->words() * 32; ++id) {
    const bool bit = (index->ordinary()[id / 32] >> (id % 32) & 1) != 0;
    EXPECT_EQ(bit, !index->token(id).empty());
    ordinary += bit;
  }
  EXPECT_EQ(ordinary, 163584U);
}

}  // namespace
}  // namespace daybreak::grammar
