// SPDX-License-Identifier: Apache-2.0
#include "grammar/number_language.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "grammar/number_test_language.h"

namespace daybreak::grammar {
namespace {

using testing::above;
using testing::below;
using testing::dec;
using testing::from;
using testing::integers;
using testing::multiples;
using testing::up_to;

constexpr std::uint64_t kAmple = 1'000'000;

bool empty(const NumberLanguage& a, const NumberLanguage& b = {}) {
  Budget budget(kAmple);
  const auto both = intersect(a, b, budget);
  EXPECT_TRUE(both);
  return !both || !*both;
}

TEST(NumberLanguage, IsEmptyExactlyWhenNoNumberIsInIt) {
  EXPECT_TRUE(empty(integers(), up_to("3.7", from("3.5"))));
  EXPECT_FALSE(empty(integers(), up_to("4", from("3.5"))));
  EXPECT_TRUE(empty(integers(), below("1", above("0"))));
  EXPECT_FALSE(empty(below("1", above("0"))));
  EXPECT_TRUE(empty(above("0"), up_to("0")));
  EXPECT_FALSE(empty(from("0"), up_to("0")));
  EXPECT_TRUE(empty(from("1"), up_to("0")));
  EXPECT_TRUE(empty(multiples({"7"}), up_to("13", from("8"))));
  EXPECT_FALSE(empty(multiples({"7"}), up_to("14", from("8"))));
  EXPECT_TRUE(empty(multiples({"0.3"}), below("0.6", above("0.3"))));
  NumberLanguage odd = integers();
  odd.not_multiples = {dec("2")};
  EXPECT_TRUE(empty(odd, multiples({"2"})));
  EXPECT_TRUE(empty(odd, multiples({"4"})));
  EXPECT_FALSE(empty(odd, multiples({"3"})));
  EXPECT_TRUE(empty(odd, multiples({"0.4"})));
  NumberLanguage fractions;
  fractions.integers = NumberLanguage::Integers::kNone;
  EXPECT_TRUE(empty(fractions, integers()));
  EXPECT_TRUE(empty(fractions, multiples({"3"})));
  EXPECT_FALSE(empty(fractions, multiples({"1.5"})));
  EXPECT_TRUE(empty(fractions, up_to("2", from("2"))));
  NumberLanguage without = integers(up_to("2", from("1")));
  without.excluded = {dec("1"), dec("2")};
  EXPECT_TRUE(empty(without));
  without.excluded = {dec("1"), dec("1.5")};
  EXPECT_FALSE(empty(without));
  // Beyond every spelling of kMaxNumberBytes.
  EXPECT_TRUE(empty(from("1e400")));
  EXPECT_FALSE(empty(from("1e399")));
  EXPECT_TRUE(empty(up_to("-1e399")));
  EXPECT_TRUE(empty(up_to("1e-399", from("1e-399"))));
  EXPECT_FALSE(empty(up_to("1e-398", from("1e-398"))));
  EXPECT_TRUE(empty(from("1e999999999")));
  EXPECT_FALSE(empty(up_to("1e999999999", from("-1e999999999"))));
}

TEST(NumberLanguage, DropsWhatIsImplied) {
  Budget budget(kAmple);
  const auto both = intersect(integers(multiples({"2", "0.01"})), multiples({"4", "6"}), budget);
  ASSERT_TRUE(both && *both);
  EXPECT_EQ((*both)->multiples, (std::vector<Decimal>{dec("4"), dec("6")}));
  const auto whole = intersect(multiples({"1"}), {}, budget);
  ASSERT_TRUE(whole && *whole);
  EXPECT_EQ((**whole), integers());
  EXPECT_EQ((*whole)->hash(), integers().hash());
  const auto bounds = intersect(from("3", up_to("9")), above("3", below("9.5")), budget);
  ASSERT_TRUE(bounds && *bounds);
  EXPECT_EQ(**bounds, above("3", up_to("9")));
}

TEST(NumberLanguage, BoundsNegatedMultiples) {
  NumberLanguage language;
  for (const int prime : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29}) {
    language.not_multiples.emplace_back(prime);
  }
  ASSERT_EQ(language.not_multiples.size(), kMaxNotMultiples);
  EXPECT_FALSE(empty(language));
  EXPECT_EQ(count(integers(up_to("100", from("0", language))), 1'000), 16u);  // 1, 31 to 97
  Budget budget(kAmple);
  NumberLanguage one;
  one.not_multiples = {dec("31")};
  const auto more = intersect(language, one, budget);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Errc::kUnsupported);
  EXPECT_NE(more.error().message.find("multipleOf"), std::string::npos);
}

TEST(NumberLanguage, Counts) {
  EXPECT_EQ(count(integers(up_to("10", from("-10"))), 100), 21u);
  EXPECT_EQ(count(integers(up_to("10", from("-10"))), 20), 20u);
  EXPECT_EQ(count(integers(up_to("0", from("0"))), 20), 1u);
  EXPECT_EQ(count(multiples({"0.25"}, below("1", above("-1"))), 100), 7u);
  EXPECT_EQ(count(up_to("1", from("0")), 1'000'000), 1'000'000u);
  EXPECT_EQ(count({}, ~std::uint64_t{0}), ~std::uint64_t{0});
  EXPECT_EQ(count(integers(below("1", above("0"))), 5), 0u);
  NumberLanguage odd = integers(up_to("10", from("-10")));
  odd.not_multiples = {dec("2"), dec("3")};
  EXPECT_EQ(count(odd, 100), 6u);  // +-1, 5, 7
  odd.excluded = {dec("-5"), dec("2"), dec("7"), dec("99")};
  EXPECT_EQ(count(odd, 100), 4u);
  // 399 digits leave no room for a fraction, 398 for one digit.
  const std::string nines(398, '9');
  EXPECT_EQ(count(up_to("1e398", from(nines)), 100), 11u);
}

TEST(NumberLanguage, ComplementHasEveryOtherNumber) {
  Budget budget(kAmple);
  NumberLanguage language = integers(multiples({"3"}, below("10", from("-4.5"))));
  language.not_multiples = {dec("2")};
  language.excluded = {dec("9")};
  const std::vector<NumberLanguage> others = *complement(language, budget);
  for (int i = -400; i < 400; ++i) {
    const Decimal value = Decimal::scaled(i < 0, std::to_string(i < 0 ? -i : i), -1);
    const bool other = std::ranges::any_of(
        others, [&](const NumberLanguage& one) { return contains(one, value); });
    EXPECT_EQ(other, !contains(language, value)) << i;
  }
  EXPECT_TRUE(complement({}, budget)->empty());
}

}  // namespace
}  // namespace daybreak::grammar
