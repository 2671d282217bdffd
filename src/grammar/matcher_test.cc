// SPDX-License-Identifier: Apache-2.0
// The matcher over a small vocabulary whose tokens cross every border there is: the mask against
// accept(), id by id, and what rollback, stop ids and jump-forward promise.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "grammar/grammar.h"
#include "grammar/message_rules.h"
#include "grammar/test_matcher.h"

namespace daybreak::grammar {
namespace {

Matcher schema_matcher(std::string_view schema, const SchemaGrammarOptions& options = {}) {
  auto grammar = compile_schema(schema, options);
  EXPECT_TRUE(grammar) << schema << ": " << (grammar ? "" : grammar.error().message);
  return matcher_of(*grammar);
}

void read(Matcher& matcher, std::string_view text) {
  for (const TokenId id : test_tokens().ids(text)) {
    ASSERT_TRUE(matcher.accept(id)) << text << ": " << test_tokens().bytes(id);
  }
}

// Holds every id's bit to accept(), and the mask after all of that to the mask before.
void expect_mask_is_accept(Matcher& matcher, std::string_view schema, std::string_view so_far) {
  const TestTokens& tokens = test_tokens();
  const Row mask = copy(matcher.mask());
  const std::size_t accepted = matcher.accepted();
  std::string wrong;
  for (TokenId id = 0; id < tokens.size(); ++id) {
    const bool taken = matcher.accept(id);
    if (taken) {
      matcher.rollback(1);
    }
    if (taken != mask_has(mask, id)) {
      wrong += "\n  id " + std::to_string(id) + " '" + std::string(tokens.bytes(id)) + "' is " +
               (taken ? "accepted" : "refused");
    }
  }
  ASSERT_EQ(wrong, "") << "against the mask after '" << so_far << "' of " << schema;
  ASSERT_EQ(matcher.accepted(), accepted);
  ASSERT_EQ(copy(matcher.mask()), mask) << so_far << " of " << schema;
}

constexpr std::array<std::string_view, 40> kSchemas = {
    "true",
    R"({"type":"object"})",
    R"({"type":"string","maxLength":3})",
    R"({"type":"string","pattern":"^a[a-c]*$","minLength":2})",
    R"({"enum":["a","ab","abc","a\"b","\u00e9","\ud83d\ude00",1,-1,12,null,true,[1,"a"],{"a":1}]})",
    R"({"type":"integer","minimum":-12,"maximum":123})",
    R"({"type":"number","minimum":0.5,"exclusiveMaximum":1.5})",
    R"({"type":"number","multipleOf":0.5})",
    R"({"type":["boolean","null"]})",
    R"({"properties":{"a":{"type":"integer"},"ab":{"type":"string"}},"required":["ab"],
        "additionalProperties":false})",
    R"({"properties":{"a":false,"b":{"const":1}},"type":"object"})",
    R"({"properties":{"a":false,"b":{"type":"string"}},"type":"object","required":["b"],
        "maxProperties":2})",
    R"({"type":"object","additionalProperties":{"enum":[1,2]},"minProperties":2,
        "maxProperties":3})",
    R"({"type":"object","properties":{"a":{"const":1}},"maxProperties":1})",
    R"({"type":"object","propertyNames":{"pattern":"^[ab]$"},"additionalProperties":{"const":1}})",
    R"({"type":"object","propertyNames":{"pattern":"^[ab]{1,7}$"},
        "additionalProperties":{"const":1}})",
    R"({"type":"object","patternProperties":{"^a":{"const":1},"b$":{"type":"integer"}},
        "additionalProperties":false})",
    R"({"type":"object","patternProperties":{"^a":false},"additionalProperties":{"const":1}})",
    R"({"type":"object","propertyNames":{"maxLength":1},"additionalProperties":{"const":1}})",
    R"({"type":"object","propertyNames":{"minLength":2},"additionalProperties":{"const":1}})",
    R"({"dependentRequired":{"a":["b"]},"type":"object","additionalProperties":{"const":1}})",
    R"({"dependentSchemas":{"a":{"properties":{"b":{"const":1}}}},"type":"object",
        "additionalProperties":{"type":"integer"}})",
    R"({"anyOf":[{"type":"object","properties":{"a":{"const":"a"},"b":{"type":"integer"}},
        "required":["a","b"]},{"type":"object","properties":{"a":{"const":"b"}},
        "required":["a"],"additionalProperties":false}]})",
    R"({"not":{"type":"object","properties":{"a":{"const":1}}},"type":"object"})",
    R"({"type":"array","items":{"enum":["a","b","ab"]},"uniqueItems":true})",
    R"({"type":"array","items":{"type":"string"},"uniqueItems":true,"maxItems":4})",
    R"({"type":"array","items":{"type":"string","maxLength":1,"pattern":"^[ab]?$"},
        "uniqueItems":true,"minItems":2})",
    R"({"type":"array","items":{"type":"integer","minimum":0,"maximum":12},"uniqueItems":true})",
    R"({"type":"array","items":{"enum":[1,"a",null,true,false]},"uniqueItems":true})",
    R"({"type":"array","items":{"type":"number"},"uniqueItems":true,"maxItems":3})",
    R"({"type":"array","contains":{"const":1},"minContains":2,"maxContains":2,
        "items":{"type":"integer"},"maxItems":4})",
    R"({"type":"array","prefixItems":[{"const":"a"},{"type":"integer"}],"items":{"type":"null"},
        "minItems":1})",
    R"({"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"}},
        "additionalProperties":false},"maxItems":3})",
    R"({"type":"array","items":{"type":"array","items":{"const":1}}})",
    R"({"properties":{"a":{"$ref":"#"}},"additionalProperties":false,"type":"object"})",
    R"({"type":"object","properties":{"a":{"type":"array","items":{"enum":["a","b"]},
        "uniqueItems":true}},"required":["a"],"additionalProperties":{"const":1}})",
    R"({"type":"object","unevaluatedProperties":{"const":1},"properties":{"a":{"type":"integer"}},
        "allOf":[{"properties":{"b":{"type":"string"}}}]})",
    R"({"oneOf":[{"type":"integer"},{"type":"number","minimum":10},{"const":"a"}]})",
    R"({"type":"object","minProperties":1,"properties":{"a":{"type":"integer"},
        "b":{"type":"integer"}},"additionalProperties":false})",
    R"({"type":"object","properties":{"":{"const":1},"a\"":{"const":1},"\u00e9":{"const":1},
        "\ud83d\ude00":{"const":1}},"additionalProperties":false})",
};

