// SPDX-License-Identifier: Apache-2.0
#pragma once

// /openapi.json: the routes of this server as an OpenAPI 3.1 document. The fields of a body come
// from the table its parser knows fields by; chat_fields() stands in for the chat route's.

#include <span>
#include <string>

#include "api/completion_request.h"
#include "api/context.h"

namespace daybreak::api {

// Returns every field of a chat request that is read, with its JSON Schema.
[[nodiscard]] std::span<const RequestField> chat_fields();

// Returns the document.
[[nodiscard]] std::string openapi_json(const ServiceOptions& options);

}  // namespace daybreak::api
