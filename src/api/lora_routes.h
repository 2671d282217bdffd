// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loading and unloading LoRA adapters while serving, for administrators, as vLLM has them:
// POST /v1/load_lora_adapter and POST /v1/unload_lora_adapter.

#include <filesystem>
#include <string>
#include <string_view>

#include "api/context.h"
#include "base/result.h"
#include "http/router.h"

namespace daybreak::api {

// The context must outlive the handlers.
void add_lora_routes(http::Router& router, Context& context);

// Returns the directory that `path` names: absolute, or below `root`; links are followed, and in
// either case it is below `root`. Errors: kInvalidArgument.
[[nodiscard]] Result<std::filesystem::path> lora_path_below(const std::string& root,
                                                            std::string_view path);

}  // namespace daybreak::api
