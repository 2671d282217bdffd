// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a request may assume of the model behind this server.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/context.h"
#include "base/result.h"

namespace daybreak::api {

// Errors: unknown_model() unless `name` is empty or one under which the model or an adapter is
// served.
[[nodiscard]] Status check_served(std::string_view name, const Context& context);

// What answers a request.
struct ServedModel {
  std::string name;  // that replies and the ledger carry: the model's first one, or the adapter's
  engine::AdapterPtr adapter = nullptr;
};
// Returns it for the name that a request has. A name of the model goes before an adapter's.
// Errors: as check_served().
[[nodiscard]] Result<ServedModel> find_served(std::string_view name, const Context& context);

// Returns the names under which the model is served, then those of adapters.
[[nodiscard]] std::vector<std::string> served_names(const Context& context);

// Returns the error for a name under which no model is served. Where the caller is known,
// add_models() says which names he may use.
[[nodiscard]] Error unknown_model(std::string_view name);

// Adds to unknown_model(), and to no other error, the names that a caller may use.
void add_models(Error& error, const std::vector<std::string>& names);

// Returns the name of the model that a request's body has, or "" if that is none under which one is
// served. For a request that has been refused: whatever is wrong with it is no error here.
[[nodiscard]] std::string served_name_in(std::string_view body, const Context& context);

// Returns the error for a prompt that leaves no room for an answer. `field`: what the prompt is of.
[[nodiscard]] Error prompt_too_long(std::string_view field, std::size_t prompt,
                                    const Context& context);

// Returns the error for a prompt and the answer asked for, which do not fit together. OpenAI's
// clients know it by the field of the prompt, not by that of the length.
[[nodiscard]] Error answer_too_long(std::string_view field, std::string_view max_tokens_field,
                                    std::uint64_t max_tokens, std::size_t prompt,
                                    const Context& context);

}  // namespace daybreak::api
