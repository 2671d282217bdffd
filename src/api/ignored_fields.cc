// SPDX-License-Identifier: Apache-2.0
#include "api/ignored_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace daybreak::api {

std::vector<http::Header> ignored_fields_headers(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxBytes = 512;
  if (names.empty()) {
    return {};
  }
  std::string list = fmt::format("{}", fmt::join(names, ", "));
  list.resize(std::min(list.size(), kMaxBytes));
  return {{"x-daybreak-ignored-fields", std::move(list)}};
}

}  // namespace daybreak::api
