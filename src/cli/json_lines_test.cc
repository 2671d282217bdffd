// SPDX-License-Identifier: Apache-2.0
#include "cli/json_lines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

namespace daybreak::cli {
namespace {

// Returns every line of `input` as text, or as "!CODE" for an error.
std::vector<std::string> lines_of(const std::string& input, std::size_t max_line_bytes,
                                  std::size_t bytes_per_write) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  std::jthread writer([&] {
    for (std::size_t at = 0; at < input.size(); at += bytes_per_write) {
      const std::string part = input.substr(at, bytes_per_write);
      EXPECT_EQ(::write(ends[1], part.data(), part.size()), static_cast<ssize_t>(part.size()));
    }
    ::close(ends[1]);
  });
  std::vector<std::string> lines;
  LineReader reader(ends[0], max_line_bytes);
  while (auto line = reader.next()) {
    lines.push_back(*line ? **line : "!" + std::string(to_string(line->error().code)));
  }
  ::close(ends[0]);
  return lines;
}

TEST(LineReader, SplitsHoweverTheBytesArrive) {
  const std::string input = std::string("one\n\ntwo\r\n\0x\nlast", 17);
  const std::vector<std::string> expected = {"one", "", "two\r", std::string("\0x", 2), "last"};
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{2}, std::size_t{5}, input.size()}) {
    EXPECT_EQ(lines_of(input, 100, bytes), expected) << bytes;
  }
  EXPECT_EQ(lines_of("", 100, 1), std::vector<std::string>{});
  EXPECT_EQ(lines_of("\n", 100, 1), std::vector<std::string>{""});
}

TEST(LineReader, RefusesALineOverTheBoundAndGoesOn) {
  for (const std::size_t bytes : {1U, 3U, 1000U}) {
    EXPECT_EQ(lines_of("12345\n123456\nab\n1234567", 5, bytes),
              (std::vector<std::string>{"12345", "!too_large", "ab", "!too_large"}))
        << bytes;
  }
  // Far over the bound, in many reads.
  EXPECT_EQ(lines_of(std::string(1'000'000, 'x') + "\nab\n", 5, 4096),
            (std::vector<std::string>{"!too_large", "ab"}));
}

TEST(LineReader, ReportsAReadError) {
  LineReader reader(-1);
  const auto line = reader.next();
  ASSERT_TRUE(line.has_value());
  ASSERT_FALSE(*line);
  EXPECT_EQ(line->error().code, Errc::kIo);
}

TEST(AnswerLines, AnswersEveryLineAndFailsAtTheEnd) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "a\nbad\nc\nbinary\n", 15), 15);
  ::close(ends[1]);
  LineReader reader(ends[0]);
  std::FILE* out = std::tmpfile();
  ASSERT_NE(out, nullptr);
  const Status status = answer_lines(reader, out, [](std::string line) -> Result<std::string> {
    if (line == "bad") {
      return Error{Errc::kInvalidArgument, "no \"good\""};
    }
    if (line == "binary") {
      return Error{Errc::kInvalidArgument, "\xFF"};
    }
    return "<" + line + ">";
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(), (Error{Errc::kCorrupt, "2 of 4 lines failed"}));
  EXPECT_EQ(exit_code(status.error().code), 1);
  std::rewind(out);
  char text[100] = {};
  EXPECT_GT(std::fread(text, 1, sizeof text - 1, out), 0U);
  EXPECT_STREQ(text, "<a>\n{\"error\":\"no \\\"good\\\"\"}\n<c>\n{\"error\":\"\xEF\xBF\xBD\"}\n");
  std::fclose(out);
  ::close(ends[0]);
}

TEST(ReplaceLoneSurrogates, LeavesPairsAndEscapedBackslashes) {
  struct Row {
    const char* before;
    const char* after;
  };
  const Row rows[] = {
      {R"("\ud83d\udc4d")", R"("\ud83d\udc4d")"},
      {R"("\uD83D\uDC4D")", R"("\uD83D\uDC4D")"},
      {R"("\ud83d")", R"("\ufffd")"},
      {R"("\udc4d")", R"("\ufffd")"},
      {R"("\udc4d\ud83d")", R"("\ufffd\ufffd")"},
      {R"("\ud83d\ud83d\udc4d")", R"("\ufffd\ud83d\udc4d")"},
      {R"("\ud83dx\udc4d")", R"("\ufffdx\ufffd")"},
      {R"("\\ud83d")", R"("\\ud83d")"},
      {R"("\\\ud83d")", R"("\\\ufffd")"},
      {R"("\ud83)", R"("\ud83)"},
      {R"("\ud8)", R"("\ud8)"},
      {R"("\)", R"("\)"},
      {R"("\u00e9\n")", R"("\u00e9\n")"},
      {R"("\u+d83")", R"("\u+d83")"},
  };
  for (const Row& row : rows) {
    std::string json = row.before;
    replace_lone_surrogates(json);
    EXPECT_EQ(json, row.after);
  }
}

}  // namespace
}  // namespace daybreak::cli
