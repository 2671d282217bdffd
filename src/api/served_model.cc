// SPDX-License-Identifier: Apache-2.0
#include "api/served_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json_document.h"
#include "chat/response_json.h"

namespace daybreak::api {
namespace {

// Says what limits a sequence, and to how many tokens.
std::string sequence_limit(const Context& context) {
  const std::size_t tokens = context.generator.context_tokens();
  if (tokens < context.options.model_context) {
    return fmt::format("this server keeps at most {} tokens per sequence (max_positions)", tokens);
  }
  return fmt::format("the context of this model has {}", tokens);
}

}  // namespace

Status check_served(std::string_view name, const Context& context) {
  const auto found = find_served(name, context);
  return found ? ok() : Status(found.error());
}

Result<ServedModel> find_served(std::string_view name, const Context& context) {
  const auto names = context.names.get();
  if (name.empty() || std::ranges::find(*names, name) != names->end()) {
    return ServedModel{.name = context.options.model_names.front()};
  }
  engine::AdapterRegistry* const adapters = context.options.lora.adapters.get();
  if (engine::AdapterPtr adapter = adapters == nullptr ? nullptr : adapters->find(name)) {
    return ServedModel{.name = std::string(name), .adapter = std::move(adapter)};
  }
  return unknown_model(name);
}

std::vector<std::string> served_names(const Context& context) {
  std::vector<std::string> names = *context.names.get();
  if (context.options.lora.adapters != nullptr) {
    for (const engine::NamedAdapter& one : *context.options.lora.adapters->list()) {
      names.push_back(one.name);
    }
  }
  return names;
}

Error unknown_model(std::string_view name) {
  return {Errc::kNotFound, fmt::format("model: no model '{}' here", name), chat::kModelNotFound};
}

void add_models(Error& error, const std::vector<std::string>& names) {
  if (error.reason == chat::kModelNotFound) {
    error.message += names.empty() ? ", nor any other that this key may use"
                                   : fmt::format(", expected {}", fmt::join(names, " or "));
  }
}

std::string served_name_in(std::string_view body, const Context& context) {
  const auto document = JsonDocument::parse(body, "body", {.max_bytes = body.size()});
  const auto model = document ? document->root().find("model") : std::nullopt;
  const auto name = model ? model->string() : Result<std::string_view>("");
  return name && check_served(*name, context) ? std::string(*name) : "";
}

Error prompt_too_long(std::string_view field, std::size_t prompt, const Context& context) {
  return {Errc::kInvalidArgument,
          fmt::format("{}: Input token length too long: the prompt has {} tokens, {}", field,
                      prompt, sequence_limit(context)),
          chat::kContextLengthExceeded};
}

Error answer_too_long(std::string_view field, std::string_view max_tokens_field,
                      std::uint64_t max_tokens, std::size_t prompt, const Context& context) {
  return {Errc::kInvalidArgument,
          fmt::format("{}: the prompt has {} tokens and {} asks for {} more, which do not fit "
                      "together: {}",
                      field, prompt, max_tokens_field, max_tokens, sequence_limit(context)),
          chat::kContextLengthExceeded};
}

}  // namespace daybreak::api
