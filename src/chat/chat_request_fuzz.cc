// SPDX-License-Identifier: Apache-2.0
// Any bytes as a request: refused with a message, or rendered; never a crash.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "chat/chat_request.h"
#include "chat/render.h"
#include "chat/render_line.h"
#include "chat/response_json.h"

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool line : {false, true}) {
    const auto request =
        line ? daybreak::chat::parse_render_line(text) : daybreak::chat::parse_chat_request(text);
    if (!request) {
      require(!request.error().message.empty());
      require(daybreak::is_valid_utf8(daybreak::chat::error_json(request.error())));
      continue;
    }
    const auto prompt = daybreak::chat::render_segments(*request);
    if (!prompt) {
      continue;
    }
    for (const daybreak::chat::Segment& segment : prompt->segments) {
      require(!segment.text.empty());
      require(daybreak::is_valid_utf8(segment.text));
      require(!segment.allow_special || segment.text.starts_with("<|"));
    }
  }
  return 0;
}
