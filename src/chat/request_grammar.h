// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a request to what its answer must look like: the rules a grammar is compiled from.

#include <string>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/markers.h"
#include "chat/render.h"
#include "grammar/message_rules.h"

namespace daybreak::chat {

struct RequestGrammar {
  grammar::MessageRules rules;
  // What errors call the parts of `rules`: the request's fields.
  std::string body_field;                // empty without a form
  std::vector<std::string> tool_fields;  // [rules.tools], such as "messages[3].tools[0].function"
};

// Returns the rules for the answer to a request whose prompt leaves `initial` open.
//   content  the output form; free text beside a forced call
//   tools    none, optional, or at least one call, of the named tool only; a tool's schema is
//            enforced unless it says strict: false, which leaves the call's envelope
// Pure, thread-safe.
[[nodiscard]] RequestGrammar request_grammar(const ChatRequest& request, Channel initial);

[[nodiscard]] grammar::MessageMarkers message_markers(const MarkerIds& ids);

// Returns the error of compile() as the client gets it: about a field of the request, naming the
// tool; what is too large or not supported is a fault of the request like any other.
[[nodiscard]] Error compile_error(const Error& error, const RequestGrammar& grammar);

}  // namespace daybreak::chat
