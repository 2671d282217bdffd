// SPDX-License-Identifier: Apache-2.0
#include "model/lora_adapter.h"

#include <algorithm>

namespace daybreak::model {
namespace {

constexpr std::array<std::string_view, kLoraModuleCount> kNames = {
    "q_proj",    "k_proj",   "v_proj",   "o_proj",   "g_proj",   "g_a_proj",           "g_b_proj",
    "f_a_proj",  "f_b_proj", "b_proj",   "q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj",
    "gate_proj", "up_proj",  "down_proj"};

}  // namespace

std::string_view to_string(LoraModule module) { return kNames[static_cast<std::size_t>(module)]; }

std::optional<LoraModule> parse_lora_module(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  return found == kNames.end() ? std::nullopt
                               : std::optional(static_cast<LoraModule>(found - kNames.begin()));
}

std::size_t LoraAdapter::bytes() const {
  std::size_t sum = 0;
  for (const AlignedBuffer<std::byte>& one : parts_.memory) {
    sum += one.size();
  }
  return sum;
}

std::size_t LoraAdapter::modules() const {
  std::size_t count = 0;
  for (const Layer& layer : parts_.layers) {
    count += static_cast<std::size_t>(
        std::ranges::count_if(layer.pairs, [](const auto& pair) { return pair.has_value(); }));
  }
  return count;
}

}  // namespace daybreak::model
