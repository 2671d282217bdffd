// SPDX-License-Identifier: Apache-2.0
#pragma once

// The text that says whose prompts may share what was computed (GenerateRequest::isolation): those
// of one owner (access::owner_of) with one cache_salt.

#include <string>
#include <string_view>

namespace daybreak::api {

// `owner` has no line breaks.
[[nodiscard]] inline std::string isolation_of(std::string_view owner, std::string_view salt) {
  return std::string(owner) + "\n" + std::string(salt);
}

[[nodiscard]] inline std::string_view owner_in(std::string_view isolation) {
  return isolation.substr(0, isolation.find('\n'));
}

}  // namespace daybreak::api