// Returns a random allowed id, more often a long one or one that closes something.
TokenId next_id(Matcher& matcher, bool hurry, Rng& rng) {
  const TestTokens& tokens = test_tokens();
  const std::vector<TokenId> allowed = mask_ids(matcher.mask());
  std::vector<TokenId> liked;
  for (const TokenId id : allowed) {
    const std::string_view text = tokens.bytes(id);
    if (id == tokens.eos || (hurry ? text.find_first_of("\"}]") != std::string_view::npos
                                   : text.size() > 1 || text.find_first_of("ab1\"") == 0)) {
      liked.push_back(id);
    }
  }
  const auto& from = !liked.empty() && rng.below(100) < 85 ? liked : allowed;
  return from.empty() ? TokenTrie::kNoToken
                      : from[rng.below(static_cast<std::uint32_t>(from.size()))];
}

class MaskIsAccept : public ::testing::TestWithParam<SchemaGrammarOptions> {};

TEST_P(MaskIsAccept, InEveryStateOfRandomWalks) {
  const TestTokens& tokens = test_tokens();
  Rng rng(7);
  std::size_t ended = 0;
  std::size_t states = 0;
  for (const std::string_view schema : kSchemas) {
    for (int walk = 0; walk < 8; ++walk) {
      Matcher matcher = schema_matcher(schema, GetParam());
      std::string text;
      for (int step = 0; step < 40; ++step) {
        expect_mask_is_accept(matcher, schema, text);
        if (HasFatalFailure()) {
          break;
        }
        ++states;
        const TokenId id = next_id(matcher, step > 12, rng);
        ASSERT_NE(id, TokenTrie::kNoToken) << "nothing may follow '" << text << "' of " << schema;
        if (id == tokens.eos) {
          ++ended;
          break;
        }
        ASSERT_TRUE(matcher.accept(id));
        text += tokens.bytes(id);
      }
    }
  }
  EXPECT_GT(ended, kSchemas.size());
  EXPECT_GT(states, 10 * kSchemas.size());
}

