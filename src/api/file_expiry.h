// SPDX-License-Identifier: Apache-2.0
#pragma once

// When files end, as OpenAI's API says it: `expires_after` of an upload, `output_expires_after` of
// a batch, each an anchor, which is the creation of the file, and seconds after it.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "chat/request_fields.h"

namespace daybreak::api {

inline constexpr std::int64_t kMinFileSeconds = 3'600;
inline constexpr std::int64_t kMaxFileSeconds = 2'592'000;  // 30 days

// Both return the seconds from a file's creation to its end; 0 where nothing is asked for: it
// stays. Errors: kInvalidArgument naming the part or the member.

// Of a form: the parts expires_after[anchor] and expires_after[seconds], both or none.
[[nodiscard]] Result<std::int64_t> read_form_expiry(std::optional<std::string_view> anchor,
                                                    std::optional<std::string_view> seconds);
// Of the member `key` of a JSON object.
[[nodiscard]] Result<std::int64_t> read_json_expiry(const chat::Field& root, std::string_view key);

}  // namespace daybreak::api
