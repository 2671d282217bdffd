// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/slicer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "tokenizer/char_class.h"

namespace daybreak::tokenizer {
namespace {

using Slices = std::vector<std::string>;

Slices slices_of(const std::string& text, SliceCaps caps) {
  Slices slices;
  for (Slicer slicer(text, caps); !slicer.done();) {
    slices.emplace_back(slicer.next());
  }
  return slices;
}

TEST(Slicer, CutsAsTheReleasedTokenizer) {
  const SliceCaps runs{.max_chars = 100, .max_run = 4};
  EXPECT_EQ(slices_of("", runs), Slices{});
  EXPECT_EQ(slices_of("abcd", runs), Slices{"abcd"});
  EXPECT_EQ(slices_of("abcde", runs), (Slices{"abcd", "e"}));
  EXPECT_EQ(slices_of("abcdefghij", runs), (Slices{"abcd", "efgh", "ij"}));
  EXPECT_EQ(slices_of("ab cd ef gh", runs), Slices{"ab cd ef gh"});        // many runs, no cut
  EXPECT_EQ(slices_of("x     y", runs), (Slices{"x    ", " y"}));          // whitespace runs too
  EXPECT_EQ(slices_of("ab\x1c\x1dxyzw", runs), Slices{"ab\x1c\x1dxyzw"});  // Python's whitespace
  const SliceCaps both{.max_chars = 6, .max_run = 4};
  EXPECT_EQ(slices_of(std::string(17, 'a'), both),
            (Slices{"aaaa", "aa", "aaaa", "aa", "aaaa", "a"}));
  EXPECT_EQ(slices_of("ab cd ef", both), (Slices{"ab cd ", "ef"}));  // blind
  EXPECT_EQ(slices_of("你好世界你好世界", both),
            (Slices{"你好世界", "你好", "世界"}));  // code points
}

TEST(Slicer, ReleasedCapsCutOnePastTheBound) {
  EXPECT_EQ(slices_of(std::string(25'000, 'a'), {}).size(), 1U);
  EXPECT_EQ(slices_of(std::string(25'001, 'a'), {}), (Slices{std::string(25'000, 'a'), "a"}));
  std::string text;
  while (text.size() < 400'000) {
    text += "ab ";
  }
  text.resize(400'000);
  EXPECT_EQ(slices_of(text, {}).size(), 1U);
  EXPECT_EQ(slices_of(text + "c", {}), (Slices{text, "c"}));
}

// The rule transcribed character by character, without any shortcut.
Slices plain_slices(const std::string& text, SliceCaps caps) {
  Slices slices;
  std::string slice;
  std::size_t chars = 0;
  std::size_t run = 0;
  bool run_is_space = false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = valid_code_point(text, at);
    if (chars == caps.max_chars) {
      slices.push_back(slice);
      slice.clear();
      chars = 0;
      run = 0;
    }
    const bool is_space = is_python_space(c.value);
    run = run > 0 && is_space == run_is_space ? run + 1 : 1;
    run_is_space = is_space;
    if (run > caps.max_run) {
      slices.push_back(slice);
      slice.clear();
      run = 1;
    }
    slice += text.substr(at, c.length);
    ++chars;
    at += c.length;
  }
  if (!slice.empty()) {
    slices.push_back(slice);
  }
  return slices;
}

TEST(Slicer, EqualsThePlainRuleForAllSmallCaps) {
  std::mt19937 random(5);
  const std::string alphabet[] = {"a", " ", "\n", "你", "\x1c", "\u3000", "🚀"};
  for (int round = 0; round < 5'000; ++round) {
    std::string text;
    for (std::size_t i = random() % 40; i > 0; --i) {
      text += alphabet[random() % 3 == 0 ? random() % 7 : random() % 2];
    }
    const SliceCaps caps{.max_chars = 1 + random() % 12, .max_run = 1 + random() % 6};
    ASSERT_EQ(slices_of(text, caps), plain_slices(text, caps))
        << text << " " << caps.max_chars << " " << caps.max_run;
  }
}

}  // namespace
}  // namespace daybreak::tokenizer
