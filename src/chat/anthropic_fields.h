// SPDX-License-Identifier: Apache-2.0
#pragma once

// What happens to each top-level field of an Anthropic Messages request.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

enum class FieldFate : std::uint8_t {
  kHonoured,  // read, and refused when it is wrong
  kIgnored,   // changes no answer here; reported back by name
  kRefused,   // asks for something this server lacks: refused unless null or empty
};

struct AnthropicField {
  std::string_view name;
  FieldFate fate = FieldFate::kHonoured;
  std::string_view why;  // kRefused: what the error says
};

[[nodiscard]] std::span<const AnthropicField> anthropic_fields();

// Goes through the members of `root`. Appends to `ignored` the names of those that are ignored,
// which a field this server does not know is too. Errors: kInvalidArgument for a refused one.
[[nodiscard]] Status check_anthropic_fields(const Field& root, std::vector<std::string>& ignored);

}  // namespace daybreak::chat
