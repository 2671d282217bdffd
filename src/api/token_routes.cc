// SPDX-License-Identifier: Apache-2.0
#include "api/token_routes.h"

#include <boost/asio/use_awaitable.hpp>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/admission.h"
#include "api/completion_request.h"
#include "api/error_reply.h"
#include "api/ignored_fields.h"
#include "api/served_model.h"
#include "base/json_tree.h"
#include "chat/chat_request.h"
#include "chat/field_table.h"
#include "chat/known_members.h"
#include "chat/render.h"
#include "chat/request_fields.h"
#include "chat/response_json.h"

namespace daybreak::api {
namespace {

using chat::Field;
using http::Exchange;
using http::Task;

// What a route makes of a body: the JSON of its answer, and the model that was asked for.
struct Answer {
  std::string model;
  std::string json;
  std::vector<std::string> ignored = {};  // fields that changed nothing
};
using Work = Result<Answer> (*)(const std::string& body, const Context& context);

http::Handler on_body(Context& context, Work work) {
  return [&context, work](Exchange& exchange) -> Task<void> {
    const auto count = [work](const http::Request& request, const Context& all) -> Result<Counted> {
      DAYBREAK_TRY(Answer answer, work(request.body, all));
      Counted out{.model = std::move(answer.model), .response = {}};
      out.response.body = std::move(answer.json);
      out.response.headers = ignored_fields_headers(answer.ignored);
      return out;
    };
    co_await answer_counted(context, exchange, protocol_error_response, count);
  };
}

struct Body {
  JsonNode tree;
  std::string model;
  std::vector<std::string> ignored;
};

// A body that may hold as many token ids as the context, of a route with those `fields`.
Result<Body> parse_body(const std::string& body, const chat::FieldTable& fields,
                        const Context& context) {
  const chat::ChatLimits& limits = context.options.limits;
  Body out;
  DAYBREAK_TRY(out.tree, parse_json_tree(body, {.max_depth = limits.max_depth,
                                                .max_values = limits.max_values +
                                                              context.generator.context_tokens()}));
  const Field root(out.tree, "");
  DAYBREAK_CHECK_OK(root.object());
  DAYBREAK_CHECK_OK(fields.judge(root, out.ignored));
  if (const auto model = root.find("model")) {
    DAYBREAK_TRY(out.model, model->string(limits.max_name_bytes));
    DAYBREAK_CHECK_OK(check_served(out.model, context));
  }
  return out;
}

Result<bool> read_flag(const Field& root, std::string_view key, bool absent) {
  const auto field = root.find(key);
  return field ? field->boolean() : Result<bool>(absent);
}

struct RenderedChat {
  std::string model;
  chat::Prompt prompt;
  std::vector<std::string> ignored;
};

// The prompt of a chat request, as /v1/chat/completions would have it.
Result<RenderedChat> render_chat(const std::string& body, const Context& context) {
  DAYBREAK_TRY(chat::ChatRequest request, chat::parse_chat_request(body, context.options.limits));
  DAYBREAK_CHECK_OK(check_served(request.model, context));
  DAYBREAK_TRY(chat::Prompt prompt, chat::render(request, *context.tokenizer));
  return RenderedChat{std::move(request.model), std::move(prompt),
                      std::move(request.ignored_fields)};
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
    DAYBREAK_TRY(RenderedChat rendered, render_chat(body, context));
    return std::move(rendered.prompt.ids);
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

Result<Answer> tokenize(const std::string& body, const Context& context) {
  DAYBREAK_TRY(Body parsed, parse_body(body, chat::tokenize_fields(), context));
  const Field root(parsed.tree, "");
  DAYBREAK_TRY(const bool texts, read_flag(root, "return_token_strs", false));
  DAYBREAK_TRY(const std::vector<TokenId> ids, ids_to_tokenize(root, body, context));
  chat::add_unknown_members(root, chat::chat_members(), parsed.ignored);
  std::string out = "{\"count\":" + std::to_string(ids.size());
  out += ",\"max_model_len\":" + std::to_string(context.generator.context_tokens());
  out += ",\"tokens\":[";
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out += (i > 0 ? "," : "") + std::to_string(ids[i]);
  }
  out += "],\"token_strs\":";
  if (!texts) {
    return Answer{std::move(parsed.model), out + "null}", std::move(parsed.ignored)};
  }
  out += '[';
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out += i > 0 ? "," : "";
    chat::append_json_text(out, context.tokenizer->bytes_of(ids[i]));
  }
  return Answer{std::move(parsed.model), out + "]}", std::move(parsed.ignored)};
}

Result<Answer> detokenize(const std::string& body, const Context& context) {
  DAYBREAK_TRY(Body parsed, parse_body(body, chat::detokenize_fields(), context));
  const auto tokens = Field(parsed.tree, "").find("tokens");
  if (!tokens) {
    return Error{Errc::kInvalidArgument, "tokens: expected an array of token ids, found nothing"};
  }
  DAYBREAK_TRY(const std::vector<TokenId> ids, read_token_ids(*tokens, context.options.limits));
  std::string out = "{\"prompt\":";
  chat::append_json_text(out, context.tokenizer->decode(ids));
  return Answer{std::move(parsed.model), out + "}", std::move(parsed.ignored)};
}

Result<Answer> estimate_token_count(const std::string& body, const Context& context) {
  DAYBREAK_TRY(RenderedChat chat, render_chat(body, context));
  return Answer{std::move(chat.model),
                "{\"data\":{\"total_tokens\":" + std::to_string(chat.prompt.billed_tokens()) + "}}",
                std::move(chat.ignored)};
}

}  // namespace

void add_token_routes(http::Router& router, Context& context) {
  router.add("POST", "/tokenize", on_body(context, tokenize));
  router.add("POST", "/detokenize", on_body(context, detokenize));
  router.add("POST", "/v1/tokenizers/estimate-token-count", on_body(context, estimate_token_count));
}

}  // namespace daybreak::api
