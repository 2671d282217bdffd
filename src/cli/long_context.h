// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prompts of a great many tokens on `daybreak serve` with testdata/ctx1m: how much memory they
// take, and that a turn after one starts from it. Test code only.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/serve_child.h"
#include "loadgen/prompt_writer.h"
#include "loadgen/words.h"
#include "testing/paths.h"
#include "testing/raw_client.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {

// Text of exactly `tokens` tokens. Its words have five bytes each, so that the released tokenizer's
// cuts of long texts, every 400,000 characters, fall between words.
inline std::string long_text(std::size_t tokens, std::uint64_t seed) {
  const auto tokenizer = tokenizer::Tokenizer::load(testing::source_path("testdata/ctx1m"));
  EXPECT_TRUE(tokenizer);
  loadgen::Words words = *loadgen::words_of(**tokenizer);
  std::erase_if(words, [](const std::string& word) { return word.size() != 5; });
  EXPECT_GE(words.size(), 16U);
  return loadgen::PromptWriter(std::move(words), seed, 1).write({.blocks = {}, .words = tokens});
}

class LongContextServer {
 public:
  explicit LongContextServer(std::size_t positions, std::vector<std::string> more = {})
      : child_(arguments(positions, std::move(more))), port_(port_of(child_.read_line())) {}

  // Returns the answer of 8 tokens to a prompt, with their log-probabilities.
  [[nodiscard]] nlohmann::json answer(const std::string& prompt) const {
    const std::string body =
        nlohmann::json{{"model", "ctx1m"}, {"prompt", prompt},   {"temperature", 0},
                       {"logprobs", 3},    {"ignore_eos", true}, {"max_tokens", 8}}
            .dump();
    testing::RawClient client(port_);
    client.send("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
    const std::string reply = client.read_response(kPatience);
    EXPECT_EQ(testing::status_of(reply), 200) << reply.substr(0, 1'000);
    return nlohmann::json::parse(testing::body_of(reply), nullptr, false);
  }

  // The most memory the server had resident so far.
  [[nodiscard]] std::size_t peak_bytes() const {
    std::ifstream status("/proc/" + std::to_string(child_.process()) + "/status");
    constexpr std::size_t kKibibyte = 1'024;
    for (std::string name; status >> name;) {
      std::size_t kib = 0;
      if (name == "VmHWM:" && status >> kib) {
        return kib * kKibibyte;
      }
    }
    ADD_FAILURE() << "no VmHWM of the server";
    return 0;
  }

 private:
  static constexpr std::chrono::hours kPatience{12};  // bounds hanging only

  static std::vector<std::string> arguments(std::size_t positions, std::vector<std::string> more) {
    std::vector<std::string> out = {binary(),
                                    "serve",
                                    testing::source_path("testdata/ctx1m").string(),
                                    "--port",
                                    "0",
                                    "--threads",
                                    "1",
                                    "--max-sequences",
                                    "1",
                                    "--max-positions",
                                    std::to_string(positions)};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }

  Child child_;
  const std::uint16_t port_;
};

inline std::size_t cached_tokens(const nlohmann::json& answer) {
  return answer.at("usage").at("prompt_tokens_details").at("cached_tokens");
}

inline constexpr std::size_t kTurnTokens = 4'096;

// A prompt of `depth` tokens, then the same with a turn of kTurnTokens more: it starts from every
// block of the first, and both stay within `bound_bytes`. Returns the answer to the turn.
inline nlohmann::json answer_of_turn(std::size_t depth, std::size_t bound_bytes) {
  const LongContextServer server(depth + 2 * kTurnTokens);
  std::string prompt = long_text(depth, 1);
  const nlohmann::json first = server.answer(prompt);
  EXPECT_EQ(first.at("usage").at("prompt_tokens"), depth);
  EXPECT_EQ(cached_tokens(first), 0U);
  prompt += long_text(kTurnTokens, 2);
  nlohmann::json second = server.answer(prompt);
  EXPECT_EQ(second.at("usage").at("prompt_tokens"), depth + kTurnTokens);
  EXPECT_EQ(cached_tokens(second), depth);  // whole blocks of 64
  EXPECT_LE(server.peak_bytes(), bound_bytes);
  ::testing::Test::RecordProperty("peak_mib", std::to_string(server.peak_bytes() >> 20U));
  return second;
}

// The answer to the same turn where nothing is taken from a cache.
inline nlohmann::json answer_computed_whole(std::size_t depth) {
  const LongContextServer server(depth + 2 * kTurnTokens, {"--prefix-reuse", "off"});
  nlohmann::json answer = server.answer(long_text(depth, 1) + long_text(kTurnTokens, 2));
  EXPECT_EQ(cached_tokens(answer), 0U);
  return answer;
}

}  // namespace daybreak::cli
