// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers as a person reads them. Tables print these beside the exact figure, never instead of it.

#include <cstdint>
#include <string>

namespace daybreak {

// Returns "1.56 TB", "27.6 kB", "512 B": three significant digits, powers of 1000.
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

// Returns "2.7799 T", "104.19 B", "33.03 M", "7,168": parameters, tensors and the like.
[[nodiscard]] std::string human_count(std::uint64_t count);

// Returns "1,560,860,324,864".
[[nodiscard]] std::string grouped(std::uint64_t value);

// Returns "0:07", "12:30", "1:02:03".
[[nodiscard]] std::string human_duration(std::uint64_t seconds);

}  // namespace daybreak
