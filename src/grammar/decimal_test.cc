// SPDX-License-Identifier: Apache-2.0
#include "grammar/decimal.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "grammar/big_natural.h"

namespace daybreak::grammar {
namespace {

Decimal dec(std::string_view text) {
  auto value = Decimal::parse(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : Decimal();
}

TEST(Decimal, IsOneValueForEverySpelling) {
  for (const char* text : {"1", "1.0", "10e-1", "0.1e1", "1.000E+0", "1e-0", "1000e-3"}) {
    EXPECT_EQ(dec(text), Decimal(1)) << text;
  }
  for (const char* text : {"0", "-0", "0.00", "-0.0e5", "0e99999999999999999999", "0E-7"}) {
    EXPECT_EQ(dec(text), Decimal()) << text;
    EXPECT_FALSE(dec(text).negative());
  }
  EXPECT_EQ(dec("-1.50").digits(), "15");
  EXPECT_EQ(dec("-1.50").exponent(), -1);
  EXPECT_TRUE(dec("-1.50").negative());
  EXPECT_EQ(dec("1200").exponent(), 2);
  EXPECT_EQ(Decimal(std::numeric_limits<std::int64_t>::min()), dec("-9223372036854775808"));
  EXPECT_EQ(Decimal(-1200), dec("-12e2"));
  EXPECT_EQ(Decimal::scaled(true, "000", 7), Decimal());
  EXPECT_EQ(Decimal::scaled(true, "0120", -2), dec("-1.2"));
}

TEST(Decimal, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "-", "+1", "01", "-01", ".5", "1.", "1.e5", "1e", "1e+", "1 ", " 1",
                           "0x1", "1e5.0", "NaN", "--1", "1e1e1", "00"}) {
    const auto value = Decimal::parse(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code, Errc::kInvalidArgument) << text;
  }
}

TEST(Decimal, BoundsSpellingAndExponent) {
  EXPECT_TRUE(Decimal::parse(std::string(kMaxDecimalBytes, '9')));
  EXPECT_TRUE(Decimal::parse("1e1000000000"));
  EXPECT_TRUE(Decimal::parse("1e-01000000000"));
  for (const std::string& text :
       {std::string(kMaxDecimalBytes + 1, '9'), std::string("1e1000000001"),
        std::string("1e-1000000001"), std::string("1e99999999999999999999999")}) {
    const auto value = Decimal::parse(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code, Errc::kTooLarge);
  }
}

TEST(Decimal, ComparesExactly) {
  const std::vector<std::string> ascending = {"-1e999999999",
                                              "-1e400",
                                              "-1e399",
                                              "-12.5",
                                              "-12.25",
                                              "-12",
                                              "-0.1",
                                              "-1e-999999999",
                                              "0",
                                              "1e-1000",
                                              "0.1",
                                              "0.10000000000000000001",
                                              "0.11",
                                              "1",
                                              "1.5",
                                              "9.99",
                                              "10",
                                              "99",
                                              "100",
                                              "123",
                                              "1230",
                                              "1e399",
                                              "1e400",
                                              "1e999999999"};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(dec(ascending[i]) <=> dec(ascending[j]), i <=> j)
          << ascending[i] << " " << ascending[j];
    }
  }
}

TEST(Decimal, KnowsMultiplesExactly) {
  EXPECT_TRUE(dec("1e308").multiple_of(dec("0.5")));
  EXPECT_FALSE(dec("1e308").multiple_of(dec("0.123456789")));
  EXPECT_TRUE(dec("123456789e300").multiple_of(dec("0.123456789")));
  EXPECT_TRUE(dec("0.0075").multiple_of(dec("0.0001")));
  EXPECT_FALSE(dec("0.00751").multiple_of(dec("0.0001")));
  EXPECT_TRUE(dec("19.99").multiple_of(dec("0.01")));
  EXPECT_TRUE(dec("12391239123").multiple_of(dec("1e-8")));
  EXPECT_TRUE(dec("0").multiple_of(dec("7")));
  EXPECT_TRUE(dec("-21").multiple_of(dec("7")));
  EXPECT_FALSE(dec("-22").multiple_of(dec("7")));
  EXPECT_TRUE(dec("1e999999999").multiple_of(dec("1e-999999999")));
  EXPECT_FALSE(dec("1e-999999999").multiple_of(dec("1e999999999")));
  EXPECT_TRUE(dec("1e999999999").multiple_of(dec("8")));
  EXPECT_FALSE(dec("1e999999999").multiple_of(dec("3")));
  EXPECT_TRUE(dec("3e999999999").multiple_of(dec("24e-5")));
  EXPECT_FALSE(dec("1000").multiple_of(dec("16")));
  EXPECT_TRUE(dec("10000").multiple_of(dec("16")));
  EXPECT_FALSE(dec("5").multiple_of(dec("10")));
  // 2^100: the zeros that matter are as many as its factors.
  EXPECT_TRUE(dec("1e100").multiple_of(dec("1267650600228229401496703205376")));
  EXPECT_FALSE(dec("1e99").multiple_of(dec("1267650600228229401496703205376")));
  const std::string longest(kMaxDecimalBytes, '7');
  EXPECT_TRUE(dec(longest).multiple_of(dec(longest)));
  EXPECT_FALSE(dec("1e999999999").multiple_of(dec(longest)));
}