INSTANTIATE_TEST_SUITE_P(Options, MaskIsAccept,
                         ::testing::Values(SchemaGrammarOptions{.spaces = JsonSpaces::kNone,
                                                                .integers = Integers::kPlain},
                                           SchemaGrammarOptions{.spaces = JsonSpaces::kOptional}));

// ------------------------------------------------------------------------------------- rollback

TEST(MatcherRollback, LeadsToEveryEarlierMask) {
  const TestTokens& tokens = test_tokens();
  Rng rng(3);
  for (const std::string_view schema : kSchemas) {
    Matcher matcher = schema_matcher(schema);
    std::vector<Row> masks{copy(matcher.mask())};
    for (int step = 0; step < 30; ++step) {
      const TokenId id = next_id(matcher, step > 20, rng);
      if (id == tokens.eos || !matcher.accept(id)) {
        break;
      }
      masks.push_back(copy(matcher.mask()));
      for (int i = 0; i < 10; ++i) {  // some of these are refused
        if (matcher.accept(rng.below(static_cast<std::uint32_t>(tokens.size())))) {
          matcher.rollback(1);
        }
      }
    }
    // Back by one, forth again by other ids, back by several.
    for (std::size_t now = masks.size() - 1; now > 0;) {
      const std::size_t count =
          1 + rng.below(static_cast<std::uint32_t>(std::min<std::size_t>(now, 4)));
      matcher.rollback(count);
      now -= count;
      ASSERT_EQ(matcher.accepted(), now);
      ASSERT_EQ(copy(matcher.mask()), masks[now]) << schema << " back at " << now;
      const TokenId id = next_id(matcher, false, rng);
      ASSERT_TRUE(matcher.accept(id));
      static_cast<void>(matcher.mask());
      matcher.rollback(1);
      ASSERT_EQ(copy(matcher.mask()), masks[now]) << schema << " back again at " << now;
    }
  }
}

TEST(MatcherRollback, OfNothingChangesNothing) {
  Matcher matcher = schema_matcher("true");
  read(matcher, "[1");
  const Row mask = copy(matcher.mask());
  matcher.rollback(0);
  EXPECT_EQ(copy(matcher.mask()), mask);
  EXPECT_EQ(matcher.accepted(), 2U);
}

TEST(MatcherRollback, GoesBackAsFarAsTheBoundAndNoFurther) {
  // Each state is another one: a string of at most 400 characters.
  Matcher matcher = schema_matcher(R"({"type":"string","minLength":300,"maxLength":400})");
  read(matcher, "\"");
  std::vector<Row> masks{copy(matcher.mask())};  // masks[i]: after 1 + i ids
  const auto grow = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(matcher.accept('a'));
      masks.push_back(copy(matcher.mask()));
    }
  };
  grow(kMaxRollback - 1);
  EXPECT_EQ(matcher.accepted(), kMaxRollback);
  EXPECT_EQ(matcher.undoable(), kMaxRollback);  // at the bound: back to the beginning
  grow(1);
  EXPECT_EQ(matcher.accepted(), kMaxRollback + 1);
  EXPECT_EQ(matcher.undoable(), kMaxRollback);  // one past it: the beginning is gone
  matcher.rollback(kMaxRollback);
  EXPECT_EQ(matcher.accepted(), 1U);
  EXPECT_EQ(matcher.undoable(), 0U);
  EXPECT_EQ(copy(matcher.mask()), masks.front());
  masks.resize(1);
  grow(kMaxRollback + 43);  // 300 characters: now it may close
  EXPECT_EQ(matcher.undoable(), kMaxRollback);
  EXPECT_FALSE(matcher.accept('"'));
  grow(1);
  EXPECT_TRUE(matcher.accept('"'));
  EXPECT_TRUE(matcher.complete());
  matcher.rollback(2);
  EXPECT_EQ(copy(matcher.mask()), masks[masks.size() - 2]);
  EXPECT_FALSE(matcher.accept('"'));
}

