// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests: a vocabulary made of all single bytes, tokens that cross every border of a JSON text
// on purpose, and K3's markers.
//
// Long because: one helper vocabulary and its token sequences serve all tests of tokens.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/token.h"
#include "grammar/message_rules.h"
#include "grammar/vocabulary_index.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::grammar {

// Returns `bytes` in base64, the spelling of tiktoken.model.
inline std::string test_base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (i + j < bytes.size() ? static_cast<std::uint8_t>(bytes[i + j]) : 0);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += i + j <= bytes.size() ? kDigits[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

// Tokens that begin or end inside keys, strings, numbers, escapes and characters, or that hold
// several of them.
inline const std::vector<std::string_view>& awkward_tokens() {
  // clang-format off
  static const std::vector<std::string_view> tokens = {
      "aa", "ab", "ba", "abc", "b\"", "a\"", "\"a", "\"b", "\"a\"", "\"b\"", "\"c\"", "\"ab\"",
      "\"\"", "a\",\"", "a\",\"a", "a\",\"b", "a\",\"a\"", "a\",\"b\"", "b\",\"a\"", "b\",\"",
      "\",\"", "\",", "\", \"", "\":", "\":\"", "\": ", "\": \"", "\"}", "\"]", "\":1", "\":1,\"",
      "\":1,\"a", "\":1,\"a\"", "a\":1,\"a\"", "a\":1,\"b\"", "a\":1,\"b", "b\":1,\"a\"", "a\":",
      "b\":", "\":{\"", "\":{\"a", "\":[", "\":{", "{\"", "{\"a", "{\"a\":", "{\"b\":1", "[\"",
      "[[", "]]", "}}", "{}", "[]", "},", "],", "},{", "],[", ",\"", ", \"", ", ", ": ", ":1",
      ":-", "1,", "1}", "1]", "1,1", "1,2", "2,1", "12", "123", "0.", ".0", ".5", "1.", "-1",
      "-0", "00", "10", "1e", "e5", "5,\"", "0,0", "true", "tru", "rue", "true,", "true}",
      "false", "null", "null,", "null]", "nul", "l,t", "\\u", "\\u0", "\\u00", "\\u006",
      "\\u0061", "0061", "61\"", "\\\"", "\\\\", "\\n", "\\ud83d", "\\ud83d\\u", "\\ude00",
      "\\ud8", "d83d", "\xC3", "\xA9", "\xC3\xA9", "\xF0\x9F", "\x98\x80", "\xF0\x9F\x98\x80",
      "\xA9\"", "\x80\"", "x", "xy", "y\"", " ", "  ", "\n", "\t", " a", "the", " the",
      "hello world", "call", " tool=\"", "tool", "argument", " key=\"", " type=\"", "string\"",
      "number", "think", "response", "tools", "message", "json", "index=\"1\"", "<|open|>",
      "<|close|>think",
  };
  // clang-format on
  return tokens;
}

class TestTokens {
 public:
  // Byte b is id b; then `tokens` (single bytes and doubles left out); then the special block.
  explicit TestTokens(const std::vector<std::string_view>& tokens = awkward_tokens()) {
    std::vector<std::string> all;
    for (int byte = 0; byte < 256; ++byte) {
      all.emplace_back(1, static_cast<char>(byte));
    }
    for (const std::string_view token : tokens) {
      if (std::ranges::find(all, token) == all.end()) {
        all.emplace_back(token);
      }
    }
    std::string model;
    for (std::size_t i = 0; i < all.size(); ++i) {
      model += test_base64(all[i]) + " " + std::to_string(i) + "\n";
    }
    ordinary = all.size();
    std::string config = R"({"added_tokens_decoder":{)";
    for (const std::string_view name :
         {"[BOS]", "[EOS]", "<|end_of_msg|>", "<|open|>", "<|close|>", "<|sep|>"}) {
      config += (config.back() == '{' ? "\"" : ",\"") + std::to_string(all.size()) +
                R"(":{"content":")" + std::string(name) + R"(","special":true})";
      all.emplace_back(name);
    }
    config += R"(},"bos_token":"[BOS]","eos_token":"[EOS]"})";
    auto parsed = tokenizer::Tokenizer::parse(model, config);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
    tokenizer = *std::move(parsed);
    eos = static_cast<TokenId>(ordinary + 1);
    markers = {.open = static_cast<TokenId>(ordinary + 3),
               .close = static_cast<TokenId>(ordinary + 4),
               .sep = static_cast<TokenId>(ordinary + 5),
               .end_of_msg = static_cast<TokenId>(ordinary + 2)};
    // Rows of logits that no token has, as models have them.
    index = VocabularyIndex::make(*tokenizer, tokenizer->vocab_size() + 5);
  }

  [[nodiscard]] std::size_t size() const { return index->vocab_size(); }
  [[nodiscard]] std::string_view bytes(TokenId id) const { return index->token(id); }

  // Returns the ids of a text, longest token first.
  [[nodiscard]] std::vector<TokenId> ids(std::string_view text) const {
    std::vector<TokenId> out;
    while (!text.empty()) {
      TokenId best = static_cast<std::uint8_t>(text.front());
      for (TokenId id = 256; id < ordinary; ++id) {
        if (text.starts_with(bytes(id)) && bytes(id).size() > bytes(best).size()) {
          best = id;
        }
      }
      out.push_back(best);
      text.remove_prefix(bytes(best).size());
    }
    return out;
  }

  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  std::shared_ptr<const VocabularyIndex> index;
  std::size_t ordinary = 0;  // ids below are text
  TokenId eos = 0;
  MessageMarkers markers;
};

// The vocabulary of awkward_tokens(), made once.
inline const TestTokens& test_tokens() {
  static const TestTokens tokens;
  return tokens;
}

inline bool mask_has(std::span<const std::uint32_t> mask, TokenId id) {
  return (mask[id / 32] >> (id % 32) & 1) != 0;
}

// Returns the ids that a mask allows, in ascending order.
inline std::vector<TokenId> mask_ids(std::span<const std::uint32_t> mask) {
  std::vector<TokenId> ids;
  for (std::size_t word = 0; word < mask.size(); ++word) {
    for (std::uint32_t bits = mask[word]; bits != 0; bits &= bits - 1) {
      ids.push_back(
          static_cast<TokenId>(32 * word + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
  return ids;
}

}  // namespace daybreak::grammar
