// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace daybreak::grammar {

// Returns "nothing conforms", about `what`.
[[nodiscard]] inline Error contradiction(std::string_view what) {
  return Error{Errc::kInvalidArgument, std::string(what) +
                                           ": expected something that can be satisfied, found a "
                                           "contradiction: nothing conforms to it"};
}

}  // namespace daybreak::grammar
