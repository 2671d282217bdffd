// SPDX-License-Identifier: Apache-2.0
#include "base/human_units.h"

#include <array>
#include <cstdio>

namespace daybreak {
namespace {

std::string fixed(double value, int decimals) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string two_digits(std::uint64_t value) {
  return (value < 10 ? "0" : "") + std::to_string(value);
}

}  // namespace

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) {
    return std::to_string(bytes) + " B";
  }
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fixed(value, decimals) + " " + kUnits[unit];
}

std::string human_count(std::uint64_t count) {
  const auto value = static_cast<double>(count);
  if (count >= 999'999'500'000u) {
    return fixed(value / 1e12, 4) + " T";
  }
  if (count >= 999'995'000u) {
    return fixed(value / 1e9, 2) + " B";
  }
  if (count >= 1'000'000u) {
    return fixed(value / 1e6, 2) + " M";
  }
  return grouped(count);
}

std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string human_duration(std::uint64_t seconds) {
  const std::uint64_t minutes = seconds / 60;
  if (minutes < 60) {
    return std::to_string(minutes) + ":" + two_digits(seconds % 60);
  }
  return std::to_string(minutes / 60) + ":" + two_digits(minutes % 60) + ":" +
         two_digits(seconds % 60);
}

}  // namespace daybreak
