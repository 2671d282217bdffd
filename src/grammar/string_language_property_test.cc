// SPDX-License-Identifier: Apache-2.0
// StringLanguage against all strings of a few letters.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "grammar/regex.h"
#include "grammar/string_language.h"

namespace daybreak::grammar {
namespace {

using Language = std::shared_ptr<const StringLanguage>;

std::string random_pattern(Rng& rng, int depth) {
  const std::uint32_t kind = rng.below(depth == 0 ? 3 : 8);
  switch (kind) {
    case 0:
      return "a";
    case 1:
      return "b";
    case 2:
      return "[ab]";
    case 3:
      return "(" + random_pattern(rng, depth - 1) + "|" + random_pattern(rng, depth - 1) + ")";
    case 4:
      return "(" + random_pattern(rng, depth - 1) + ")*";
    case 5:
      return "(" + random_pattern(rng, depth - 1) + "){" + std::to_string(1 + rng.below(4)) + "}";
    default:
      return random_pattern(rng, depth - 1) + random_pattern(rng, depth - 1);
  }
}

std::shared_ptr<const Dfa> random_dfa(Rng& rng) {
  Budget budget(1'000'000);
  auto dfa = compile_regex(random_pattern(rng, 5), RegexMatch::kWhole, budget);
  EXPECT_TRUE(dfa);
  return std::make_shared<const Dfa>(dfa ? *std::move(dfa) : Dfa());
}

struct Bounds {
  std::uint32_t min = 0, max = kNoMaxChars;
};

Bounds random_bounds(Rng& rng) {
  Bounds out;
  out.min = rng.below(3) == 0 ? 0 : rng.below(9);
  if (rng.below(3) != 0) {
    out.max = out.min + rng.below(4);
  }
  return out;
}

// Whether a completion leads from `state` with `chars` code points to acceptance: every set of
// states that is reached, length by length, as far as any answer can be.
bool completes(const Dfa& dfa, Dfa::State state, std::uint32_t chars, const Bounds& bounds) {
  std::vector<std::uint8_t> now(dfa.states(), 0);
  now[state] = 1;
  const std::uint64_t end =
      bounds.max == kNoMaxChars ? chars + bounds.min + 2 * dfa.states() : bounds.max;
  for (std::uint64_t length = chars; length <= end; ++length) {
    std::vector<std::uint8_t> next(dfa.states(), 0);
    for (Dfa::State at = 0; at < dfa.states(); ++at) {
      if (now[at] == 0) {
        continue;
      }
      if (dfa.accepts(at) && length >= bounds.min) {
        return true;
      }
      for (const Dfa::Edge& edge : dfa.edges(at)) {
        next[edge.target] = 1;
      }
    }
    now = std::move(next);
  }
  return false;
}

// All strings over `letters` of up to `size` of them.
std::vector<std::string> strings(std::size_t size) {
  std::vector<std::string> out{""};
  for (std::size_t i = 0; out[i].size() < size; ++i) {
    for (const char letter : std::string_view("ab")) {
      out.push_back(out[i] + letter);
    }
  }
  return out;
}

bool member(const Dfa& dfa, const Bounds& bounds, const std::string& text) {
  return dfa.contains(text) && text.size() >= bounds.min && text.size() <= bounds.max;
}

TEST(StringLanguageProperty, ViableIsExactlyWhatCanBeCompleted) {
  Rng rng(1);
  int tables = 0;
  for (int i = 0; i < 1'500; ++i) {
    const auto dfa = random_dfa(rng);
    const Bounds bounds = random_bounds(rng);
    Budget budget(1'000'000);
    const auto language = StringLanguage::make(dfa, bounds.min, bounds.max, budget);
    ASSERT_TRUE(language);
    ASSERT_EQ(*language != nullptr, completes(*dfa, Dfa::kStart, 0, bounds)) << i;
    if (*language == nullptr) {
      continue;
    }
    tables += bounds.min > 0 && bounds.max - bounds.min + 1 < dfa->states() ? 1 : 0;
    // Reached pairs only: bounds that the dfa implies may be dropped for others.
    std::vector<std::pair<Dfa::State, std::uint32_t>> level{{Dfa::kStart, 0}};
    for (std::uint32_t chars = 0; chars < 14 && !level.empty(); ++chars) {
      std::vector<std::uint8_t> next(dfa->states(), 0);
      for (const auto& [state, size] : level) {
        ASSERT_EQ((*language)->viable(state, size), completes(*dfa, state, size, bounds))
            << i << " state " << state << " after " << size;
        ASSERT_EQ((*language)->accepts(state, size),
                  dfa->accepts(state) && size >= bounds.min && size <= bounds.max);
        for (const Dfa::Edge& edge : dfa->edges(state)) {
          next[edge.target] = 1;
        }
      }
      level.clear();
      for (Dfa::State state = 0; state < dfa->states(); ++state) {
        if (next[state] != 0) {
          level.emplace_back(state, chars + 1);
        }
      }
    }
  }
  EXPECT_GT(tables, 100);
}

TEST(StringLanguageProperty, CountsWhatThereIs) {
  Rng rng(2);
  const auto all = strings(11);
  for (int i = 0; i < 300; ++i) {
    const auto dfa = random_dfa(rng);
    Bounds bounds = random_bounds(rng);
    bounds.max = std::min(bounds.max, 11u);
    Budget budget(1'000'000);
    const auto language = StringLanguage::make(dfa, bounds.min, bounds.max, budget);
    ASSERT_TRUE(language);
    const auto expected = static_cast<std::uint64_t>(std::ranges::count_if(
        all, [&](const std::string& text) { return member(*dfa, bounds, text); }));
    ASSERT_EQ(*language != nullptr, expected > 0);
    if (*language != nullptr) {
      for (const std::uint64_t cap : {1u, 7u, 100'000u}) {
        ASSERT_EQ((*language)->count(Dfa::kStart, 0, cap), std::min(expected, cap)) << i;
      }
    }
  }
}

TEST(StringLanguageProperty, BooleanOperationsAreThoseOfSets) {
  Rng rng(3);
  auto all = strings(9);
  all.push_back("c");
  all.push_back("abc");
  for (int i = 0; i < 200; ++i) {
    const auto any = std::make_shared<const Dfa>(Dfa::all());
    const auto dfa_a = rng.below(4) == 0 ? any : random_dfa(rng);
    const auto dfa_b = rng.below(4) == 0 ? any : rng.below(4) == 0 ? dfa_a : random_dfa(rng);
    const Bounds bounds_a = random_bounds(rng);
    const Bounds bounds_b = random_bounds(rng);
    Budget budget(10'000'000);
    const auto a = StringLanguage::make(dfa_a, bounds_a.min, bounds_a.max, budget);
    const auto b = StringLanguage::make(dfa_b, bounds_b.min, bounds_b.max, budget);
    ASSERT_TRUE(a && b);
    if (*a == nullptr || *b == nullptr) {
      continue;
    }
    const auto both = intersect(**a, **b, budget);
    const auto others = complement(**a, budget);
    ASSERT_TRUE(both && others);
    for (const std::string& text : all) {
      const bool in_a = member(*dfa_a, bounds_a, text);
      ASSERT_EQ((*a)->contains(text), in_a) << text;
      ASSERT_EQ(*both != nullptr && (*both)->contains(text), in_a && member(*dfa_b, bounds_b, text))
          << text;
      ASSERT_EQ(
          std::ranges::any_of(*others, [&](const Language& one) { return one->contains(text); }),
          !in_a)
          << text;
    }
  }
}

}  // namespace
}  // namespace daybreak::grammar
