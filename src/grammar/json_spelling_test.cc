// SPDX-License-Identifier: Apache-2.0
#include "grammar/json_spelling.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "grammar/mutate_instance.h"
#include "grammar/random_text.h"
#include "grammar/schema.h"

namespace daybreak::grammar {
namespace {

std::string compacted(std::string_view text) {
  const auto tree = parse_json_tree(text);
  EXPECT_TRUE(tree) << text;
  return tree ? compact_json(*tree) : "";
}

TEST(JsonSpelling, CompactKeepsOrderAndNumbers) {
  EXPECT_EQ(compacted(" { \"b\" : [ 1.50 , 1e2 ] , \"a\\u0062\\/\" : \"\\u0001\\n\" } "),
            R"({"b":[1.50,1e2],"ab/":"\u0001\n"})");
}

TEST(JsonSpelling, RespelledTextIsTheSameValue) {
  Rng rng(4);
  int changed = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string text = random_value(rng, 3);
    const std::string other = respell(text, rng, 40);
    const auto a = parse_json_tree(text);
    const auto b = parse_json_tree(other);
    ASSERT_TRUE(a) << text;
    ASSERT_TRUE(b) << other;
    EXPECT_TRUE(equal_values(*a, *b)) << text << "\n" << other;
    changed += text != other ? 1 : 0;
  }
  EXPECT_GT(changed, 100);
}

TEST(JsonSpelling, EveryCharacterCanBeAnEscape) {
  Rng rng(1);
  const std::string all = respell("{\"a\":\"\xF0\x9F\x98\x80\"}", rng, 100);
  EXPECT_EQ(all.size(), std::string(R"({"\u0061":"\ud83d\ude00"})").size());
  EXPECT_EQ(compacted(all), "{\"a\":\"\xF0\x9F\x98\x80\"}");
  EXPECT_TRUE(all.starts_with("{\"\\u0061\":\"\\u"));
}

TEST(JsonSpelling, RandomTokensJoinToTheText) {
  const std::vector<std::string_view> vocabulary = {"a", "b", "ab", "ba", "aba", "c", "ab"};
  const TokenTrie trie(vocabulary);
  Rng rng(9);
  std::set<std::vector<TokenId>> ways;
  for (int i = 0; i < 400; ++i) {
    const auto ids = random_tokens("abac", trie, rng);
    ASSERT_TRUE(ids);
    std::string joined;
    for (const TokenId id : *ids) {
      joined += vocabulary[id];
    }
    EXPECT_EQ(joined, "abac");
    ways.insert(*ids);
  }
  // aba|c, a|ba|c, a|b|a|c, and ab|a|c with either of the two ids of ab.
  EXPECT_EQ(ways.size(), 5U);
}

TEST(JsonSpelling, RandomTokensKnowWhenThereIsNoWay) {
  const std::vector<std::string_view> vocabulary = {"ab", "abc", "d"};
  const TokenTrie trie(vocabulary);
  Rng rng(9);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(random_tokens("abcd", trie, rng));
    EXPECT_FALSE(random_tokens("abcc", trie, rng));
    EXPECT_FALSE(random_tokens("abx", trie, rng));
  }
  EXPECT_EQ(random_tokens("", trie, rng), std::vector<TokenId>{});
}

TEST(JsonSpelling, DuplicateKeysAreSeenAtAnyDepth) {
  EXPECT_FALSE(has_duplicate_keys(*parse_json_tree(R"({"a":{"a":[{"a":1}]}})")));
  EXPECT_TRUE(has_duplicate_keys(*parse_json_tree(R"([{"a":{"b":1,"\u0062":2}}])")));
}

TEST(MutateInstance, GivesJsonThatDiffersMostly) {
  Rng rng(6);
  int same = 0;
  int duplicates = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_value(rng, 3);
    const std::string other = mutate_instance(text, rng);
    const auto tree = parse_json_tree(other);
    ASSERT_TRUE(tree) << text << "\n" << other;
    same += text == other ? 1 : 0;
    duplicates += has_duplicate_keys(*tree) ? 1 : 0;
  }
  EXPECT_LT(same, 300);
  EXPECT_GT(duplicates, 5);
  EXPECT_LT(duplicates, 300);
}

TEST(MutateInstance, ReachesEveryKindOfChange) {
  Rng rng(8);
  std::set<std::string> found;
  for (int i = 0; i < 5000; ++i) {
    found.insert(mutate_instance(R"({"a":[1,2],"b":"xy"})", rng));
  }
  for (const char* each :
       {R"({"b":"xy"})", R"({"a":[1,2]})", R"({"ax":[1,2],"b":"xy"})", R"({"b":"xy","a":[1,2]})",
        R"({"a":[1,2],"b":"xy","b":"xy"})", R"({"a":[1],"b":"xy"})", R"({"a":[2,1],"b":"xy"})",
        R"({"a":[1,2,1],"b":"xy"})", R"({"a":[0,2],"b":"xy"})", R"({"a":[1.0,2],"b":"xy"})",
        R"({"a":[1,2.5],"b":"xy"})", R"({"a":[1,2],"b":"x"})", R"({"a":[1,2],"b":null})"}) {
    EXPECT_TRUE(found.contains(each)) << each;
  }
}

}  // namespace
}  // namespace daybreak::grammar
