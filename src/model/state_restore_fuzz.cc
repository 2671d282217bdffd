// SPDX-License-Identifier: Apache-2.0
// SequenceState::restore on arbitrary bytes. Checksums stop random bytes early, so the input is
// also tried as the payload of a header that is right.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "model/state_pool.h"

namespace {

daybreak::model::ModelConfig fuzz_config() {
  daybreak::model::ModelConfig config;
  config.vocab_size = 16;
  config.hidden_size = 8;
  config.layers = 2;
  config.kda_layers = {1, 0};
  config.kda.heads = 1;
  config.kda.head_dim = 2;
  config.kda.conv_kernel = 2;
  config.mla.heads = 1;
  config.mla.kv_lora_rank = 1;
  config.mla.qk_rope_head_dim = 1;
  config.max_positions = 256;
  return config;
}

// Restoring must either fail and leave the state alone, or give a state that saves as those bytes.
void check(daybreak::model::SequenceState& state, std::span<const std::byte> bytes) {
  const std::vector<std::byte> before = state.save();
  const bool restored = state.restore(bytes).has_value();
  const std::vector<std::byte> after = state.save();
  const bool expected = restored ? std::ranges::equal(after, bytes) : after == before;
  if (!expected) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using daybreak::model::StatePool;
  static StatePool pool(fuzz_config(), {.slots = 1, .max_positions = 256});
  const auto state = *pool.acquire();
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  check(*state, bytes);
  // A real header, overwritten from its position on.
  std::vector<std::byte> patched = state->save();
  for (std::size_t i = 0; i < size && 24 + i < patched.size(); ++i) {
    patched[24 + i] = bytes[i];
  }
  check(*state, patched);
  return 0;
}
