// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every top-level field of POST /v1/responses this server knows, and what becomes of it: the one
// list that the reader, its tests and docs/responses.md are held to.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

enum class FieldUse : std::uint8_t {
  kHonoured,  // changes the answer, or is given back in it
  kIgnored,   // cannot change what a client may rely on: `note` says why
  kRefused,   // would change the answer and is not done here: `note` is the error
};

struct ResponsesField {
  std::string_view name;
  FieldUse use = FieldUse::kHonoured;
  std::string_view note = {};
};

// The whole table, in the order of the documentation.
[[nodiscard]] std::span<const ResponsesField> responses_fields();

// Appends the fields of `root` that are ignored, known or not, to `ignored`.
// Errors: kInvalidArgument "NAME: NOTE" for a refused field, unless it is null or false, which ask
// for nothing.
[[nodiscard]] Status check_responses_fields(const Field& root, std::vector<std::string>& ignored);

}  // namespace daybreak::chat
