// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a request may assume of the model behind this server.

#include <cstddef>
#include <string>
#include <string_view>

#include "api/context.h"
#include "base/result.h"

namespace daybreak::api {

// Errors: kNotFound unless `name` is empty or one under which the model is served.
[[nodiscard]] Status check_served(std::string_view name, const Context& context);

// Says what limits a sequence, and to how many tokens.
[[nodiscard]] std::string sequence_limit(const Context& context);

}  // namespace daybreak::api
