// SPDX-License-Identifier: Apache-2.0
#pragma once

// OutputForm: what the content of the answer has to be, whichever of a request's many spellings
// asked for it. The prompt does not depend on it (ResponseFormat does that); decoding does.

#include <cstdint>
#include <string>
#include <vector>

namespace daybreak::chat {

struct OutputForm {
  enum class Kind : std::uint8_t {
    kText,        // anything
    kJsonObject,  // one JSON object
    kSchema,      // JSON of the schema `source`
    kRegex,       // what the whole of the pattern `source` matches
    kChoice,      // one of `choices`
    kGrammar,     // text of the EBNF or Lark grammar `source`
  };
  Kind kind = Kind::kText;
  std::string source;  // as the client sent it: numbers and the order of members unchanged
  std::vector<std::string> choices;
  std::string field;  // what asks for it, such as "response_format.json_schema.schema"
};

}  // namespace daybreak::chat
