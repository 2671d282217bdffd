// SPDX-License-Identifier: Apache-2.0
#pragma once

// The fields of a request that say what the content of the answer has to be: OpenAI's
// response_format, and vLLM's structured_outputs and its older guided_* fields.

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/output_form.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

// Reads all of them; `format` is what read_response_format() made of response_format. Nothing
// given: kText. At most one may ask for something. A forced tool call leaves no room for a form but
// response_format, which then stays in the prompt alone.
// Errors: kInvalidArgument, naming both fields where two contradict each other.
[[nodiscard]] Result<OutputForm> read_output_form(const Field& root, const ResponseFormat& format,
                                                  const ToolChoice& tool_choice,
                                                  const ChatLimits& limits);

// Checks `verbosity` of an object that may have it, the whole request or the Responses API's text:
// it is ignored, but only what it can say. Errors: kInvalidArgument.
[[nodiscard]] Status check_verbosity(const Field& owner);

}  // namespace daybreak::chat
