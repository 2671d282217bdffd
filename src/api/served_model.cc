// SPDX-License-Identifier: Apache-2.0
#include "api/served_model.h"

#include <fmt/format.h>

#include <algorithm>

namespace daybreak::api {

Status check_served(std::string_view name, const Context& context) {
  const auto names = context.names.get();
  const std::vector<std::string>& served = *names;
  if (name.empty() || std::ranges::find(served, name) != served.end()) {
    return ok();
  }
  return Error{Errc::kNotFound, fmt::format("model: no model '{}' here, expected {}", name,
                                            fmt::join(served, " or "))};
}

std::string sequence_limit(const Context& context) {
  const std::size_t tokens = context.generator.context_tokens();
  if (tokens < context.options.model_context) {
    return fmt::format("this server keeps at most {} tokens per sequence (max_positions)", tokens);
  }
  return fmt::format("the context of this model has {}", tokens);
}

}  // namespace daybreak::api
