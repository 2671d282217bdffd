// SPDX-License-Identifier: Apache-2.0
#pragma once

// What all answers of the Anthropic routes share: their errors and headers.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/message.h"

namespace daybreak::api {

// Returns the answer for an error: its status, its JSON, and error_headers().
// Clients repeat a 5xx, so that what this build cannot do (kUnsupported) is 400 here.
[[nodiscard]] http::Response anthropic_error_response(const http::Request& request,
                                                      const Error& error);

// Returns `request-id`, and the ignored fields where there are some.
[[nodiscard]] std::vector<http::Header> anthropic_headers(
    std::string_view request_id, const std::vector<std::string>& ignored_fields);

// Returns `error` with the names this protocol has for the fields of the inner request: what
// compiles a tool's schema calls it tools[N].function.parameters.
[[nodiscard]] Error in_anthropic_terms(Error error);

}  // namespace daybreak::api
