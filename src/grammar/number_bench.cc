// SPDX-License-Identifier: Apache-2.0
// What one mask costs: all prefixes of up to three digits below one state, as a vocabulary has
// them.

#include <benchmark/benchmark.h>

#include <string_view>

#include "grammar/number_lexer.h"

namespace daybreak::grammar {
namespace {

Decimal dec(std::string_view text) { return *Decimal::parse(text); }

NumberLanguage language(int kind) {
  NumberLanguage out;
  if (kind != 5) {
    out.integers = NumberLanguage::Integers::kOnly;
  }
  if (kind == 1 || kind == 2) {
    out.low = NumberBound{dec("0"), false};
  }
  if (kind == 2) {
    out.high = NumberBound{dec("1000000"), false};
  }
  if (kind == 3) {
    out.multiples = {dec("7")};
  }
  if (kind == 4) {
    out.excluded = {dec("5"), dec("17"), dec("1000")};
  }
  if (kind == 5) {
    out.multiples = {dec("0.01")};
    out.high = NumberBound{dec("999.99"), false};
  }
  return out;
}

constexpr std::string_view kNames[] = {"integer", "minimum 0",  "0 to 1000000",
                                       "7 | x",   "excluded 3", "cents to 999.99"};

std::size_t below(const NumberLexer& lexer, const NumberState& state, int depth) {
  std::size_t steps = 0;
  for (char byte = '0'; byte <= '9'; ++byte) {
    ++steps;
    const auto next = lexer.next(state, byte);
    if (next && depth > 1) {
      steps += below(lexer, *next, depth - 1);
    }
  }
  return steps;
}

void digit_tokens(benchmark::State& run) {
  const NumberLexer lexer(language(static_cast<int>(run.range(0))));
  std::size_t steps = 0;
  for (auto _ : run) {
    steps += below(lexer, NumberState(), 3);
  }
  run.SetLabel(std::string(kNames[run.range(0)]));
  run.SetItemsProcessed(static_cast<std::int64_t>(steps));
}
BENCHMARK(digit_tokens)->DenseRange(0, 5);

void make_lexer(benchmark::State& run) {
  for (auto _ : run) {
    benchmark::DoNotOptimize(NumberLexer(language(static_cast<int>(run.range(0)))));
  }
}
BENCHMARK(make_lexer)->DenseRange(0, 5);

void meet(benchmark::State& run) {
  for (auto _ : run) {
    Budget budget(1'000'000);
    benchmark::DoNotOptimize(intersect(language(2), language(3), budget));
  }
}
BENCHMARK(meet);

}  // namespace
}  // namespace daybreak::grammar
