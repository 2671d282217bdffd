// SPDX-License-Identifier: Apache-2.0
#pragma once

// Fingerprints of id sequences, for comparing long ones with other implementations. Test code only.

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

#include "base/token.h"

namespace daybreak::tokenizer {

// Returns 64-bit FNV-1a over the ids, each taken as one unit (not as four bytes), in hex.
inline std::string ids_fnv1a64(std::span<const TokenId> ids) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const TokenId id : ids) {
    hash = (hash ^ id) * 0x00000100000001B3;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace daybreak::tokenizer
