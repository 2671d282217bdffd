// SPDX-License-Identifier: Apache-2.0
// Random automata over three letters against their tables, string by string, and the laws of
// Boolean algebra between the results as values.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/rng.h"
#include "grammar/dfa.h"
#include "grammar/dfa_builder.h"

namespace daybreak::grammar {
namespace {

constexpr std::size_t kLongest = 6;

// The letters lie next to each other and around the surrogates, where edges join and do not.
const std::array<std::uint32_t, 3> kLetters = {'a', 'b', 0xD7FF};
const std::array<std::string, 3> kSpelled = {"a", "b", "\xED\x9F\xBF"};

struct Table {
  std::vector<std::array<int, 3>> next;  // -1: none
  std::vector<bool> accepts;

  [[nodiscard]] bool contains(const std::vector<int>& word) const {
    int state = 0;
    for (const int letter : word) {
      state = next[static_cast<std::size_t>(state)][static_cast<std::size_t>(letter)];
      if (state < 0) {
        return false;
      }
    }
    return accepts[static_cast<std::size_t>(state)];
  }
};

Table random_table(Rng& rng) {
  Table out;
  const std::uint32_t states = 1 + rng.below(7);
  for (std::uint32_t i = 0; i < states; ++i) {
    std::array<int, 3> row{};
    for (int& to : row) {
      to = rng.below(4) == 0 ? -1 : static_cast<int>(rng.below(states));
    }
    out.next.push_back(row);
    out.accepts.push_back(rng.below(3) == 0);
  }
  return out;
}

// `shuffled` numbers the states backwards and adds copies nobody can tell from the originals.
Dfa build(const Table& table, bool shuffled) {
  DfaBuilder builder;
  const auto size = static_cast<std::uint32_t>(table.next.size());
  const std::uint32_t copies = shuffled ? 2 : 1;
  const auto name = [&](std::uint32_t state, std::uint32_t copy) {
    return shuffled ? copy * size + (size - 1 - state) : state;
  };
  for (std::uint32_t i = 0; i < copies * size; ++i) {
    builder.add_state(false);
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    for (std::uint32_t copy = 0; copy < copies; ++copy) {
      if (table.accepts[i]) {
        builder.set_accepting(name(i, copy));
      }
      for (std::size_t letter = 0; letter < 3; ++letter) {
        if (const int to = table.next[i][letter]; to >= 0) {
          builder.add_edge(name(i, copy), kLetters[letter], kLetters[letter],
                           name(static_cast<std::uint32_t>(to), copies - 1 - copy));
        }
      }
    }
  }
  Budget budget(1'000'000);
  return *std::move(builder).build(name(0, 0), budget);
}

std::vector<std::vector<int>> words() {
  std::vector<std::vector<int>> out = {{}};
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (int letter = 0; letter < 3 && out[i].size() < kLongest; ++letter) {
      std::vector<int> longer = out[i];
      longer.push_back(letter);
      out.push_back(std::move(longer));
    }
  }
  return out;
}

std::string spell(const std::vector<int>& word) {
  std::string out;
  for (const int letter : word) {
    out += kSpelled[static_cast<std::size_t>(letter)];
  }
  return out;
}

TEST(DfaProperty, OperationsAgreeWithTablesOnEveryShortString) {
  Rng rng(7);
  const std::vector<std::vector<int>> all_words = words();
  for (int round = 0; round < 150; ++round) {
    const Table a = random_table(rng);
    const Table b = random_table(rng);
    const Dfa dfa_a = build(a, false);
    const Dfa dfa_b = build(b, false);
    Budget budget(10'000'000);
    const Dfa both = *dfa_a.intersect(dfa_b, budget);
    const Dfa either = *dfa_a.unite(dfa_b, budget);
    const Dfa neither = *either.complement(budget);
    for (const std::vector<int>& word : all_words) {
      const std::string text = spell(word);
      const bool in_a = a.contains(word);
      const bool in_b = b.contains(word);
      ASSERT_EQ(dfa_a.contains(text), in_a) << round << " " << text;
      ASSERT_EQ(both.contains(text), in_a && in_b) << round << " " << text;
      ASSERT_EQ(either.contains(text), in_a || in_b) << round << " " << text;
      ASSERT_EQ(neither.contains(text), !in_a && !in_b) << round << " " << text;
    }
  }
}

TEST(DfaProperty, LawsHoldBetweenValues) {
  Rng rng(8);
  for (int round = 0; round < 400; ++round) {
    const Table table = random_table(rng);
    const Dfa a = build(table, false);
    const Dfa b = build(random_table(rng), false);
    const Dfa c = build(random_table(rng), true);
    Budget budget(10'000'000);
    const auto with = [&](const Dfa& x, const Dfa& y) { return *x.intersect(y, budget); };
    const auto either = [&](const Dfa& x, const Dfa& y) { return *x.unite(y, budget); };
    const auto other = [&](const Dfa& x) { return *x.complement(budget); };
    ASSERT_EQ(a, build(table, true)) << round;
    ASSERT_EQ(other(other(a)), a);
    ASSERT_EQ(with(a, b), with(b, a));
    ASSERT_EQ(either(a, b), either(b, a));
    ASSERT_EQ(with(a, either(b, c)), either(with(a, b), with(a, c)));
    ASSERT_EQ(other(either(a, b)), with(other(a), other(b)));
    ASSERT_EQ(with(a, other(a)), Dfa());
    ASSERT_EQ(either(a, other(a)), Dfa::all());
    ASSERT_EQ(either(a, with(a, b)), a);
  }
}

// Minimal: two states of the result never accept the same strings; with at most n states, strings
// shorter than n tell them apart.
TEST(DfaProperty, NoTwoStatesAreEqual) {
  Rng rng(9);
  const std::vector<std::vector<int>> all_words = words();
  for (int round = 0; round < 100; ++round) {
    const Dfa dfa = build(random_table(rng), true);
    for (Dfa::State x = 0; x < dfa.states(); ++x) {
      for (Dfa::State y = x + 1; y < dfa.states(); ++y) {
        const auto accepts = [&](Dfa::State state, const std::vector<int>& word) {
          for (const int letter : word) {
            state = dfa.next(state, kLetters[static_cast<std::size_t>(letter)]);
            if (state == Dfa::kDead) {
              return false;
            }
          }
          return dfa.accepts(state);
        };
        bool differ = false;
        for (std::size_t i = 0; i < all_words.size() && !differ; ++i) {
          differ = accepts(x, all_words[i]) != accepts(y, all_words[i]);
        }
        ASSERT_TRUE(differ) << round << ": " << x << " and " << y;
      }
    }
  }
}

TEST(DfaProperty, CountAndListAgree) {
  Rng rng(10);
  int finite = 0;
  for (int round = 0; round < 500; ++round) {
    const Dfa dfa = build(random_table(rng), false);
    const std::uint64_t count = dfa.count(5000);
    const auto list = dfa.list(4999);
    ASSERT_EQ(list.has_value(), count < 5000);
    if (list) {
      ++finite;
      ASSERT_EQ(list->size(), count);
      for (std::size_t i = 0; i < list->size(); ++i) {
        ASSERT_TRUE(dfa.contains((*list)[i]));
        ASSERT_TRUE(i == 0 || (*list)[i - 1] != (*list)[i]);
      }
      Budget budget(1'000'000);
      ASSERT_EQ(*Dfa::strings(*list, budget), dfa);
    }
  }
  EXPECT_GT(finite, 100);
}

}  // namespace
}  // namespace daybreak::grammar