TEST(Decimal, WritesWhatItReadsBack) {
  EXPECT_EQ(dec("1.50").to_string(), "1.5");
  EXPECT_EQ(dec("-0.001").to_string(), "-0.001");
  EXPECT_EQ(dec("1e20").to_string(), "100000000000000000000");
  EXPECT_EQ(dec("1e21").to_string(), "1e21");
  EXPECT_EQ(dec("12e-300").to_string(), "1.2e-299");
  EXPECT_EQ(dec("0").to_string(), "0");
  for (const char* text : {"1", "-12.75", "1e999999999", "-3.25e-77", "0.1", "1e-20", "100", "5e20",
                           "123456789012345678901234567890.5"}) {
    EXPECT_EQ(dec(dec(text).to_string()), dec(text)) << text;
  }
}

TEST(Decimal, AgreesWithWholeNumberArithmetic) {
  Rng rng(11);
  for (int i = 0; i < 20'000; ++i) {
    const auto a = static_cast<std::int64_t>(rng.next() % 20'001) - 10'000;
    const auto b = static_cast<std::int64_t>(rng.next() % 300) + 1;
    const auto scale = static_cast<std::int64_t>(rng.next() % 5);
    const Decimal x = Decimal::scaled(a < 0, std::to_string(a < 0 ? -a : a), -scale);
    const Decimal y = Decimal::scaled(false, std::to_string(b), -scale);
    EXPECT_EQ(x.multiple_of(y), a % b == 0) << a << " " << b;
    EXPECT_EQ(x <=> y, a <=> b);
    EXPECT_EQ(x == y, a == b);
  }
}

// (a * b + c) / b == a for c < b, across the sizes at which limbs carry.
TEST(BigNatural, DividesWhatItMultiplied) {
  Rng rng(5);
  const auto random = [&](std::size_t digits) {
    std::string text;
    for (std::size_t i = 0; i < digits; ++i) {
      const std::uint64_t kind = rng.next() % 4;
      text += kind == 0 ? '0' : kind == 1 ? '9' : static_cast<char>('0' + rng.next() % 10);
    }
    return BigNatural::from_digits(text);
  };
  for (int i = 0; i < 5'000; ++i) {
    const BigNatural a = random(rng.next() % 60);
    const BigNatural b = random(rng.next() % 60) + BigNatural(1);
    const BigNatural c = random(rng.next() % 70) % b;
    ASSERT_LT(c, b);
    const auto [quotient, rest] = (a * b + c).divide(b);
    ASSERT_EQ(quotient, a);
    ASSERT_EQ(rest, c);
    ASSERT_EQ(a * b + c - c, b * a);
    ASSERT_EQ(BigNatural::from_digits(a.to_string()), a);
    ASSERT_TRUE((lcm(a + BigNatural(1), b) % b).zero());
  }
}

// The estimate of a quotient limb that is two too high, and the step that takes one divisor back.
TEST(BigNatural, CorrectsItsQuotientEstimates) {
  const auto shift = [](std::uint64_t high, int bits) {
    BigNatural out(high);
    for (int i = 0; i < bits; ++i) {
      out = out + out;
    }
    return out;
  };
  const BigNatural b = shift(0x80000000, 64) + BigNatural(1);
  for (const BigNatural& a : {shift(0x7fffffff, 96) + shift(0x80000000, 64), shift(0x80000000, 96),
                              shift(1, 159) - BigNatural(1)}) {
    const auto [quotient, rest] = a.divide(b);
    EXPECT_LT(rest, b);
    EXPECT_EQ(quotient * b + rest, a);
  }
  EXPECT_EQ(BigNatural::pow10(30).to_string(), "1" + std::string(30, '0'));
  EXPECT_EQ(BigNatural(0).to_string(), "0");
  EXPECT_TRUE(BigNatural::pow10(9).saturated() == 1'000'000'000u);
  EXPECT_TRUE(BigNatural::pow10(38).saturated() / 10'000'000'000'000'000'000u ==
              10'000'000'000'000'000'000u);
  EXPECT_TRUE(BigNatural::pow10(39).saturated() == ~static_cast<unsigned __int128>(0));
}

}  // namespace
}  // namespace daybreak::grammar
