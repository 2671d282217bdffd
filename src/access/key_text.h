// SPDX-License-Identifier: Apache-2.0
#pragma once

// The text of a key: "sk-db-" and 43 random letters and digits, 256 bits.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace daybreak::access {

inline constexpr std::string_view kKeyTextStart = "sk-db-";
inline constexpr std::size_t kKeyTextRandom = 43;  // 62^43 > 2^256
inline constexpr std::size_t kKeyTextBytes = kKeyTextStart.size() + kKeyTextRandom;
// What is stored and shown of a key: leaves 220 bits unknown.
inline constexpr std::size_t kKeyPrefixBytes = 12;

// Returns a new one, uniform over all. Errors: those of random_bytes().
[[nodiscard]] Result<std::string> generate_key_text();

// Whether `text` has the form of a key.
[[nodiscard]] bool is_key_text(std::string_view text);

}  // namespace daybreak::access
