// SPDX-License-Identifier: Apache-2.0
#include "loadgen/synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/rng.h"

namespace daybreak::loadgen {
namespace {

class Synthetic final : public TraceSource {
 public:
  explicit Synthetic(const SyntheticOptions& options) : options_(options), rng_(options.seed) {}

  Result<std::optional<Conversation>> next() override {
    if (made_ == options_.requests) {
      return std::optional<Conversation>();
    }
    Conversation out{.name = std::to_string(++made_), .turns = {}};
    Turn turn;
    turn.input_tokens = length(options_.input_tokens);
    turn.output_tokens = length(options_.output_tokens);
    if (options_.kind == SyntheticKind::kSharedPrefix) {
      out.block_tokens = options_.prefix_tokens;
      turn.blocks.push_back(rng_.below(static_cast<std::uint32_t>(options_.prefixes)));
    } else if (options_.kind == SyntheticKind::kSonnet) {
      out.block_tokens = kSonnetLineTokens;
      turn.blocks = lines(turn.input_tokens);
    }
    out.turns.push_back(std::move(turn));
    return std::optional(std::move(out));
  }

 private:
  std::size_t length(std::size_t middle) {
    const double x = static_cast<double>(middle);
    const auto low = static_cast<std::size_t>(std::floor(x * (1 - options_.range_ratio)));
    const auto high = static_cast<std::size_t>(std::ceil(x * (1 + options_.range_ratio)));
    const std::size_t drawn = low + rng_.below(static_cast<std::uint32_t>(high - low + 1));
    return std::clamp<std::size_t>(drawn, 1, kMaxTraceTokens);
  }

  // The poem from its first line on as far as all share it, then any of its lines.
  std::vector<std::uint64_t> lines(std::size_t tokens) {
    std::vector<std::uint64_t> out;
    const std::size_t shared = options_.prefix_tokens / kSonnetLineTokens;
    for (std::size_t i = 0; i < (tokens + kSonnetLineTokens - 1) / kSonnetLineTokens; ++i) {
      out.push_back(i < shared ? i % kSonnetLines : rng_.below(kSonnetLines));
    }
    return out;
  }

  const SyntheticOptions options_;
  Rng rng_;
  std::size_t made_ = 0;
};

}  // namespace

Result<std::unique_ptr<TraceSource>> synthetic_trace(const SyntheticOptions& options) {
  const double shortest = static_cast<double>(options.input_tokens) * (1 - options.range_ratio);
  if (options.kind != SyntheticKind::kRandom &&
      static_cast<double>(options.prefix_tokens) > std::floor(shortest)) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("--prefix-len: expected at most the shortest prompt, {:.0f}, found {}",
                             std::floor(shortest), options.prefix_tokens)};
  }
  return std::unique_ptr<TraceSource>(std::make_unique<Synthetic>(options));
}

}  // namespace daybreak::loadgen
