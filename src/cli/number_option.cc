// SPDX-License-Identifier: Apache-2.0
#include "cli/number_option.h"

#include <charconv>
#include <cmath>

namespace daybreak::cli {

Result<double> positive_number(std::string_view option, const std::string& text,
                               Infinity infinity) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const bool finite = std::isfinite(value) || (std::isinf(value) && infinity == Infinity::kAllowed);
  if (error != std::errc{} || rest != end || !finite || !(value > 0)) {
    return Error{Errc::kInvalidArgument, std::string(option) + ": expected a number above 0" +
                                             (infinity == Infinity::kAllowed ? " or inf" : "") +
                                             ", found '" + text + "'"};
  }
  return value;
}

}  // namespace daybreak::cli
