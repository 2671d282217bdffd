// SPDX-License-Identifier: Apache-2.0
#pragma once

// Errors as HTTP answers in OpenAI's shape.

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace daybreak::api {

// Returns the answer for an error: its status, its JSON, and headers that say when to try
// again where that helps.
[[nodiscard]] http::Response error_response(const Error& error);

// Adds those headers, if `error` is one that may be gone a second later.
void add_retry_headers(http::Response& response, const Error& error);

// Returns the JSON for an answer the HTTP layer gives by itself.
[[nodiscard]] std::string http_error_body(int status, std::string_view message);

}  // namespace daybreak::api
