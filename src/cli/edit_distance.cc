// SPDX-License-Identifier: Apache-2.0
#include "cli/edit_distance.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace daybreak::cli {
namespace {

constexpr std::size_t kLongestCompared = 64;  // no name is longer: the rest only costs time

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string_view nearest_name(std::string_view wrong, std::span<const std::string_view> names) {
  wrong = wrong.substr(0, kLongestCompared);
  std::string_view nearest;
  std::size_t best = std::numeric_limits<std::size_t>::max();
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(wrong, name);
    if (distance < best) {
      best = distance;
      nearest = name;
    }
  }
  return best <= nearest.size() / 2 ? nearest : std::string_view();
}

}  // namespace daybreak::cli
