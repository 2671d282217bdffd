// SPDX-License-Identifier: Apache-2.0
// Lexer and masks against the definition, on random languages and a vocabulary of short tokens that
// cut escapes and sequences everywhere.

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "base/rng.h"
#include "grammar/dfa_builder.h"
#include "grammar/string_masks.h"
#include "grammar/string_oracle.h"

namespace daybreak::grammar {
namespace {

constexpr std::string_view kAlphabet("ab\"\\u0d8cDA \n/\xC3\xA9\xF0\x9F", 18);

std::vector<std::string> short_tokens() {
  std::vector<std::string> tokens;
  std::vector<std::string> last{""};
  for (int length = 1; length <= 2; ++length) {
    std::vector<std::string> next;
    for (const std::string& token : last) {
      for (const char c : kAlphabet) {
        next.push_back(token + c);
      }
    }
    tokens.insert(tokens.end(), next.begin(), next.end());
    last = std::move(next);
  }
  Rng rng(3);
  const std::string_view kPlain = "abdcAD08 ";
  for (int i = 0; i < 2200; ++i) {
    const std::string_view set = i % 3 == 0 ? kAlphabet : i % 3 == 1 ? kPlain : kPlain.substr(0, 4);
    std::string token;
    for (std::uint32_t left = 3 + rng.below(7); left > 0; --left) {
      token += set[rng.below(static_cast<std::uint32_t>(set.size()))];
    }
    tokens.push_back(token);
  }
  for (const char* text : {"\\ud83d\\ude00", "\\u0022", "\\\"\"", "\xF0\x9F\x98\x80", "\\\\\",",
                           "\\ud8", "\\u0061", "\",\"a\":", "\":", "a\"}"}) {
    tokens.push_back(text);
  }
  return tokens;
}

// Cuts between which a language takes all or nothing; see StringOracle::representatives().
std::uint32_t random_cut(Rng& rng) {
  constexpr std::uint32_t kCuts[] = {0,    0x20,  'a',    'z' + 1, '0',     '9' + 1, 'A',
                                     0x80, 0x800, 0xE000, 0x10000, 0x1F000, 0x20000, 0x110000};
  return rng.below(3) == 0 ? static_cast<std::uint8_t>(kAlphabet[rng.below(18)])
                           : kCuts[rng.below(std::size(kCuts))];
}

std::shared_ptr<const StringLanguage> random_language(Rng& rng) {
  for (;;) {
    DfaBuilder builder;
    const std::uint32_t states = 1 + rng.below(5);
    for (std::uint32_t i = 0; i < states; ++i) {
      builder.add_state(rng.below(3) == 0);
    }
    for (std::uint32_t i = 0; i < states; ++i) {
      std::set<std::uint32_t> cuts;
      if (rng.below(2) == 0) {
        cuts = {0, 0x110000};
      }
      for (std::uint32_t left = rng.below(7); left > 0; --left) {
        const std::uint32_t cut = random_cut(rng);
        cuts.insert(cut);
        if (rng.below(2) == 0 && cut < 0x7F) {
          cuts.insert(cut + 1);
        }
      }
      for (auto at = cuts.begin(); at != cuts.end() && std::next(at) != cuts.end(); ++at) {
        if (rng.below(5) != 0) {
          builder.add_edge(i, *at, *std::next(at) - 1, rng.below(states));
        }
      }
    }
    Budget budget(1'000'000);
    auto dfa = rng.below(6) == 0 ? Result<Dfa>(Dfa::all()) : std::move(builder).build(0, budget);
    if (!dfa || dfa->empty()) {
      continue;
    }
    const std::uint32_t least = rng.below(3) == 0 ? rng.below(6) : 0;
    const std::uint32_t most = rng.below(3) == 0 ? least + rng.below(12) : kNoMaxChars;
    auto made =
        StringLanguage::make(std::make_shared<const Dfa>(*std::move(dfa)), least, most, budget);
    if (made && *made) {
      return *std::move(made);
    }
  }
}

// Takes bytes as long as the oracle says inside, comparing every step. Returns the text.
std::string random_text(Rng& rng, const StringLanguage& language, const StringOracle& oracle,
                        StringCoding coding, StringState& state) {
  std::string text;
  for (std::uint32_t tries = rng.below(12); tries > 0; --tries) {
    const char byte = kAlphabet[rng.below(18)];
    StringState next = state;
    const StringStep stepped = step(language, coding, next, static_cast<std::uint8_t>(byte));
    const auto expected = oracle.classify(coding, text + byte);
    EXPECT_EQ(stepped, expected.kind) << ::testing::PrintToString(text + byte);
    if (stepped == StringStep::kInside) {
      state = next;
      text += byte;
    } else if (stepped == StringStep::kClosed) {
      EXPECT_EQ(state, next);
      EXPECT_EQ(state.state, expected.state);
    }
  }
  return text;
}

std::string path_of(const TokenTrie& trie, TokenTrie::Node node) {
  std::string path;
  for (TokenTrie::Node at = TokenTrie::kRoot; at != node;) {
    TokenTrie::Node child = at + 1;
    while (trie.end(child) <= node) {
      child = trie.end(child);
    }
    path += static_cast<char>(trie.byte(child));
    at = child;
  }
  return path;
}

using Exit = std::tuple<TokenId, std::string, Dfa::State>;

void expect_mask(const StringMask& mask, const StringMasks& masks,
                 std::span<const std::string> tokens, const StringOracle& oracle,
                 StringCoding coding, const std::string& text) {
  std::set<TokenId> inside(mask.list.begin(), mask.list.end());
  EXPECT_TRUE(mask.list.empty() || mask.row == nullptr);
  if (mask.row) {
    for (TokenId id = 0; id < mask.row->size() * 32; ++id) {
      if (((*mask.row)[id / 32] >> (id % 32) & 1) != 0) {
        inside.insert(id);
      }
    }
  }
  std::set<Exit> exits;
  TokenTrie::Node last = TokenTrie::kRoot;
  for (const StringExit& exit : mask.exits) {
    EXPECT_LE(last, exit.rest);
    last = exit.rest;
    for (const TokenId id : exit.ids) {
      EXPECT_TRUE(exits.emplace(id, path_of(masks.rests(), exit.rest), exit.state).second);
    }
  }
  std::set<TokenId> expected_inside;
  std::set<Exit> expected_exits;
  for (TokenId id = 0; id < tokens.size(); ++id) {
    const std::string whole = text + tokens[id];
    const auto answer = oracle.classify(coding, whole);
    if (answer.kind == StringStep::kInside) {
      expected_inside.insert(id);
    } else if (answer.kind == StringStep::kClosed) {
      expected_exits.emplace(id, std::string(answer.rest), answer.state);
    }
  }
  std::vector<std::string> wrong;
  for (TokenId id = 0; id < tokens.size(); ++id) {
    if (inside.contains(id) != expected_inside.contains(id)) {
      wrong.push_back(tokens[id]);
    }
  }
  EXPECT_EQ(wrong, std::vector<std::string>{}) << ::testing::PrintToString(text);
  EXPECT_EQ(inside.size(), expected_inside.size());  // no id without a token
  EXPECT_EQ(exits, expected_exits) << ::testing::PrintToString(text);
}

TEST(StringMasks, EqualTheDefinition) {
  const std::vector<std::string> tokens = short_tokens();
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  const TokenTrie trie(views);
  StringMasks masks(trie, (tokens.size() + 31) / 32, std::size_t{1} << 20);
  Rng rng(11);
  for (int round = 0; round < 60 && !::testing::Test::HasFailure(); ++round) {
    const auto language = random_language(rng);
    const StringOracle oracle(*language);
    for (int texts = 0; texts < 4; ++texts) {
      const StringCoding coding = rng.below(3) == 0 ? StringCoding::kRaw : StringCoding::kJson;
      StringState state;
      const std::string text = random_text(rng, *language, oracle, coding, state);
      const auto mask = masks.find(language, coding, state);
      expect_mask(*mask, masks, tokens, oracle, coding, text);
    }
  }
  EXPECT_GT(masks.stats().entries, 0U);
}

TEST(StringLexer, EqualsTheDefinition) {
  Rng rng(12);
  for (int round = 0; round < 300 && !::testing::Test::HasFailure(); ++round) {
    const auto language = random_language(rng);
    const StringOracle oracle(*language);
    for (int texts = 0; texts < 10; ++texts) {
      StringState state;
      (void)random_text(rng, *language, oracle,
                        rng.below(3) == 0 ? StringCoding::kRaw : StringCoding::kJson, state);
    }
  }
}

}  // namespace
}  // namespace daybreak::grammar
