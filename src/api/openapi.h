// SPDX-License-Identifier: Apache-2.0
#pragma once

// /openapi.json: the routes of this server as an OpenAPI 3.1 document.

#include <string>

#include "api/context.h"

namespace daybreak::api {

// Returns the document. Where there are keys, it says which routes need one, of what scope.
[[nodiscard]] std::string openapi_json(const ServiceOptions& options);

}  // namespace daybreak::api
