// SPDX-License-Identifier: Apache-2.0
#pragma once

// The header that tells a client which of its fields changed nothing.

#include <string>
#include <vector>

#include "http/message.h"

namespace daybreak::api {

// Returns x-daybreak-ignored-fields with the names, cut to 512 bytes; nothing without names.
[[nodiscard]] std::vector<http::Header> ignored_fields_headers(
    const std::vector<std::string>& names);

}  // namespace daybreak::api
