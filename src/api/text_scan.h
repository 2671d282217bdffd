// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kinds of characters that rules about spelling ask for, and runs of them.

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace daybreak::api {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }
inline bool is_token(char c) { return is_word(c) || c == '-'; }
inline bool is_base64(char c) {
  return is_digit(c) || is_letter(c) || c == '+' || c == '/' || c == '=';
}
// Of the credentials of Bearer (RFC 6750).
inline bool is_bearer(char c) { return is_token(c) || is_base64(c) || c == '.' || c == '~'; }

// Returns how many characters at the start are of that kind.
template <class Is>
std::size_t run_length(std::string_view text, Is is) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is) - text.begin());
}

}  // namespace daybreak::api
