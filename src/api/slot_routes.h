// SPDX-License-Identifier: Apache-2.0
#pragma once

// The administrator's view of the engine's slots: GET /slots, POST /slots/{id}?action=... in the
// shape of llama.cpp, and vLLM's POST /reset_prefix_cache. Replies hold counts, never content.

#include <string>

#include "api/context.h"
#include "base/result.h"
#include "http/router.h"

namespace daybreak::api {

// Slot files one directory may hold.
inline constexpr std::size_t kMaxSlotFiles = 1024;

void add_slot_routes(http::Router& router, Context& context);

// Errors: kInvalidArgument unless `path` is empty or a directory.
[[nodiscard]] Status check_slot_save_path(const std::string& path);

}  // namespace daybreak::api