TEST(MatcherRollback, TakesBackAStopId) {
  Matcher matcher = schema_matcher("true");
  read(matcher, "1");
  const Row mask = copy(matcher.mask());
  ASSERT_TRUE(matcher.accept(test_tokens().eos));
  EXPECT_TRUE(matcher.finished());
  EXPECT_FALSE(matcher.accept('2'));
  EXPECT_FALSE(matcher.accept(test_tokens().eos));
  matcher.rollback(1);
  EXPECT_FALSE(matcher.finished());
  EXPECT_EQ(copy(matcher.mask()), mask);
  EXPECT_TRUE(matcher.accept('2'));
}

// ------------------------------------------------------------------------------ what may come next

TEST(Matcher, RefusedIdsChangeNothing) {
  Matcher matcher = schema_matcher(R"({"type":"object","properties":{"a":{"const":"ab"}},
      "required":["a"],"additionalProperties":false})");
  const TestTokens& tokens = test_tokens();
  for (const TokenId id : tokens.ids(R"({"a":"ab"})")) {
    const Row mask = copy(matcher.mask());
    const std::size_t accepted = matcher.accepted();
    for (TokenId other = 0; other < tokens.size() + 100; ++other) {
      if (other >= tokens.size() || !mask_has(mask, other)) {
        ASSERT_FALSE(matcher.accept(other)) << other;
      }
    }
    EXPECT_EQ(matcher.accepted(), accepted);
    EXPECT_EQ(copy(matcher.mask()), mask);
    ASSERT_TRUE(matcher.accept(id));
  }
  EXPECT_TRUE(matcher.complete());
  EXPECT_TRUE(matcher.finished());
}

TEST(Matcher, StopIdsComeWhereTheAnswerIsCompleteOnly) {
  const TestTokens& tokens = test_tokens();
  const std::array<TokenId, 2> stops{tokens.eos, tokens.markers.end_of_msg};
  Matcher matcher(*compile_schema(R"({"type":"integer","minimum":10})"), tokens.index, stops);
  for (const auto& [text, complete] :
       {std::pair("", false), std::pair("1", false), std::pair("2", true), std::pair("3", true)}) {
    read(matcher, text);
    EXPECT_EQ(matcher.complete(), complete) << text;
    EXPECT_FALSE(matcher.finished());
    for (const TokenId stop : stops) {
      EXPECT_EQ(mask_has(matcher.mask(), stop), complete);
      EXPECT_EQ(matcher.accept(stop), complete);
      matcher.rollback(complete ? 1 : 0);
    }
    // Other special tokens, and ids without a token, never.
    for (TokenId id = static_cast<TokenId>(tokens.ordinary); id < tokens.size(); ++id) {
      EXPECT_EQ(mask_has(matcher.mask(), id), complete && (id == stops[0] || id == stops[1]));
    }
  }
}

TEST(Matcher, SaysWhenNothingButTheEndIsPossible) {
  Matcher number = schema_matcher(R"({"const":12})", {.integers = Integers::kPlain});
  read(number, "12");
  EXPECT_TRUE(number.complete());
  Matcher text = schema_matcher(R"({"const":"a"})");
  read(text, "\"a");
  EXPECT_FALSE(text.complete());
  EXPECT_FALSE(text.finished());
  read(text, "\"");
  EXPECT_TRUE(text.finished());
  EXPECT_EQ(mask_ids(text.mask()), std::vector<TokenId>{test_tokens().eos});
}

