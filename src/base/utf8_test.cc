// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace daybreak {
namespace {

using std::string_literals::operator""s;

const std::string kBad(kReplacementCharacter);

TEST(Utf8, RoundTripsEveryCodePoint) {
  for (std::uint32_t value = 0; value <= 0x10FFFF; ++value) {
    if (value >= 0xD800 && value <= 0xDFFF) {
      continue;
    }
    std::string text;
    append_utf8(value, text);
    const Utf8Step step = utf8_step(text, 0);
    ASSERT_EQ(step.kind, Utf8Step::Kind::kValid) << value;
    ASSERT_EQ(step.code_point, value);
    ASSERT_EQ(step.length, text.size());
    ASSERT_EQ(valid_code_point(text, 0).value, value);
    ASSERT_EQ(valid_code_point(text, 0).length, text.size());
  }
}

// The sequences of Unicode 16.0 section 3.9 (tables 3-8 to 3-11) and of Markus Kuhn's classes.
TEST(Utf8, ReplacesEachMaximalSubpart) {
  struct Row {
    const char* rule;
    std::string bytes;
    std::string repaired;
  };
  const Row rows[] = {
      {"valid text stays", "a\xC3\xA9\xE4\xBD\xA0\xF0\x9F\x9A\x80",
       "a\xC3\xA9\xE4\xBD\xA0\xF0\x9F\x9A\x80"},
      {"NUL is text", "\0x"s, "\0x"s},
      {"overlong forms: each byte", "\xC0\xAF\xE0\x80\xBF\xF0\x81\x82",
       kBad + kBad + kBad + kBad + kBad + kBad + kBad + kBad},
      {"surrogates: each byte", "\xED\xA0\x80\xED\xBF\xBF",
       kBad + kBad + kBad + kBad + kBad + kBad},
      {"above U+10FFFF: each byte", "\xF4\x91\x92\x93\xFF", kBad + kBad + kBad + kBad + kBad},
      {"truncated sequences: one each",
       "\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
       "A",
       kBad + kBad + kBad + kBad + "A"},
      {"stray continuation bytes",
       "\x80\xBF"
       "A",
       kBad + kBad + "A"},
      {"incomplete at the end: one", "A\xF0\x9F\x9A", "A" + kBad},
      {"a lead byte at the end", "A\xC3", "A" + kBad},
      {"an incomplete one, then a good one", "\xE4\xBD\xE4\xBD\xA0", kBad + "\xE4\xBD\xA0"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(repair_utf8(row.bytes), row.repaired) << row.rule;
    EXPECT_EQ(is_valid_utf8(row.bytes), row.bytes == row.repaired) << row.rule;
    EXPECT_TRUE(is_valid_utf8(row.repaired));
  }
}

// Validity by another route: a sequence is valid if it is what append_utf8 writes for some value.
TEST(Utf8, AgreesWithTheEncoderOnAllShortSequences) {
  std::size_t valid_three = 0;
  for (std::uint32_t bits = 0; bits < 1U << 24; ++bits) {
    if ((bits & 0xFF) < 0x80 && (bits & 0xFF) != 'A') {
      continue;  // ASCII first bytes differ in nothing
    }
    const char text[] = {static_cast<char>(bits), static_cast<char>(bits >> 8),
                         static_cast<char>(bits >> 16)};
    const Utf8Step step = utf8_step({text, 3}, 0);
    if (step.kind == Utf8Step::Kind::kValid && step.length == 3) {
      std::string written;
      append_utf8(step.code_point, written);
      ASSERT_EQ(written, std::string(text, 3));
      ++valid_three;
    }
  }
  EXPECT_EQ(valid_three, 0x10000U - 0x800U - 0x800U);  // the BMP without surrogates and 1-2 bytes
}

TEST(Utf8, LooksPastWordsOfAscii) {
  for (std::size_t length = 0; length < 40; ++length) {
    for (std::size_t bad = 0; bad < length; ++bad) {
      std::string text(length, 'x');
      EXPECT_TRUE(is_valid_utf8(text));
      text[bad] = '\x80';
      EXPECT_FALSE(is_valid_utf8(text));
    }
  }
}

TEST(Utf8Repairer, AnyCutGivesTheSameText) {
  std::mt19937 random(3);
  const char alphabet[] = {'a',    '\x80', '\xBF', '\xC3', '\xA9', '\xE0', '\xE4', '\xED',
                           '\xA0', '\xF0', '\x9F', '\xF4', '\x8F', '\x90', '\xFF'};
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    for (std::size_t i = random() % 12; i > 0; --i) {
      bytes += alphabet[random() % sizeof alphabet];
    }
    std::string joined;
    Utf8Repairer repairer;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t length = 1 + random() % 4;
      std::string out;
      repairer.push(std::string_view(bytes).substr(at, length), out);
      ASSERT_TRUE(is_valid_utf8(out));
      joined += out;
      at += length;
    }
    repairer.finish(joined);
    ASSERT_EQ(joined, repair_utf8(bytes));
    ASSERT_FALSE(repairer.pending());
  }
}

TEST(Utf8Repairer, HoldsBackOnlyWhatMayBecomeValid) {
  Utf8Repairer repairer;
  std::string out;
  repairer.push("\xF0\x9F", out);
  EXPECT_EQ(out, "");
  EXPECT_TRUE(repairer.pending());
  repairer.push("\x9A", out);
  EXPECT_EQ(out, "");
  repairer.push("A", out);  // decides: the three bytes are one maximal subpart
  EXPECT_EQ(out, kBad + "A");
  repairer.push("\xED", out);
  repairer.push("\xA0", out);  // a surrogate: both bytes at once
  EXPECT_EQ(out, kBad + "A" + kBad + kBad);
  EXPECT_FALSE(repairer.pending());
}

TEST(Utf8Repairer, FinishStartsAfresh) {
  Utf8Repairer repairer;
  std::string out;
  repairer.push("\xE4\xBD", out);
  repairer.finish(out);
  repairer.push("\xA0", out);
  EXPECT_EQ(out, kBad + kBad);
  repairer.finish(out);
  EXPECT_EQ(out, kBad + kBad);
}

}  // namespace
}  // namespace daybreak
