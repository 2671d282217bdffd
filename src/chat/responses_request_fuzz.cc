// SPDX-License-Identifier: Apache-2.0
// Any bytes as a Responses request: refused with a message, or rendered; what is kept of it is the
// same conversation again; never a crash.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json_tree.h"
#include "base/utf8.h"
#include "chat/render.h"
#include "chat/response_json.h"
#include "chat/responses_json.h"
#include "chat/responses_request.h"

namespace {

using daybreak::Errc;
using daybreak::Error;
using daybreak::Result;
using daybreak::chat::ResponsesItem;
using daybreak::chat::ResponsesItemPtr;
using daybreak::chat::ResponsesRequest;

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

// A history in which every response is `items`, and no item can be found.
daybreak::chat::ResponsesHistory history_of(const std::vector<ResponsesItemPtr>& items) {
  return {.conversation = [&items](std::string_view) -> Result<std::vector<ResponsesItemPtr>> {
            return items;
          },
          .item = [](std::string_view) -> Result<ResponsesItemPtr> {
            return Error{Errc::kNotFound, "none"};
          }};
}

std::string prompt_of(const daybreak::chat::ChatRequest& chat) {
  const auto prompt = daybreak::chat::render_segments(chat);
  std::string out;
  if (prompt) {
    for (const daybreak::chat::Segment& segment : prompt->segments) {
      require(!segment.text.empty());
      require(daybreak::is_valid_utf8(segment.text));
      require(!segment.allow_special || segment.text.starts_with("<|"));
      out += segment.text;
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<ResponsesItemPtr> nothing;
  const auto request = daybreak::chat::parse_responses_request(text, history_of(nothing));
  if (!request) {
    require(!request.error().message.empty());
    require(daybreak::is_valid_utf8(daybreak::chat::error_json(request.error())));
    return 0;
  }
  require(request->sources.size() == request->chat.messages.size());
  require(request->tool_paths.size() == request->chat.tools.size());
  const std::string object = daybreak::chat::response_object_json(
      {.id = "resp_x", .created = 1, .model = "m"}, *request, {});
  require(object.find('\n') == std::string::npos);
  require(static_cast<bool>(daybreak::parse_json_tree(object, {.max_depth = 128})));
  if (request->input.empty()) {
    return 0;
  }
  for (const ResponsesItemPtr& item : request->input) {
    require(static_cast<bool>(daybreak::parse_json_tree(item->body)));
  }
  const auto again = daybreak::chat::parse_responses_request(R"({"previous_response_id":"resp_x"})",
                                                             history_of(request->input));
  require(static_cast<bool>(again));
  daybreak::chat::ChatRequest bare;  // without tools and instructions, which are not kept
  bare.messages = request->chat.messages;
  if (!request->sources.empty() && request->sources.front() == "instructions") {
    bare.messages.erase(bare.messages.begin());
  }
  daybreak::chat::ChatRequest kept;
  kept.messages = again->chat.messages;
  require(prompt_of(kept) == prompt_of(bare));
  return 0;
}
