// SPDX-License-Identifier: Apache-2.0
#pragma once

// Mooncake's traces: one JSON object a line, {"timestamp": ms, "input_length", "output_length",
// "hash_ids": [...]}. A hash id names a block of 512 tokens and all before it; ids mean the same in
// the whole file. Every line is a conversation of its own.
//
// Source: github.com/kvcache-ai/Mooncake, FAST25-release/traces.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "loadgen/trace.h"

namespace daybreak::loadgen {

inline constexpr std::size_t kMooncakeBlockTokens = 512;

// Errors: kNotFound, kIo. next() gives kInvalidArgument naming file, line and field.
[[nodiscard]] Result<std::unique_ptr<TraceSource>> open_mooncake_trace(const std::string& path);

// One line; `where` names it in messages.
[[nodiscard]] Result<Conversation> parse_mooncake_line(std::string_view line,
                                                       std::string_view where);

}  // namespace daybreak::loadgen
