// SPDX-License-Identifier: Apache-2.0
#include "api/openai_chat.h"

#include <chrono>
#include <memory>
#include <span>
#include <utility>

#include "api/error_reply.h"
#include "api/ignored_fields.h"
#include "api/random.h"
#include "chat/response_json.h"
#include "chat/tool_call_id.h"

namespace daybreak::api {
namespace {

using chat::OutputEvent;

chat::ReplyHead reply_head(const PreparedChat& chat) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.id = chat::make_completion_id(random_bits),
          .created = std::chrono::duration_cast<std::chrono::seconds>(now).count(),
          .model = chat.served.name};
}

class OpenAiChat final : public ChatCall {
 public:
  explicit OpenAiChat(PreparedChat chat)
      : ChatCall(std::move(chat)),
        head_(reply_head(this->chat())),
        opened_(this->chat().request.n, false) {}

  std::string_view id() const override { return head_.id; }

  http::Response whole(const Generation& generation) override {
    http::Response response;
    response.headers = headers(generation);
    response.body = chat::chat_completion_json(head_, generation.completions(), generation.usage());
    return response;
  }

  std::vector<http::Header> stream_headers(const Generation& generation) override {
    return headers(generation);
  }

  std::string frames(const std::vector<ChoiceDelta>& deltas,
                     const Generation& generation) override {
    std::string out;
    for (const auto& [choice, delta] : deltas) {
      if (!opened_[choice]) {
        opened_[choice] = true;
        append_event(out, chat::role_chunk_json(head_, choice));
      }
      if (delta.finish_reason.empty()) {
        append_event(out, chat::event_chunk_json(head_, choice, delta.event, delta.tool_call_id,
                                                 logprobs_of(delta), ids_of(delta)));
      } else {
        finish(choice, delta.finish_reason, generation, out);
      }
    }
    return out;
  }

  std::string error_frames(const Error& error) override {
    std::string out;
    append_event(out, chat::error_json(error));
    return out;
  }

 private:
  // Clients of the released API read the usage from the end of a choice: what all choices have
  // taken so far. At the end of the last one that is the usage of the answer.
  void finish(std::size_t choice, std::string_view reason, const Generation& generation,
              std::string& out) {
    const chat::TokenUsage usage = generation.usage();
    const bool last = ++finished_ == opened_.size();
    append_event(out, chat::finish_chunk_json(head_, choice, reason, usage));
    if (last && chat().request.include_usage) {
      append_event(out, chat::usage_chunk_json(head_, usage));
    }
    if (last) {
      append_event(out, "[DONE]");
    }
  }

  [[nodiscard]] const std::vector<chat::TokenLogprobs>* logprobs_of(const Delta& delta) const {
    const bool wanted =
        chat().request.sampling.logprobs && delta.event.kind == OutputEvent::Kind::kContent;
    return wanted ? &delta.logprobs : nullptr;
  }

  [[nodiscard]] std::span<const TokenId> ids_of(const Delta& delta) const {
    return chat().request.include_internal_content ? std::span<const TokenId>(delta.token_ids)
                                                   : std::span<const TokenId>();
  }

  // The usage headers are those of the released API: known once the cache has been looked up, which
  // the first token follows.
  [[nodiscard]] std::vector<http::Header> headers(const Generation& generation) const {
    const chat::TokenUsage usage = generation.usage();
    std::vector<http::Header> out = ignored_fields_headers(chat().request.ignored_fields);
    out.push_back({"X-Msh-Usage-Prompt-Tokens", std::to_string(usage.prompt_tokens)});
    out.push_back({"X-Msh-Usage-Cached-Tokens", std::to_string(usage.cached_tokens)});
    return out;
  }

  chat::ReplyHead head_;
  std::vector<bool> opened_;  // the role has been sent
  std::size_t finished_ = 0;
};

Result<std::unique_ptr<ChatCall>> prepare(const http::Request& request, const Context& context) {
  DAYBREAK_TRY(PreparedChat chat, prepare_chat(request.body, context));
  std::unique_ptr<ChatCall> call = std::make_unique<OpenAiChat>(std::move(chat));
  return call;
}

}  // namespace

ChatProtocol openai_chat() { return {.prepare = prepare, .refuse = protocol_error_response}; }

}  // namespace daybreak::api
