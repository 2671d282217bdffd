// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tools and the form of the answer, as the Responses API spells them: function tools without
// the inner "function" object, text.format without the inner "json_schema".

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

struct ResponsesTools {
  std::vector<Tool> tools;         // what the prompt declares, spelled as on the chat route
  std::vector<std::string> paths;  // [tools], such as "tools[2]"
  ToolChoice choice;
};

// Reads tools and tool_choice. An allowed_tools choice declares the named tools alone: the others
// cannot be called, and the model does not hear of them. Null members of a tool count as absent;
// others than name, description, parameters and strict do not reach the model.
// Errors: kInvalidArgument, also for hosted and custom tools, by the path of their type.
[[nodiscard]] Result<ResponsesTools> read_responses_tools(const Field& root,
                                                          const ChatLimits& limits);

struct ResponsesText {
  ResponseFormat format;  // as the prompt states it
  OutputForm output;      // what decoding is held to
};

// Reads text. A forced call leaves the form in the prompt alone, as on the chat route. A verbosity
// but "medium" is put into `ignored`: nothing here makes an answer longer or shorter.
// Errors: kInvalidArgument.
[[nodiscard]] Result<ResponsesText> read_responses_text(const Field& root, const ToolChoice& choice,
                                                        const ChatLimits& limits,
                                                        std::vector<std::string>& ignored);

}  // namespace daybreak::chat