TEST(Matcher, KnowsTheOnlyIdThatMayCome) {
  const TestTokens bytes({});
  const std::array<TokenId, 1> stop{bytes.eos};
  Matcher matcher(*compile_schema(R"({"type":"object","properties":{"ab":{"enum":["x","y"]}},
      "required":["ab"],"additionalProperties":false})"),
                  bytes.index, stop);
  std::string forced;
  for (auto only = matcher.forced(); only; only = matcher.forced()) {
    ASSERT_EQ(mask_ids(matcher.mask()), std::vector<TokenId>{*only});
    ASSERT_TRUE(matcher.accept(*only));
    forced += static_cast<char>(*only);
    if (forced.size() == 2) {
      break;  // a key can be written with escapes too
    }
  }
  EXPECT_EQ(forced, "{\"");
  EXPECT_EQ(matcher.forced(), std::nullopt);
  for (const TokenId id : bytes.ids("ab\":\"x\"}")) {
    ASSERT_TRUE(matcher.accept(id));
  }
  EXPECT_EQ(matcher.forced(), bytes.eos);
}

TEST(Matcher, IsForcedWhereManyTokensMeanOneByte) {
  // Only `t` can come, but "tr" and "tru" as well: nothing is forced.
  Matcher matcher = schema_matcher(R"({"const":true})");
  EXPECT_EQ(matcher.forced(), std::nullopt);
  EXPECT_EQ(mask_ids(matcher.mask()).size(), 3U);  // t, tru, true
}

TEST(Matcher, TakesBytesThatAreThereAlready) {
  constexpr std::string_view kSchema = R"({"type":"array","items":{"enum":["ab","\u00e9"]}})";
  Matcher whole = schema_matcher(kSchema);
  read(whole, "[\"ab\",\"");
  Matcher partial = schema_matcher(kSchema);
  ASSERT_TRUE(partial.accept_bytes("[\"ab\",\""));
  EXPECT_EQ(partial.accepted(), 0U);  // bytes are no ids
  EXPECT_EQ(partial.undoable(), 0U);
  EXPECT_EQ(copy(partial.mask()), copy(whole.mask()));
  const Row before = copy(partial.mask());
  EXPECT_FALSE(partial.accept_bytes("abc"));
  EXPECT_EQ(copy(partial.mask()), before);
  ASSERT_TRUE(partial.accept_bytes("\xC3"));  // half a character
  EXPECT_EQ(mask_ids(partial.mask()),
            (std::vector<TokenId>{0xA9, test_tokens().ids("\xA9\"").front()}));
  ASSERT_TRUE(partial.accept(0xA9));
  ASSERT_TRUE(partial.accept_bytes(""));
  ASSERT_TRUE(partial.accept_bytes("\"]"));
  EXPECT_TRUE(partial.finished());
}

TEST(Matcher, MatchersOfOneGrammarDoNotInfluenceEachOther) {
  const auto grammar = compile_schema(
      R"({"type":"array","items":{"type":"string","pattern":"^[ab]{1,3}$"},"uniqueItems":true})");
  ASSERT_TRUE(grammar);
  Matcher first = matcher_of(*grammar);
  Matcher second = matcher_of(*grammar);
  Matcher fresh = matcher_of(*grammar);
  read(first, "[\"a\",\"");
  const Row of_first = copy(first.mask());
  read(second, "[\"b\",\"ab\",\"");
  EXPECT_NE(copy(second.mask()), of_first);
  EXPECT_EQ(copy(first.mask()), of_first);
  second.rollback(second.accepted());
  EXPECT_EQ(copy(second.mask()), copy(fresh.mask()));
  EXPECT_EQ(copy(first.mask()), of_first);
  Matcher moved = std::move(first);
  EXPECT_EQ(copy(moved.mask()), of_first);
  read(moved, "b\"]");
  EXPECT_TRUE(moved.finished());
  EXPECT_TRUE(fresh.accept('['));
}

}  // namespace
}  // namespace daybreak::grammar
