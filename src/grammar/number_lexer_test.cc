// SPDX-License-Identifier: Apache-2.0
#include "grammar/number_lexer.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
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

// Returns "dead at N", "open" or "member" for a text.
std::string verdict(const NumberLanguage& language, std::string_view text,
                    std::vector<Decimal> also = {}) {
  const NumberLexer lexer(language);
  NumberState state(NumberText::kKeep);
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto next = lexer.next(state, text[i], also);
    if (!next) {
      return "dead at " + std::to_string(i);
    }
    state = *std::move(next);
  }
  if (!lexer.accepts(state, also)) {
    return "open";
  }
  EXPECT_EQ(state.value(), dec(text));
  return "member";
}

TEST(NumberLexer, SpellsEveryJsonNumberWithoutRestrictions) {
  for (const char* text : {"0", "-0", "-0.0", "1", "-12.50", "1e5", "1E+05", "0.1e-999", "100"}) {
    EXPECT_EQ(verdict({}, text), "member") << text;
  }
  for (const char* text : {"", "-", "1.", "1e", "1e+", "-0.", "0E-"}) {
    EXPECT_EQ(verdict({}, text), "open") << text;
  }
  EXPECT_EQ(verdict({}, "01"), "dead at 1");
  EXPECT_EQ(verdict({}, "-01"), "dead at 2");
  EXPECT_EQ(verdict({}, "--"), "dead at 1");
  EXPECT_EQ(verdict({}, "+1"), "dead at 0");
  EXPECT_EQ(verdict({}, ".5"), "dead at 0");
  EXPECT_EQ(verdict({}, "1.."), "dead at 2");
  EXPECT_EQ(verdict({}, "1e1234"), "dead at 5");
  EXPECT_EQ(verdict({}, "1.e"), "dead at 2");
  EXPECT_EQ(verdict({}, "1e5.0"), "dead at 3");
}

TEST(NumberLexer, AllowsIntegersAFractionOfZerosAndNoExponent) {
  EXPECT_EQ(verdict(integers(), "-17.000"), "member");
  EXPECT_EQ(verdict(integers(), "1."), "open");
  EXPECT_EQ(verdict(integers(), "1.01"), "dead at 3");
  EXPECT_EQ(verdict(integers(), "1e2"), "dead at 1");
  EXPECT_EQ(verdict(integers(from("0")), "-0.0"), "member");
  EXPECT_EQ(verdict(integers(from("0")), "-1"), "dead at 1");
  EXPECT_EQ(verdict(integers(above("0")), "-"), "dead at 0");
  EXPECT_EQ(verdict(integers(above("0")), "0"), "dead at 0");
}

TEST(NumberLexer, KeepsToBoundsExactly) {
  const NumberLanguage tenth = up_to("0.1", from("0.1"));
  EXPECT_EQ(verdict(tenth, "0.1"), "member");
  EXPECT_EQ(verdict(tenth, "0.100"), "member");
  EXPECT_EQ(verdict(tenth, "0."), "open");
  EXPECT_EQ(verdict(tenth, "0.1001"), "dead at 5");
  EXPECT_EQ(verdict(tenth, "0.0"), "dead at 2");
  const NumberLanguage open = below("0.2", above("0.1"));
  EXPECT_EQ(verdict(open, "0.1"), "open");
  EXPECT_EQ(verdict(open, "0.1" + std::string(390, '0')), "open");
  EXPECT_EQ(verdict(open, "0.1" + std::string(396, '0') + "1"), "member");
  EXPECT_EQ(verdict(open, "0.1" + std::string(397, '0')), "dead at 399");
  EXPECT_EQ(verdict(open, "0.2"), "dead at 2");
  EXPECT_EQ(verdict(up_to("1e308"), "1" + std::string(308, '0')), "member");
  EXPECT_EQ(verdict(up_to("1e308"), "1" + std::string(308, '0') + ".0"), "member");
  EXPECT_EQ(verdict(up_to("1e308"), "1" + std::string(307, '0') + "1"), "dead at 308");
  EXPECT_EQ(verdict(up_to("1e308"), std::string(308, '9')), "member");
  EXPECT_EQ(verdict(up_to("1e308"), std::string(309, '9')), "dead at 308");
  EXPECT_EQ(verdict(from("-1e308"), "-1" + std::string(308, '0')), "member");
  EXPECT_EQ(verdict(from("-1e308"), "-2" + std::string(308, '0')), "dead at 309");
  EXPECT_EQ(verdict(from("1e308"), "1" + std::string(200, '0')), "open");
  EXPECT_EQ(verdict(from("1e308"), "-"), "dead at 0");
  EXPECT_EQ(verdict(integers(up_to("-5")), "-4"), "open");
  EXPECT_EQ(verdict(integers(up_to("-5")), "-4."), "dead at 2");
  EXPECT_EQ(verdict(integers(up_to("12", from("-3"))), "13"), "dead at 1");
  EXPECT_EQ(verdict(integers(up_to("12", from("-3"))), "2"), "member");
  EXPECT_EQ(verdict(integers(up_to("12", from("-3"))), "20"), "dead at 1");
}

