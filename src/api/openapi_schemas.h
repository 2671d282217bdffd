// SPDX-License-Identifier: Apache-2.0
#pragma once

// The JSON Schemas of /openapi.json: those of bodies are made from the tables that their parsers
// know fields by.

#include <nlohmann/json.hpp>

namespace daybreak::api {

// Returns the schemas by name.
[[nodiscard]] nlohmann::ordered_json openapi_schemas();

}  // namespace daybreak::api
