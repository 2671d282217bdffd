// SPDX-License-Identifier: Apache-2.0
#pragma once

// The lines of `daybreak schema`: a schema, and what is asked about it, as one JSON object each.

#include <string>
#include <string_view>

#include "base/json_tree.h"
#include "base/result.h"
#include "grammar/validator.h"

namespace daybreak::cli {

// One line, parsed. `schema` and the members of `tree` point into the line.
struct SchemaLine {
  JsonNode tree;
  std::string schema;  // the schema's exact text
};

// Reads {"schema": SCHEMA, ...}, where SCHEMA is a schema or a string that holds the text of one;
// `member` names the other member, which `is_required` or not.
// Errors: kInvalidArgument  not such an object, or with members nobody asked for
//         kTooLarge         nested too deep or too many values
enum class MemberNeed : bool { kOptional, kRequired };
[[nodiscard]] Result<SchemaLine> read_schema_line(std::string_view line, std::string_view member,
                                                  MemberNeed need);

// {"schema", "dialect": "2020-12" (default) | "mfjs" | "enforced"} -> {"ok": bool, "error": MESSAGE
// or null}. "enforced": whether a server, with its default limits, constrains answers to it.
// Errors: as read_schema_line; a schema that is refused is an answer, not an error.
[[nodiscard]] Result<std::string> schema_check_line(std::string_view line);

// {"schema", "instance"} -> {"ok": bool, "errors": [{"instance_path", "schema_path", "keyword",
// "message"}, ...]}. Errors: as read_schema_line; and those of the schema and the validator.
[[nodiscard]] Result<std::string> schema_validate_line(std::string_view line,
                                                       grammar::Formats formats);

// {"schema", "text"} -> {"accepted": bool}: whether the automaton that constrains answers takes the
// text, byte by byte, to its end. One space may follow ',' and ':'.
// Errors: as read_schema_line; a schema that cannot be enforced exactly, by name.
[[nodiscard]] Result<std::string> schema_accept_line(std::string_view line,
                                                     grammar::Formats formats);

}  // namespace daybreak::cli