TEST(NumberLexer, KeepsToMultiplesExactly) {
  const NumberLanguage cents = multiples({"0.01"}, up_to("20", from("19.99")));
  EXPECT_EQ(verdict(cents, "19.99"), "member");
  EXPECT_EQ(verdict(cents, "19.98"), "dead at 4");
  EXPECT_EQ(verdict(cents, "20.000"), "member");
  EXPECT_EQ(verdict(cents, "20.001"), "dead at 5");
  EXPECT_EQ(verdict(multiples({"1e-8"}), "12391239123"), "member");
  EXPECT_EQ(verdict(multiples({"1e-8"}), "12391239123.12345678"), "member");
  EXPECT_EQ(verdict(multiples({"1e-8"}), "12391239123.123456789"), "dead at 20");
  EXPECT_EQ(verdict(multiples({"0.0001"}), "0.0075"), "member");
  EXPECT_EQ(verdict(multiples({"0.0001"}), "0.00751"), "dead at 6");
  EXPECT_EQ(verdict(multiples({"20"}), "3"), "open");
  EXPECT_EQ(verdict(multiples({"20"}), "3."), "dead at 1");
  EXPECT_EQ(verdict(multiples({"2", "3", "5"}), "30"), "member");
  EXPECT_EQ(verdict(multiples({"2", "3", "5"}, up_to("59", from("31"))), "-"), "dead at 0");
  EXPECT_EQ(verdict(multiples({"0.75", "0.5"}), "1.5"), "member");
  EXPECT_EQ(verdict(multiples({"0.75", "0.5"}), "1.7"), "dead at 2");
  // Only 0 is a multiple of something that cannot be spelled.
  EXPECT_EQ(verdict(multiples({"1e999999999"}), "0.00"), "member");
  EXPECT_EQ(verdict(multiples({"1e999999999"}), "1"), "dead at 0");
  EXPECT_EQ(verdict(multiples({"1e-999999999"}), "1.234"), "member");
  EXPECT_EQ(verdict(multiples({"123456789123456789123456789"}), "123456789123456789123456789"),
            "member");
  EXPECT_EQ(verdict(multiples({"123456789123456789123456789"}), "123456789123456789123456788"),
            "open");
}

TEST(NumberLexer, KeepsFromWhatIsExcluded) {
  NumberLanguage not_seven = integers();
  not_seven.excluded = {dec("7")};
  EXPECT_EQ(verdict(not_seven, "7"), "open");
  EXPECT_EQ(verdict(not_seven, "7."), "dead at 1");
  EXPECT_EQ(verdict(not_seven, "70"), "member");
  EXPECT_EQ(verdict(not_seven, "-7"), "member");
  EXPECT_EQ(verdict(integers(up_to("9", from("0"))), "7", {dec("7")}), "dead at 0");
  EXPECT_EQ(verdict({}, "7.50", {dec("7.5")}), "open");
  EXPECT_EQ(verdict({}, "7.501", {dec("7.5")}), "member");
  EXPECT_EQ(verdict({}, "7e0", {dec("7")}), "dead at 1");
  EXPECT_EQ(verdict({}, "-0.0", {dec("0")}), "open");
  std::vector<Decimal> digits;
  for (int i = 0; i < 10; ++i) {
    digits.emplace_back(i);
  }
  EXPECT_EQ(verdict(integers(up_to("9", from("0"))), "-", digits), "dead at 0");
  NumberLanguage fraction;
  fraction.integers = NumberLanguage::Integers::kNone;
  EXPECT_EQ(verdict(fraction, "5"), "open");
  EXPECT_EQ(verdict(fraction, "5.00"), "open");
  EXPECT_EQ(verdict(fraction, "5.001"), "member");
  EXPECT_EQ(verdict(fraction, std::string(398, '5')), "open");
  EXPECT_EQ(verdict(fraction, std::string(399, '5')), "dead at 398");
}

TEST(NumberLexer, EndsAtItsBoundOfBytes) {
  EXPECT_EQ(verdict(integers(), std::string(kMaxNumberBytes, '1')), "member");
  EXPECT_EQ(verdict(integers(), std::string(kMaxNumberBytes + 1, '1')), "dead at 400");
  EXPECT_EQ(verdict({}, std::string(kMaxNumberBytes - 1, '1') + "."), "dead at 399");
  EXPECT_EQ(verdict(multiples({"7"}), std::string(kMaxNumberBytes - 1, '1')), "open");
}

// How many states there are, over all texts of up to `depth` bytes.
std::size_t states(const NumberLanguage& language, std::size_t depth) {
  const NumberLexer lexer(language);
  std::unordered_multimap<std::uint64_t, NumberState> seen;
  std::vector<NumberState> level{NumberState()};
  for (std::size_t i = 0; i < depth; ++i) {
    std::vector<NumberState> above;
    for (const NumberState& state : level) {
      for (const char byte : std::string("0123456789-+.eE")) {
        const auto next = lexer.next(state, byte);
        if (!next) {
          continue;
        }
        const auto [begin, end] = seen.equal_range(next->hash());
        if (std::none_of(begin, end, [&](const auto& item) { return item.second == *next; })) {
          seen.emplace(next->hash(), *next);
          above.push_back(*next);
        }
      }
    }
    level = std::move(above);
  }
  return seen.size();
}

TEST(NumberLexer, HasFewStates) {
  EXPECT_EQ(states({}, 12), 10u);         // - 0 1 . .0 e e+ and three counts of exponent digits
  EXPECT_EQ(states(integers(), 12), 5u);  // - 0 1 . .0
  EXPECT_LE(states(integers(from("0")), 12), 6u);
  EXPECT_LE(states(integers(up_to("1000000", from("1"))), 12), 30u);
  EXPECT_LE(states(from("0", up_to("1")), 30), 10u);
  EXPECT_LE(states(integers(up_to("9007199254740991", from("-9007199254740991"))), 24), 80u);
  EXPECT_LE(states(up_to("1.7976931348623157e308", from("-1.7976931348623157e308")), 20), 90u);
  EXPECT_LE(states(multiples({"0.01"}), 20), 7u);
  EXPECT_LE(states(multiples({"7"}), 20), 12u);
}

}  // namespace
}  // namespace daybreak::grammar
