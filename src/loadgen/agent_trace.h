// SPDX-License-Identifier: Apache-2.0
#pragma once

// Traces of coding agents as kv-cache-tester records them: a JSON file a conversation, with
// "block_size" and "requests": [{"t": s, "in", "out", "hash_ids": [...], "think_time": s}]. Hash
// ids mean the same within a file only, unless "hash_id_scope" is "global".
//
// Source: github.com/callanjfox/kv-cache-tester, as described in its trace files.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "loadgen/trace.h"

namespace daybreak::loadgen {

inline constexpr std::size_t kMaxAgentTraceBytes = std::size_t{64} << 20U;  // of one file
inline constexpr std::size_t kMaxAgentTraces = 100'000;                     // of a directory

// A file, or a directory of them in the order of their names. Errors: kNotFound, kIo,
// kInvalidArgument (no .json file), kTooLarge. next() gives kInvalidArgument naming file and field.
[[nodiscard]] Result<std::unique_ptr<TraceSource>> open_agent_trace(const std::string& path);

// One file's text. `name` stands for it in messages, and is the scope of its hash ids.
[[nodiscard]] Result<Conversation> parse_agent_trace(std::string_view text, std::string_view name);

}  // namespace daybreak::loadgen
