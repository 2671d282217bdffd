// SPDX-License-Identifier: Apache-2.0
#pragma once

// Traces: what was asked of a server and when, without the texts. A source gives one conversation
// after the other, so that a trace of any length takes little memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace daybreak::loadgen {

inline constexpr std::size_t kMaxTraceTokens = std::size_t{1} << 24U;  // of a prompt or an answer
inline constexpr std::size_t kMaxTraceBlocks = std::size_t{1} << 20U;  // of a prompt
inline constexpr std::size_t kMaxTraceTurns = std::size_t{1} << 16U;   // of a conversation
inline constexpr double kMaxTraceSeconds = 1e10;

// One request of a conversation.
struct Turn {
  double at_seconds = 0;     // since the trace began
  double think_seconds = 0;  // that passed between the answer before and this request
  std::size_t input_tokens = 0;
  std::size_t output_tokens = 0;
  // Names of the prompt's blocks of block_tokens tokens each, from its beginning on: the first
  // `kept_blocks` of the turn before, then `blocks`. Equal names within a scope, equal text. What
  // the blocks do not cover is text of this request alone.
  std::size_t kept_blocks = 0;
  std::vector<std::uint64_t> blocks;
};

// Requests of which each waits for the answer to the one before. The first begins it.
struct Conversation {
  std::string name;         // in messages and records
  std::uint64_t scope = 0;  // within which names of blocks mean the same
  std::size_t block_tokens = 0;
  std::vector<Turn> turns;  // at least one
};

// Used by one thread.
class TraceSource {
 public:
  virtual ~TraceSource() = default;
  // Returns the next conversation, nothing at the end. Errors: those of the reader behind it; what
  // was read before stays good.
  [[nodiscard]] virtual Result<std::optional<Conversation>> next() = 0;
};

enum class TraceFormat : std::uint8_t {
  kMooncake,  // JSON lines: timestamp (ms), input_length, output_length, hash_ids of 512 tokens
  kAgent,     // JSON, a conversation per file: requests of t, in, out, hash_ids, think_time
  kAzure,     // CSV: TIMESTAMP,ContextTokens,GeneratedTokens
};

// Returns the format a path has by its name: a directory or .json, .jsonl, .csv.
// Errors: kNotFound, kInvalidArgument (another ending).
[[nodiscard]] Result<TraceFormat> format_of(const std::string& path);

// Errors: kNotFound, kIo, kInvalidArgument for an agent directory without a .json file.
[[nodiscard]] Result<std::unique_ptr<TraceSource>> open_trace(const std::string& path,
                                                              TraceFormat format);

// Returns `source` cut after `requests` requests.
[[nodiscard]] std::unique_ptr<TraceSource> limited(std::unique_ptr<TraceSource> source,
                                                   std::size_t requests);

struct TraceSize {
  std::size_t conversations = 0;
  std::size_t requests = 0;
  double seconds = 0;  // of its last request
};

// Reads `source` to its end, so that a fault in it is found before anything is asked.
[[nodiscard]] Result<TraceSize> measure(TraceSource& source);

}  // namespace daybreak::loadgen
