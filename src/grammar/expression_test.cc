// SPDX-License-Identifier: Apache-2.0

#include "grammar/expression.h"

#include <gtest/gtest.h>

namespace daybreak::grammar {
namespace {

using Kind = Expression::Kind;

TEST(Expression, SequencesAndChoicesAreFlattened) {
  const auto a = bytes("a");
  const auto both = sequence({sequence({a, rule(1)}), bytes(""), marker(7)});
  ASSERT_EQ(both->kind, Kind::kSequence);
  ASSERT_EQ(both->items.size(), 3U);
  EXPECT_EQ(both->items[0], a);
  EXPECT_EQ(both->items[1]->rule, 1U);
  EXPECT_EQ(both->items[2]->marker, 7U);
  const auto any = choice({choice({a, rule(1)}), choice({}), bytes("")});
  ASSERT_EQ(any->kind, Kind::kChoice);
  EXPECT_EQ(any->items.size(), 3U);
}

TEST(Expression, SingleItemsAreUnwrapped) {
  const auto a = bytes("a");
  EXPECT_EQ(sequence({bytes(""), a}), a);
  EXPECT_EQ(choice({a}), a);
  EXPECT_EQ(repeat(a, 1, 1), a);
  EXPECT_EQ(sequence({})->kind, Kind::kBytes);
  EXPECT_EQ(choice({})->kind, Kind::kChoice);
}

TEST(Expression, RepetitionsOfNothingAreTheEmptyText) {
  EXPECT_EQ(repeat(bytes("a"), 0, 0)->kind, Kind::kBytes);
  EXPECT_EQ(repeat(bytes(""), 2, Expression::kNoMax)->kind, Kind::kBytes);
  const auto maybe = optional(bytes("a"));
  EXPECT_EQ(maybe->kind, Kind::kRepeat);
  EXPECT_EQ(maybe->min, 0U);
  EXPECT_EQ(maybe->max, 1U);
}

}  // namespace
}  // namespace daybreak::grammar
