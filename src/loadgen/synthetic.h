// SPDX-License-Identifier: Apache-2.0
#pragma once

// Synthetic workloads: traces made from a few numbers and a seed. Every request is due at once;
// --request-rate spreads them.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "loadgen/trace.h"

namespace daybreak::loadgen {

enum class SyntheticKind : std::uint8_t {
  kRandom,        // prompts with nothing in common
  kSharedPrefix,  // one of a few beginnings, then text of its own
  kSonnet,        // a beginning all have in common, then lines of one poem in any order
};

struct SyntheticOptions {
  SyntheticKind kind = SyntheticKind::kRandom;
  std::size_t requests = 100;
  std::size_t input_tokens = 1'024;  // of a prompt, the beginning included
  std::size_t output_tokens = 128;
  std::size_t prefix_tokens = 512;  // of a beginning that is shared; not for kRandom
  std::size_t prefixes = 8;         // of kSharedPrefix
  double range_ratio = 0;           // lengths are uniform in [(1 - r) x, (1 + r) x], in [0, 1)
  std::uint64_t seed = 0;
};

inline constexpr std::size_t kSonnetLines = 64;
inline constexpr std::size_t kSonnetLineTokens = 8;

// The same options give the same trace. Errors: kInvalidArgument if a prompt would be shorter than
// the beginning it shares.
[[nodiscard]] Result<std::unique_ptr<TraceSource>> synthetic_trace(const SyntheticOptions& options);

}  // namespace daybreak::loadgen
