// SPDX-License-Identifier: Apache-2.0
#pragma once

// The meta-schema of JSON Schema 2020-12 and its vocabularies, which any schema may refer to
// although it does not contain them (JSON Schema Core, section 8 and appendix).

#include <string_view>

#include "base/json_tree.h"

namespace daybreak::grammar {

inline constexpr std::string_view kMetaSchemaUri = "https://json-schema.org/draft/2020-12/schema";

// Returns the meta-schema with this URI (without fragment), or null. Lives for ever. Thread-safe.
[[nodiscard]] const JsonNode* meta_schema(std::string_view uri);

}  // namespace daybreak::grammar
