// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/vocabulary.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/paths.h"

namespace daybreak::tokenizer {
namespace {

std::string base64_of(const std::string& bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += at + i <= bytes.size() ? kAlphabet[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return out;
}

// A file with the 256 single bytes as ranks 0 to 255, then `more`.
std::string file_of(const std::vector<std::string>& more) {
  std::string file;
  for (std::size_t rank = 0; rank < 256 + more.size(); ++rank) {
    const std::string token =
        rank < 256 ? std::string(1, static_cast<char>(rank)) : more[rank - 256];
    file += base64_of(token) + " " + std::to_string(rank) + "\n";
  }
  return file;
}

// Replaces the line with number `line`, counted from 1, by `text` (which holds its line break).
std::string with_line(const std::string& file, std::size_t line, const std::string& text) {
  std::size_t begin = 0;
  for (std::size_t i = 1; i < line; ++i) {
    begin = file.find('\n', begin) + 1;
  }
  const std::size_t end = file.find('\n', begin);
  return file.substr(0, begin) + text + (end == std::string::npos ? "" : file.substr(end + 1));
}

TEST(Vocabulary, FindsEveryTokenAndNothingElse) {
  const auto vocabulary = Vocabulary::parse(file_of({"ab", "abc", "bc", std::string("\0\0", 2)}));
  ASSERT_TRUE(vocabulary) << vocabulary.error().message;
  EXPECT_EQ(vocabulary->size(), 260U);
  for (TokenId rank = 0; rank < 260; ++rank) {
    EXPECT_EQ(vocabulary->find(vocabulary->bytes_of(rank)), rank);
  }
  EXPECT_EQ(vocabulary->bytes_of(257), "abc");
  EXPECT_EQ(vocabulary->byte_rank('a'), TokenId{'a'});
  for (const char* absent : {"", "ac", "abcd", "bcd"}) {
    EXPECT_EQ(vocabulary->find(absent), Vocabulary::kNone) << absent;
  }
}

TEST(Vocabulary, MergesByEverySplitOfAToken) {
  const auto vocabulary = Vocabulary::parse(file_of({"ab", "abc", "bc", "abcd"}));
  ASSERT_TRUE(vocabulary);
  const auto rank = [&](std::string_view bytes) { return vocabulary->find(bytes); };
  EXPECT_EQ(vocabulary->merged('a', 'b'), rank("ab"));
  EXPECT_EQ(vocabulary->merged(rank("ab"), 'c'), rank("abc"));
  EXPECT_EQ(vocabulary->merged('a', rank("bc")), rank("abc"));
  EXPECT_EQ(vocabulary->merged(rank("abc"), 'd'), rank("abcd"));
  EXPECT_EQ(vocabulary->merged('a', 'c'), Vocabulary::kNone);
  EXPECT_EQ(vocabulary->merged('b', 'a'), Vocabulary::kNone);
  EXPECT_EQ(vocabulary->merged(rank("ab"), rank("bc")), Vocabulary::kNone);
}

// The pair index against the definition, for all pairs of the test vocabulary.
TEST(Vocabulary, MergedEqualsLookingUpTheJoinedBytes) {
  const auto vocabulary = Vocabulary::parse(daybreak::testing::read_file(
      daybreak::testing::source_path("testdata/tokenizer/tiktoken.model")));
  ASSERT_TRUE(vocabulary) << vocabulary.error().message;
  std::size_t pairs = 0;
  for (TokenId left = 0; left < vocabulary->size(); ++left) {
    for (TokenId right = 0; right < vocabulary->size(); ++right) {
      const std::string joined =
          std::string(vocabulary->bytes_of(left)) + std::string(vocabulary->bytes_of(right));
      const TokenId merged = vocabulary->merged(left, right);
      ASSERT_EQ(merged, vocabulary->find(joined));
      pairs += merged != Vocabulary::kNone;
    }
  }
  EXPECT_GT(pairs, vocabulary->size() - 256);
}

TEST(Vocabulary, LastLineBreakMayBeMissing) {
  std::string file = file_of({"ab"});
  file.pop_back();
  EXPECT_TRUE(Vocabulary::parse(file));
}

TEST(Vocabulary, NamesTheLineThatIsWrong) {
  const std::string good = file_of({"ab", "cd"});
  struct Row {
    std::string file;
    const char* message;
  };
  const Row rows[] = {
      {"", "tiktoken.model: expected all 256 single bytes among the tokens, missing 0x00"},
      {with_line(good, 3, "\n"), "tiktoken.model:3: expected 'BASE64 RANK', found ''"},
      {good + "\n", "tiktoken.model:259: expected 'BASE64 RANK', found ''"},
      {with_line(good, 3, "Ag==\n"), "tiktoken.model:3: expected 'BASE64 RANK', found 'Ag=='"},
      {with_line(good, 3, "Ag== 7\n"), "tiktoken.model:3: expected rank 2, found '7'"},
      {with_line(good, 3, "Ag== 1\n"), "tiktoken.model:3: expected rank 2, found '1'"},
      {with_line(good, 3, "Ag==  2\n"), "tiktoken.model:3: expected rank 2, found ' 2'"},
      {with_line(good, 3, "Ag== 02\n"), "tiktoken.model:3: expected rank 2, found '02'"},
      {with_line(good, 3, "Ag== 2\r\n"), "tiktoken.model:3: expected rank 2, found '2?'"},
      {with_line(good, 3, "Ag== -2\n"), "tiktoken.model:3: expected rank 2, found '-2'"},
      {with_line(good, 3, "Ag== \n"), "tiktoken.model:3: expected rank 2, found ''"},
      {with_line(good, 3, "Ag=! 2\n"), "tiktoken.model:3: expected padded base64, found 'Ag=!'"},
      {with_line(good, 3, "Ag 2\n"), "tiktoken.model:3: expected padded base64, found 'Ag'"},
      {with_line(good, 3, " 2\n"),
       "tiktoken.model:3: expected at least one byte in a token, found none"},
      {with_line(good, 258, "YWI= 257\n"),
       "tiktoken.model:258: expected a token of its own, found the bytes of line 257"},
      {with_line(good, 3, "enp6 2\n"),
       "tiktoken.model: expected all 256 single bytes among the tokens, missing 0x02"},
  };
  for (const Row& row : rows) {
    const auto vocabulary = Vocabulary::parse(row.file);
    ASSERT_FALSE(vocabulary) << row.message;
    EXPECT_EQ(vocabulary.error(), (Error{Errc::kCorrupt, row.message}));
  }
}

TEST(Vocabulary, AcceptsEachLimitAndRefusesOnePastIt) {
  const std::string file = file_of({"abcdef"});
  const VocabularyLimits exact{
      .max_file_bytes = file.size(), .max_ranks = 257, .max_token_bytes = 6};
  EXPECT_TRUE(Vocabulary::parse(file, exact));

  const auto message = [&](VocabularyLimits limits) {
    const auto vocabulary = Vocabulary::parse(file, limits);
    EXPECT_FALSE(vocabulary);
    EXPECT_EQ(vocabulary.error().code, Errc::kTooLarge);
    return vocabulary.error().message;
  };
  VocabularyLimits less = exact;
  --less.max_file_bytes;
  EXPECT_EQ(message(less), "tiktoken.model: bytes: at most " + std::to_string(file.size() - 1) +
                               " expected, found " + std::to_string(file.size()));
  less = exact;
  --less.max_ranks;
  EXPECT_EQ(message(less), "tiktoken.model:257: ranks: at most 256 expected, found 257");
  less = exact;
  --less.max_token_bytes;
  EXPECT_EQ(message(less), "tiktoken.model:257: bytes in a token: at most 5 expected, found 6");
}

TEST(Vocabulary, RefusesAnOverlongLineBeforeDecodingIt) {
  // 6 bytes are 8 base64 characters; with the space and ten digits a line has at most 19.
  const VocabularyLimits limits{.max_token_bytes = 6};
  const auto at = Vocabulary::parse(with_line(file_of({}), 3, std::string(19, 'A') + "\n"), limits);
  ASSERT_FALSE(at);
  EXPECT_EQ(at.error().message,
            "tiktoken.model:3: expected 'BASE64 RANK', found 'AAAAAAAAAAAAAAAAAAA'");
  const auto past =
      Vocabulary::parse(with_line(file_of({}), 3, std::string(20, 'A') + "\n"), limits);
  ASSERT_FALSE(past);
  EXPECT_EQ(past.error().message,
            "tiktoken.model:3: bytes in a line: at most 19 expected, found 20");
}

TEST(Vocabulary, QuotesLongOrBinaryInputBriefly) {
  const auto vocabulary =
      Vocabulary::parse(with_line(file_of({}), 1, "\x01\xFF" + std::string(100, 'x') + "\n"));
  ASSERT_FALSE(vocabulary);
  EXPECT_EQ(vocabulary.error().message,
            "tiktoken.model:1: expected 'BASE64 RANK', found '??" + std::string(38, 'x') + "...'");
}

}  // namespace
}  // namespace daybreak::tokenizer
