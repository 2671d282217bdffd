// SPDX-License-Identifier: Apache-2.0
#include "api/stop_matcher.h"

#include <gtest/gtest.h>

#include <utility>

namespace daybreak::api {
namespace {

struct Case {
  std::vector<std::string> stops;
  std::string text;
  std::string delivered;
  bool matched;
};

const std::vector<Case> kCases = {
    {{}, "abc", "abc", false},
    {{""}, "abc", "abc", false},
    {{"x"}, "abc", "abc", false},
    {{"b"}, "abc", "a", true},
    {{"abc"}, "abc", "", true},
    {{"abd"}, "abc", "abc", false},
    {{"aab"}, "aaab", "a", true},        // a failed start is the start of the match
    {{"bcd", "c"}, "abcd", "ab", true},  // the one that ends first
    {{"c", "bc"}, "abcd", "a", true},    // ending together: the longest
    {{"\n\n"}, "a\nb\n\nc", "a\nb", true},
    {{"END"}, "the EN", "the EN", false},  // held back, then delivered at the end
    {{"\xE2\x82\xAC"}, "5 \xE2\x82\xAC", "5 ", true},
};

TEST(StopMatcher, AnyCutDeliversTheSame) {
  for (const Case& c : kCases) {
    for (std::size_t i = 0; i <= c.text.size(); ++i) {
      for (std::size_t j = i; j <= c.text.size(); ++j) {
        SCOPED_TRACE(c.text + " cut at " + std::to_string(i) + ", " + std::to_string(j));
        StopMatcher matcher(c.stops);
        std::string out;
        matcher.push(std::string_view(c.text).substr(0, i), out);
        matcher.push(std::string_view(c.text).substr(i, j - i), out);
        matcher.push(std::string_view(c.text).substr(j), out);
        EXPECT_EQ(matcher.matched(), c.matched);
        matcher.flush(out);
        EXPECT_EQ(out, c.delivered);
      }
    }
  }
}

TEST(StopMatcher, NamesTheStringThatWasFound) {
  for (const auto& [stops, found] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"z"}, ""}, {{"c", "bc"}, "bc"}, {{"bcd", "c"}, "c"}, {{"d", "ab"}, "ab"}}) {
    StopMatcher matcher(stops);
    std::string out;
    matcher.push("xxabcd", out);
    EXPECT_EQ(matcher.match(), found);
    EXPECT_EQ(matcher.matched(), !found.empty());
  }
}

TEST(StopMatcher, HoldsBackNoMoreThanItMust) {
  StopMatcher matcher({"abcd"});
  std::string out;
  matcher.push("xxab", out);
  EXPECT_EQ(out, "xx");
  matcher.push("x", out);
  EXPECT_EQ(out, "xxabx");
}

TEST(StopMatcher, NothingFollowsAMatch) {
  StopMatcher matcher({"b"});
  std::string out;
  matcher.push("abc", out);
  matcher.push("def", out);
  matcher.flush(out);
  EXPECT_EQ(out, "a");
}

}  // namespace
}  // namespace daybreak::api
