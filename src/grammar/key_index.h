// SPDX-License-Identifier: Apache-2.0
#pragma once

// KeyIndex: members of JSON objects by name, for loops that ask the same objects often. What a
// client sends may have tens of thousands of members; asked one by one they would cost a square.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json_tree.h"

namespace daybreak::grammar {

// Not thread-safe. The objects asked about must outlive the index and stay as they are.
class KeyIndex {
 public:
  // Returns the index of the member `name`. REQUIRES: `object` is an object.
  [[nodiscard]] std::optional<std::size_t> find(const JsonNode& object, std::string_view name) {
    const auto key = [&object](std::uint32_t i) -> std::string_view { return object.keys[i]; };
    if (object.keys.size() <= kFew) {
      const auto at = std::ranges::find(object.keys, name);
      return at == object.keys.end()
                 ? std::nullopt
                 : std::optional(static_cast<std::size_t>(at - object.keys.begin()));
    }
    auto [known, added] = orders_.try_emplace(&object);
    std::vector<std::uint32_t>& order = known->second;
    if (added) {
      order.resize(object.keys.size());
      std::iota(order.begin(), order.end(), 0U);
      std::ranges::sort(order, {}, key);
    }
    const auto at = std::ranges::lower_bound(order, name, {}, key);
    return at != order.end() && object.keys[*at] == name ? std::optional<std::size_t>(*at)
                                                         : std::nullopt;
  }

 private:
  static constexpr std::size_t kFew = 16;  // below, a search through all is faster than sorting
  std::unordered_map<const JsonNode*, std::vector<std::uint32_t>> orders_;
};

}  // namespace daybreak::grammar
