// SPDX-License-Identifier: Apache-2.0
#pragma once

// Random bits from the operating system, for names and default seeds: never for anything that has
// to be repeatable.

#include <cstdint>

namespace daybreak::api {

// Returns 64 uniform bits. Thread-safe.
[[nodiscard]] std::uint64_t random_bits();

}  // namespace daybreak::api
