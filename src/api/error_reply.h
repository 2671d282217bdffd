// SPDX-License-Identifier: Apache-2.0
#pragma once

// Errors as HTTP answers, in the shape of the protocol a request is made in.

#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/message.h"

namespace daybreak::api {

// Returns the answer for an error in OpenAI's shape: its status, its JSON, and error_headers().
[[nodiscard]] http::Response error_response(const Error& error);

// Returns Retry-After, retry-after-ms and x-should-retry where trying again a second later may
// help, x-should-retry alone where it never does, and WWW-Authenticate where a key is missing.
[[nodiscard]] std::vector<http::Header> error_headers(Errc code);

// Returns the answer for an error in the shape that `request` expects.
[[nodiscard]] http::Response protocol_error_response(const http::Request& request,
                                                     const Error& error);

// Returns the same for an answer the HTTP layer gives by itself.
[[nodiscard]] http::Response http_error_response(const http::Request& request, int status,
                                                 std::string_view message);

}  // namespace daybreak::api
