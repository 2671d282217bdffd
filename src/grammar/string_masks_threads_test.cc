// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/rng.h"
#include "grammar/string_masks.h"

namespace daybreak::grammar {
namespace {

// Several threads ask for the same few languages through a cache too small for them.
TEST(StringMasks, AnswerThreadsAlike) {
  std::vector<std::string> tokens;
  for (char a = 'a'; a <= 'z'; ++a) {
    for (char b = 'a'; b <= 'z'; ++b) {
      tokens.push_back({a, b});
    }
  }
  tokens.insert(tokens.end(), {"\"", "a\"", "\\", "u0", "\xE4"});
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  const TokenTrie trie(views);
  StringMasks masks(trie, (tokens.size() + 31) / 32, std::size_t{1} << 14);
  StringMasks alone(trie, (tokens.size() + 31) / 32, std::size_t{1} << 20);
  std::vector<std::shared_ptr<const StringLanguage>> languages{StringLanguage::all()};
  Budget budget(1'000'000);
  for (std::uint32_t most = 1; most <= 6; ++most) {
    languages.push_back(
        *StringLanguage::make(std::make_shared<const Dfa>(Dfa::all()), 0, most, budget));
    const std::vector<std::string> strings{std::string(most, 'a'), "xyz"};
    languages.push_back(*StringLanguage::make(
        std::make_shared<const Dfa>(*Dfa::strings(strings, budget)), 0, kNoMaxChars, budget));
  }
  std::vector<std::shared_ptr<const StringMask>> expected;
  for (const auto& language : languages) {
    expected.push_back(alone.find(language, StringCoding::kJson, {}));
  }
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      threads.emplace_back([&, seed] {
        Rng rng(seed);
        for (int round = 0; round < 400; ++round) {
          const std::uint32_t at = rng.below(static_cast<std::uint32_t>(languages.size()));
          const auto mask = masks.find(languages[at], StringCoding::kJson, {});
          const bool rows = (mask->row == nullptr) == (expected[at]->row == nullptr) &&
                            (!mask->row || *mask->row == *expected[at]->row);
          wrong +=
              !rows || mask->list != expected[at]->list || mask->exit_ids != expected[at]->exit_ids;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace daybreak::grammar
