// SPDX-License-Identifier: Apache-2.0
#include "api/openai_responses.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/admission.h"
#include "api/error_reply.h"
#include "api/ignored_fields.h"
#include "api/on_worker.h"
#include "api/random.h"
#include "api/response_store.h"
#include "api/responses_answer.h"
#include "chat/responses_request.h"

namespace daybreak::api {
namespace {

using chat::ResponsesRequest;
using Events = ResponsesAnswer::Events;

const std::function<std::uint64_t()>& random_source() {
  static const std::function<std::uint64_t()> source = random_bits;
  return source;
}

chat::ReplyHead reply_head(const PreparedChat& chat) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.id = make_response_id("resp_", random_source()),
          .created = std::chrono::duration_cast<std::chrono::seconds>(now).count(),
          .model = chat.served.name};
}

class OpenAiResponses final : public ChatCall {
 public:
  // `request.chat` holds no more than what the answer repeats.
  OpenAiResponses(PreparedChat chat, ResponsesRequest request, std::string owner,
                  const Context& context)
      : ChatCall(std::move(chat)),
        owner_(std::move(owner)),
        request_(std::move(request)),
        head_(reply_head(this->chat())),
        store_(context.responses),
        answer_(head_, request_, this->chat().request.stream ? Events::kOn : Events::kOff,
                random_source()) {}

  std::string_view id() const override { return head_.id; }

  // A stream ends with the whole response.
  [[nodiscard]] std::size_t kept_logprobs() const override { return logprobs_of_token(); }
  void note(const std::vector<ChoiceDelta>& deltas) override { add(deltas); }

  http::Response whole(const Generation& generation) override {
    finish(generation);
    http::Response response;
    response.headers = ignored_fields_headers(chat().request.ignored_fields);
    response.body = answer_.json();
    return response;
  }

  std::vector<http::Header> stream_headers(const Generation& /*generation*/) override {
    return ignored_fields_headers(chat().request.ignored_fields);
  }

  std::string frames(const std::vector<ChoiceDelta>& deltas,
                     const Generation& generation) override {
    begin();
    add(deltas);
    if (generation.done()) {
      finish(generation);
      answer_.announce_end();
    }
    return answer_.take_events();
  }

  std::string error_frames(const Error& error) override {
    begin();
    answer_.fail(error);
    return answer_.take_events();
  }

 private:
  void begin() {
    if (!std::exchange(begun_, true)) {
      answer_.begin();
    }
  }

  void add(const std::vector<ChoiceDelta>& deltas) {
    for (const auto& [choice, delta] : deltas) {
      if (delta.finish_reason.empty()) {
        answer_.add(delta);
      } else {
        finish_reason_ = delta.finish_reason;
      }
    }
  }

  // Ends the answer, with the usage that is known only now, and keeps it. An answer too large to
  // keep says so itself: its "store" is false.
  void finish(const Generation& generation) {
    answer_.end(finish_reason_, generation.usage());
    if (!request_.store) {
      return;
    }
    ResponseStore::Response kept{.owner = owner_,
                                 .id = head_.id,
                                 .json = answer_.json(),
                                 .previous = request_.previous,
                                 .input = request_.input,
                                 .output = {}};
    for (const chat::ResponsesOutput& item : answer_.output()) {
      kept.output.push_back(std::make_shared<const chat::ResponsesItem>(chat::kept_output(item)));
    }
    request_.store = store_->put(std::move(kept));
  }

  const std::string owner_;  // of what is kept
  ResponsesRequest request_;
  chat::ReplyHead head_;
  std::shared_ptr<ResponseStore> store_;
  ResponsesAnswer answer_;
  std::string_view finish_reason_;
  bool begun_ = false;
};

// A request whose previous response and references are those of its caller.
struct OwnedRequest {
  ResponsesRequest request;
  std::string owner;
};

Result<OwnedRequest> read_request(const http::Request& http, const Context& context) {
  ResponseStore& store = *context.responses;
  DAYBREAK_TRY(const access::Caller caller, generating_caller(context, http));
  const std::string owner = access::owner_of(*caller);
  const chat::ResponsesHistory history = {
      .conversation = [&](std::string_view id) { return store.conversation(owner, id); },
      .item = [&](std::string_view id) { return store.find_item(owner, id); }};
  DAYBREAK_TRY(ResponsesRequest request,
               chat::parse_responses_request(http.body, history, context.options.limits));
  if (!store.keeps_anything()) {
    if (request.store_asked) {
      return Error{Errc::kInvalidArgument,
                   "store: this server keeps no responses (response_store_mb is 0)"};
    }
    request.store = false;
  }
  return OwnedRequest{std::move(request), owner};
}

Result<std::unique_ptr<ChatCall>> prepare(const http::Request& http, const Context& context) {
  DAYBREAK_TRY(OwnedRequest read, read_request(http, context));
  auto& [request, owner] = read;
  const auto parallel = request.chat.parallel_tool_calls;
  const chat::SamplingOptions sampling = request.chat.sampling;
  auto prepared = prepare_parsed(std::move(request.chat), context);
  if (!prepared) {
    Error error = std::move(prepared).error();
    error.message = chat::in_responses_terms(error.message, request);
    return error;
  }
  for (std::string& field : prepared->grammar.tool_fields) {
    field = chat::in_responses_terms(field, request);
  }
  request.chat = {};  // the rest has gone into `prepared`
  request.chat.parallel_tool_calls = parallel;
  request.chat.sampling = sampling;
  std::unique_ptr<ChatCall> call =
      std::make_unique<OpenAiResponses>(*std::move(prepared), std::move(request), owner, context);
  return call;
}

// Counts what prepare() would have the request billed for.
Result<Counted> count_input(const http::Request& http, const Context& context) {
  DAYBREAK_TRY(auto read, read_request(http, context));
  auto chat = render_chat(std::move(read.request.chat), context);
  if (!chat) {
    Error error = std::move(chat).error();
    error.message = chat::in_responses_terms(error.message, read.request);
    return error;
  }
  Counted out{.model = std::move(chat->request.model), .response = {}};
  out.response.body = R"({"object":"response.input_tokens","input_tokens":)" +
                      std::to_string(chat->billed_prompt_tokens) + "}";
  out.response.headers = ignored_fields_headers(chat->request.ignored_fields);
  return out;
}

http::Task<void> respond_count(Context& context, http::Exchange& exchange) {
  co_await answer_counted(context, exchange, protocol_error_response, count_input);
}

}  // namespace

http::Handler input_tokens_handler(Context& context) {
  return [&context](http::Exchange& exchange) { return respond_count(context, exchange); };
}

ChatProtocol openai_responses() { return {.prepare = prepare, .refuse = protocol_error_response}; }

}  // namespace daybreak::api
