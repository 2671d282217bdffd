// SPDX-License-Identifier: Apache-2.0
// Any bytes as an Anthropic request: refused with a message, or rendered; never a crash.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "chat/anthropic_json.h"
#include "chat/anthropic_request.h"
#include "chat/render.h"
#include "chat/request_grammar.h"

namespace {

using daybreak::chat::AnthropicCall;

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const AnthropicCall call : {AnthropicCall::kMessages, AnthropicCall::kCountTokens}) {
    const auto request = daybreak::chat::parse_anthropic_request(text, call);
    if (!request) {
      require(!request.error().message.empty());
      require(daybreak::is_valid_utf8(daybreak::chat::anthropic_error_json(request.error(), "r")));
      continue;
    }
    require(!request->chat.messages.empty());
    require(call == AnthropicCall::kCountTokens || request->chat.sampling.max_tokens.has_value());
    const auto prompt = daybreak::chat::render_segments(request->chat);
    require(prompt || !request->first_image.empty());  // every tool result has its call
    if (!prompt) {
      continue;
    }
    (void)daybreak::chat::request_grammar(request->chat, prompt->initial);
    for (const daybreak::chat::Segment& segment : prompt->segments) {
      require(!segment.text.empty());
      require(daybreak::is_valid_utf8(segment.text));
      require(!segment.allow_special || segment.text.starts_with("<|"));
    }
  }
  return 0;
}
