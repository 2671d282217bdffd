// SPDX-License-Identifier: Apache-2.0
#include "api/token_routes.h"

#include <boost/asio/use_awaitable.hpp>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/completion_request.h"
#include "api/error_reply.h"
#include "api/on_worker.h"
#include "api/served_model.h"
#include "base/json_tree.h"
#include "chat/chat_request.h"
#include "chat/render.h"
#include "chat/request_fields.h"
#include "chat/response_json.h"

namespace daybreak::api {
namespace {

using chat::Field;
using http::Exchange;
using http::Task;

// What a route makes of a body: the JSON of its answer.
using Work = Result<std::string> (*)(const std::string& body, const Context& context);

http::Handler on_body(Context& context, Work work) {
  return [&context, work](Exchange& exchange) -> Task<void> {
    std::optional<Result<std::string>> made;
    const std::function<void()> job = [&] { made.emplace(work(exchange.request().body, context)); };
    co_await on_worker(context, job);
    http::Response response;
    if (*made) {
      response.body = **std::move(made);
    } else {
      response = error_response(made->error());
    }
    co_await exchange.respond(std::move(response));
  };
}

// The tree of a body that may hold as many token ids as the context.
Result<JsonNode> parse_body(const std::string& body, const Context& context) {
  const chat::ChatLimits& limits = context.options.limits;
  DAYBREAK_TRY(JsonNode tree,
               parse_json_tree(
                   body, {.max_depth = limits.max_depth,
                          .max_values = limits.max_values + context.generator.context_tokens()}));
  const Field root(tree, "");
  DAYBREAK_CHECK_OK(root.object());
  if (const auto model = root.find("model")) {
    DAYBREAK_TRY(const std::string name, model->string(limits.max_name_bytes));
    DAYBREAK_CHECK_OK(check_served(name, context));
  }
  return tree;
}

Result<bool> read_flag(const Field& root, std::string_view key, bool absent) {
  const auto field = root.find(key);
  return field ? field->boolean() : Result<bool>(absent);
}

// The prompt of a chat request, as /v1/chat/completions would have it.
Result<chat::Prompt> render_chat(const std::string& body, const Context& context) {
  DAYBREAK_TRY(const chat::ChatRequest request,
               chat::parse_chat_request(body, context.options.limits));
  DAYBREAK_CHECK_OK(check_served(request.model, context));
  return chat::render(request, *context.tokenizer);
}

Result<std::vector<TokenId>> ids_to_tokenize(const Field& root, const std::string& body,
                                             const Context& context) {
  // The tokenizer of K3 has no special tokens to add.
  DAYBREAK_TRY([[maybe_unused]] const bool add_special,
               read_flag(root, "add_special_tokens", true));
  DAYBREAK_TRY(const bool allow_special, read_flag(root, "allow_special", true));
  const auto prompt = root.find("prompt");
  if (root.find("messages")) {
    if (prompt) {
      return prompt->wrong("cannot be combined with messages");
    }
    DAYBREAK_TRY(chat::Prompt rendered, render_chat(body, context));
    return std::move(rendered.ids);
  }
  if (!prompt) {
    return Error{Errc::kInvalidArgument, "prompt: expected a string, or messages, found nothing"};
  }
  DAYBREAK_TRY(const std::string text, prompt->string(std::numeric_limits<std::size_t>::max()));
  std::vector<TokenId> ids;
  context.tokenizer->encode(
      text, allow_special ? tokenizer::AllowSpecial::kYes : tokenizer::AllowSpecial::kNo,
      tokenizer::Slicing::kOn, ids);
  return ids;
}

Result<std::string> tokenize(const std::string& body, const Context& context) {
  DAYBREAK_TRY(const JsonNode tree, parse_body(body, context));
  const Field root(tree, "");
  DAYBREAK_TRY(const bool texts, read_flag(root, "return_token_strs", false));
  DAYBREAK_TRY(const std::vector<TokenId> ids, ids_to_tokenize(root, body, context));
  std::string out = "{\"count\":" + std::to_string(ids.size());
  out += ",\"max_model_len\":" + std::to_string(context.generator.context_tokens());
  out += ",\"tokens\":[";
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out += (i > 0 ? "," : "") + std::to_string(ids[i]);
  }
  out += "],\"token_strs\":";
  if (!texts) {
    return out + "null}";
  }
  out += '[';
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out += i > 0 ? "," : "";
    chat::append_json_text(out, context.tokenizer->bytes_of(ids[i]));
  }
  return out + "]}";
}

Result<std::string> detokenize(const std::string& body, const Context& context) {
  DAYBREAK_TRY(const JsonNode tree, parse_body(body, context));
  const auto tokens = Field(tree, "").find("tokens");
  if (!tokens) {
    return Error{Errc::kInvalidArgument, "tokens: expected an array of token ids, found nothing"};
  }
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();  // parse_body bounds it
  DAYBREAK_TRY(const std::vector<TokenId> ids,
               read_token_ids(*tokens, context.options.limits, kAny));
  std::string out = "{\"prompt\":";
  chat::append_json_text(out, context.tokenizer->decode(ids));
  return out + "}";
}

Result<std::string> estimate_token_count(const std::string& body, const Context& context) {
  DAYBREAK_TRY(const chat::Prompt prompt, render_chat(body, context));
  return "{\"data\":{\"total_tokens\":" + std::to_string(prompt.billed_tokens()) + "}}";
}

}  // namespace

void add_token_routes(http::Router& router, Context& context) {
  router.add("POST", "/tokenize", on_body(context, tokenize));
  router.add("POST", "/detokenize", on_body(context, detokenize));
  router.add("POST", "/v1/tokenizers/estimate-token-count", on_body(context, estimate_token_count));
}

}  // namespace daybreak::api
