// SPDX-License-Identifier: Apache-2.0
#pragma once

// Non-cryptographic 64-bit hashes with fixed definitions: their values are part of outputs and
// files, so they never change.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace daybreak {

// Returns a bijective scramble of x in which every input bit changes about half of the output bits
// (the finaliser of SplitMix64; Steele, Lea, Flood 2014).
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}
// Of a sequence: the hash of what came before, and one value more.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t hash, std::uint64_t value) {
  return mix64(hash ^ mix64(value));
}

inline constexpr std::uint64_t kFnvOffset = 0xCBF29CE484222325ULL;

// Returns FNV-1a of `bytes`, continuing from `state`, so a long input can be hashed in pieces.
[[nodiscard]] constexpr std::uint64_t fnv1a64(std::span<const std::byte> bytes,
                                              std::uint64_t state = kFnvOffset) {
  for (const std::byte b : bytes) {
    state = (state ^ std::to_integer<std::uint64_t>(b)) * 0x00000100000001B3ULL;
  }
  return state;
}

// Returns a checksum of `bytes` that finds damage, not malice: any change within one aligned word
// changes it. One multiply for eight bytes, because states have hundreds of megabytes. Words are
// read as they lie in memory.
[[nodiscard]] inline std::uint64_t word_checksum64(std::span<const std::byte> bytes,
                                                   std::uint64_t seed) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15ULL;
  std::uint64_t hash = seed ^ bytes.size();
  std::size_t at = 0;
  for (; at + sizeof(hash) <= bytes.size(); at += sizeof(hash)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    hash = std::rotl(hash ^ word, 29) * kPrime;
  }
  for (; at < bytes.size(); ++at) {
    hash = std::rotl(hash ^ std::to_integer<std::uint64_t>(bytes[at]), 29) * kPrime;
  }
  return hash ^ (hash >> 32);
}

}  // namespace daybreak
