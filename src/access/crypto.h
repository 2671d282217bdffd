// SPDX-License-Identifier: Apache-2.0
#pragma once

// The three primitives keys need: HMAC-SHA-256 (RFC 2104, FIPS 180-4), random bytes and comparison
// in constant time. A cover over OpenSSL's libcrypto.

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"

namespace daybreak::access {

using Digest = std::array<unsigned char, 32>;

// Thread-safe. Errors: kIo if libcrypto refuses (out of memory).
[[nodiscard]] Result<Digest> hmac_sha256(std::span<const unsigned char> key, std::string_view text);

// Fills `out` from the system's cryptographic generator. Errors: kIo if it has no entropy.
[[nodiscard]] Status random_bytes(std::span<unsigned char> out);

// Takes the same time whatever the bytes are.
[[nodiscard]] bool equal_in_constant_time(const Digest& a, const Digest& b);

}  // namespace daybreak::access
