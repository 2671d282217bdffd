// SPDX-License-Identifier: Apache-2.0
#pragma once

// Base64 (RFC 4648 section 4), strict: padded, no whitespace, unused bits zero. So every byte
// string has exactly one spelling.

#include <string>
#include <string_view>

namespace daybreak::tokenizer {

// Appends the decoded bytes of `text` to `out`; on false, `out` holds an unspecified part of them.
[[nodiscard]] bool append_base64_decoded(std::string_view text, std::string& out);

}  // namespace daybreak::tokenizer
