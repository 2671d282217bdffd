// SPDX-License-Identifier: Apache-2.0
#pragma once

// Options that are positive real numbers, some of them "inf" too.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace daybreak::cli {

enum class Infinity : bool { kRefused, kAllowed };

// Errors: kInvalidArgument naming `option`, for what is no number above 0.
[[nodiscard]] Result<double> positive_number(std::string_view option, const std::string& text,
                                             Infinity infinity = Infinity::kRefused);

}  // namespace daybreak::cli
