// SPDX-License-Identifier: Apache-2.0
#pragma once

// The text that says whose prompts may share what was computed (GenerateRequest::isolation): those
// of one owner (access::owner_of) with one cache_salt, and with the same retention: what was
// computed for a key without retention is of no use to the other keys of its tenant, nor theirs to
// it.

#include <cstdint>
#include <string>
#include <string_view>

namespace daybreak::api {

enum class Retention : std::uint8_t { kUsual, kNone };

inline constexpr char kNoRetention = '\x1e';  // before the owner

// `owner` has no control characters.
[[nodiscard]] inline std::string isolation_of(std::string_view owner, std::string_view salt,
                                              Retention retention = Retention::kUsual) {
  std::string out(retention == Retention::kNone ? 1 : 0, kNoRetention);
  out += owner;
  out += '\n';
  out += salt;
  return out;
}

[[nodiscard]] inline std::string_view owner_in(std::string_view isolation) {
  isolation.remove_prefix(isolation.starts_with(kNoRetention) ? 1 : 0);
  return isolation.substr(0, isolation.find('\n'));
}

}  // namespace daybreak::api
