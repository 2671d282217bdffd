// SPDX-License-Identifier: Apache-2.0
#include "cli/stream_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "cli/scripted_server.h"

namespace daybreak::cli {
namespace {

constexpr std::uint64_t kSeed = 5;

std::string chunk(const std::string& text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

std::string letters(std::size_t from, std::size_t count) {
  std::string out;
  for (std::size_t i = from; i < from + count; ++i) {
    out += scripted_letter(kSeed, i);
  }
  return out;
}

std::string content(const std::string& text) {
  return "data: {\"choices\":[{\"delta\":{\"content\":\"" + text + "\"}}]}\n\n";
}

const std::string kHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const std::string kFinish = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const std::string kDone = "data: [DONE]\n\n";
const std::string kEnd = "0\r\n\r\n";

// Three tokens in two events, the second of which is cut by chunks.
std::string good() {
  const std::string second = content(letters(1, 2));
  return kHead + chunk(content(letters(0, 1)) + second.substr(0, 20)) + chunk(second.substr(20)) +
         chunk(kFinish + kDone) + kEnd;
}

std::string fault_of(std::string_view text) {
  StreamReader reader(kSeed, 3);
  reader.take(text);
  return reader.fault();
}

TEST(StreamReader, AWholeStreamIsGoodHoweverItIsCut) {
  const std::string text = good();
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    StreamReader reader(kSeed, 3);
    std::size_t tokens = reader.take(text.substr(0, cut));
    EXPECT_EQ(tokens, reader.received());
    EXPECT_EQ(reader.ended(), cut == text.size()) << cut;
    tokens += reader.take(text.substr(cut));
    EXPECT_EQ(tokens, 3U);
    EXPECT_TRUE(reader.ended());
    EXPECT_EQ(reader.fault(), "") << cut;
  }
}

TEST(StreamReader, EveryMissingByteIsSeen) {
  const std::string text = good();
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    EXPECT_NE(fault_of(text.substr(0, cut)), "") << cut;
  }
}

TEST(StreamReader, TokensThatAreLostTwiceOrInTheWrongOrderAreSeen) {
  const auto stream = [](const std::string& text) {
    return kHead + chunk(content(text) + kFinish + kDone) + kEnd;
  };
  EXPECT_EQ(fault_of(stream(letters(0, 3))), "");
  EXPECT_EQ(fault_of(stream(letters(0, 2))), "stream 5: expected 3 tokens, found 2");
  EXPECT_NE(fault_of(stream(letters(0, 4))).find("wrong text at token 3"), std::string::npos);
  EXPECT_NE(fault_of(stream(letters(1, 3))).find("wrong text at token 0"), std::string::npos);
  EXPECT_NE(fault_of(stream(letters(0, 1) + letters(0, 2))).find("wrong text at token 1"),
            std::string::npos);
}

TEST(StreamReader, EndsWithoutFinishReasonOrDoneErrorsAndOtherStatusesAreSeen) {
  const std::string text = content(letters(0, 3));
  EXPECT_NE(fault_of(kHead + chunk(text + kDone) + kEnd), "");
  EXPECT_NE(fault_of(kHead + chunk(text + kFinish) + kEnd), "");
  EXPECT_NE(fault_of(kHead + chunk("data: {\"error\":{}}\n\n") + kEnd).find("found an error"),
            std::string::npos);
  EXPECT_NE(fault_of("HTTP/1.1 429 Too Many Requests\r\n\r\n").find("expected status 200"),
            std::string::npos);
  EXPECT_NE(fault_of(kHead + "zz\r\n").find("size of a chunk"), std::string::npos);
}

TEST(ScriptedLetters, NoTwoSeedsHaveTheSameAndSomeOfTheFirstLettersDiffer) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    std::string text;
    for (std::size_t i = 0; i < 12; ++i) {
      text += scripted_letter(seed, i);
    }
    EXPECT_TRUE(seen.insert(text).second) << seed;
  }
}

}  // namespace
}  // namespace daybreak::cli
