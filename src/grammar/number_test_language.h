// SPDX-License-Identifier: Apache-2.0
#pragma once

// Number languages of tests, as short as the keywords they stand for.

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "grammar/number_language.h"

namespace daybreak::grammar::testing {

inline Decimal dec(std::string_view text) {
  auto value = Decimal::parse(text);
  EXPECT_TRUE(value) << text;
  return value ? *std::move(value) : Decimal();
}

inline NumberLanguage integers(NumberLanguage base = {}) {
  base.integers = NumberLanguage::Integers::kOnly;
  return base;
}
inline NumberLanguage from(std::string_view low, NumberLanguage base = {}) {
  base.low = NumberBound{dec(low), false};
  return base;
}
inline NumberLanguage above(std::string_view low, NumberLanguage base = {}) {
  base.low = NumberBound{dec(low), true};
  return base;
}
inline NumberLanguage up_to(std::string_view high, NumberLanguage base = {}) {
  base.high = NumberBound{dec(high), false};
  return base;
}
inline NumberLanguage below(std::string_view high, NumberLanguage base = {}) {
  base.high = NumberBound{dec(high), true};
  return base;
}
inline NumberLanguage multiples(std::initializer_list<std::string_view> steps,
                                NumberLanguage base = {}) {
  for (const std::string_view step : steps) {
    base.multiples.push_back(dec(step));
  }
  std::ranges::sort(base.multiples);
  return base;
}

}  // namespace daybreak::grammar::testing
