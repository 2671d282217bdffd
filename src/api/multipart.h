// SPDX-License-Identifier: Apache-2.0
#pragma once

// multipart/form-data (RFC 7578), as files are uploaded.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace daybreak::api {

inline constexpr std::size_t kMaxParts = 16;

struct Part {
  std::string name;
  std::string filename;   // empty: none was given
  std::string_view body;  // of the request's body
};

// Splits a body whose Content-Type is given. The parts borrow from `body`.
// Errors: kInvalidArgument saying what is not as it should be.
Result<std::vector<Part>> parse_multipart(std::string_view content_type, std::string_view body);

}  // namespace daybreak::api
