// SPDX-License-Identifier: Apache-2.0
#include "model/memory_plan.h"

#include <string>

namespace daybreak::model {
namespace {

Error out_of_range(std::string_view what, std::uint64_t value, std::uint64_t max) {
  return {Errc::kInvalidArgument, std::string(what) + ": expected an integer in [1, " +
                                      std::to_string(max) + "], found " + std::to_string(value)};
}

// Adds a * b to `total`; false if that overflows.
bool add_product(std::uint64_t a, std::uint64_t b, std::uint64_t& product, std::uint64_t& total) {
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(total, product, &total);
}

void fill_unit_sizes(const ModelConfig& config, MemoryPlan& plan) {
  const std::uint64_t bytes = bytes_of(plan.options.format);
  const std::uint64_t kda = config.kda_layer_count();
  const std::uint64_t mla = config.mla_layer_count();
  if (mla > 0) {
    plan.cache_per_token = mla * config.mla.cache_width() * bytes;
    // Absorbed attention reads them the other way round than the checkpoint stores them.
    constexpr std::uint64_t kStoredBytes = 2;
    plan.copies = mla * config.mla.heads * config.mla.qk_nope_head_dim * config.mla.kv_lora_rank *
                  kStoredBytes;
  }
  if (kda > 0) {
    plan.state_per_sequence = kda * config.kda.width() * config.kda.head_dim * sizeof(float);
    plan.conv_per_sequence = kda * 3 * config.kda.width() * (config.kda.conv_kernel - 1) * bytes;
  }
  const std::uint64_t sources = config.saved_block_count() + 1;  // and the running sum
  plan.residual_per_token = sources * config.hidden_size * sizeof(float);
}

}  // namespace

Result<MemoryPlan> plan_memory(const ModelConfig& config, std::uint64_t weight_bytes,
                               const MemoryPlanOptions& options) {
  if (options.context < 1 || options.context > config.max_positions) {
    return out_of_range("context", options.context, config.max_positions);
  }
  if (options.slots < 1 || options.slots > kMaxPlanSlots) {
    return out_of_range("slots", options.slots, kMaxPlanSlots);
  }
  if (options.checkpoints > kMaxPlanSlots) {
    return Error{Errc::kInvalidArgument, "checkpoints: expected at most " +
                                             std::to_string(kMaxPlanSlots) + ", found " +
                                             std::to_string(options.checkpoints)};
  }
  MemoryPlan plan;
  plan.options = options;
  plan.weights = weight_bytes;
  fill_unit_sizes(config, plan);
  plan.total = weight_bytes;
  const std::uint64_t pages = (options.context + kPlanPagePositions - 1) / kPlanPagePositions;
  std::uint64_t copies = 0;
  const bool fits =
      add_product(plan.copies, 1, copies, plan.total) &&
      add_product(plan.cache_per_token, pages * kPlanPagePositions * options.slots, plan.cache,
                  plan.total) &&
      add_product(plan.state_per_sequence + plan.conv_per_sequence, options.slots, plan.sequences,
                  plan.total) &&
      add_product(plan.state_per_sequence + plan.conv_per_sequence, options.checkpoints,
                  plan.checkpoints, plan.total) &&
      add_product(plan.residual_per_token, options.tokens_in_flight, plan.in_flight, plan.total);
  if (!fits) {
    return Error{Errc::kInvalidArgument, "context " + std::to_string(options.context) + " in " +
                                             std::to_string(options.slots) + " slots with " +
                                             std::to_string(options.checkpoints) +
                                             " checkpoints takes more than 2^64 bytes"};
  }
  return plan;
}

}  // namespace daybreak::model
