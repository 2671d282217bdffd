// SPDX-License-Identifier: Apache-2.0
#pragma once

// What secrets look like: each function returns the bytes at the start of a text that are one, if
// they are. The work is bounded by what is returned, or by the run of characters at the start.
// Thread-safe.

#include <cstddef>
#include <optional>
#include <string_view>

namespace daybreak::api {

// A key or token by the form its issuer gave it; a private key in PEM (RFC 7468), also one that is
// cut; Bearer or Basic with its credentials.
[[nodiscard]] std::optional<std::size_t> secret_length(std::string_view text);

// A JSON web token: three runs of base64url, the first a JSON object.
[[nodiscard]] std::optional<std::size_t> web_token_length(std::string_view text);

// What lies between the scheme of a URL and the @ before its host, "://" included: a user with a
// password, or a token. A short name alone is none.
[[nodiscard]] std::optional<std::size_t> user_info_length(std::string_view text);

}  // namespace daybreak::api
