// SPDX-License-Identifier: Apache-2.0
#include "chat/effort_name.h"

#include <algorithm>
#include <array>

namespace daybreak::chat {
namespace {

struct EffortName {
  std::string_view name;
  Effort effort;
};
constexpr std::array<EffortName, 6> kNamedEfforts = {{{"minimal", Effort::kLow},
                                                      {"low", Effort::kLow},
                                                      {"medium", Effort::kHigh},
                                                      {"high", Effort::kHigh},
                                                      {"xhigh", Effort::kMax},
                                                      {"max", Effort::kMax}}};

}  // namespace

std::optional<Effort> effort_named(std::string_view name) {
  const auto* const found = std::ranges::find(kNamedEfforts, name, &EffortName::name);
  return found == kNamedEfforts.end() ? std::nullopt : std::optional(found->effort);
}

}  // namespace daybreak::chat
