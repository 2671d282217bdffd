// SPDX-License-Identifier: Apache-2.0
#pragma once

// The grammar of one whole assistant message of K3, from the channel the prompt left open:
//
//   think    text  close think                                (thinking only)
//   response open response  BODY  close response
//   tools    open tools  CALL+  close tools
//   CALL     open call tool="NAME" index="N" sep  ARGUMENTS  close call
//   ARGUMENTS  per property, in the schema's order: open argument key="K" type="T" sep VALUE
//              close argument; or one block: open json type="object" sep OBJECT close json
//   end      close message  end_of_msg
//
// open, close, sep and end_of_msg are token ids, so text that looks like them is text.
// Source: spec k3-frontend.md, sections 2.5, 3.1 and 4.1.

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/expression.h"
#include "grammar/message_rules.h"
#include "grammar/schema_compiler.h"

namespace daybreak::grammar {

struct MessageGrammar {
  RuleSet rules;
  CompiledSchemas schemas;
};

// Errors: those of compile().
[[nodiscard]] Result<MessageGrammar> message_grammar(const MessageRules& rules,
                                                     const MessageMarkers& markers, Budget& budget);

// Texts that the whole of `pattern` matches, and one of `choices`. Errors: kInvalidArgument when
// that is no text at all, those of compile_regex().
[[nodiscard]] Result<ExpressionPtr> regex_text(std::string_view pattern, Budget& budget);
[[nodiscard]] Result<ExpressionPtr> choice_text(std::span<const std::string> choices,
                                                Budget& budget);

}  // namespace daybreak::grammar
