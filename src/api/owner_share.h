// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace daybreak::api {

// How much of what all share one owner (access::owner_of()) may have, so that nobody keeps
// everybody else out. What belongs to nobody, as on a server without keys, may be all of it.
struct OwnerShare {
  std::size_t percent = 100;  // 1 to 100

  // At least 1 of what is not 0.
  [[nodiscard]] std::uint64_t of(std::uint64_t all, std::string_view owner) const {
    const std::uint64_t share = all / 100 * percent + all % 100 * percent / 100;
    return owner.empty() ? all : std::max<std::uint64_t>(share, std::min<std::uint64_t>(all, 1));
  }
};

}  // namespace daybreak::api
