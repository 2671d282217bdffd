// SPDX-License-Identifier: Apache-2.0
#pragma once

// adapter_config.json of a LoRA adapter as Hugging Face PEFT writes it: what decides the arithmetic
// is read, what would change it in a way that is not computed here is refused by name, and what
// only matters while training is passed over.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace daybreak::model {

inline constexpr std::size_t kMaxLoraRank = 64;
inline constexpr std::size_t kMaxLoraConfigBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxLoraPatterns = 4096;  // of ranks, of alphas and of targets, each
inline constexpr double kMaxLoraAlpha = 1e6;

struct LoraConfig {
  std::size_t rank = 0;          // "r", 1 to kMaxLoraRank
  double alpha = 0;              // "lora_alpha", 0 to kMaxLoraAlpha
  bool rank_stabilised = false;  // "use_rslora": alpha / sqrt(rank) instead of alpha / rank
  // In the order of the file, of which the first that matches counts.
  std::vector<std::pair<std::string, std::size_t>> rank_pattern;
  std::vector<std::pair<std::string, double>> alpha_pattern;
  // The names of "target_modules". Unset: they are an expression, and the tensors alone say which
  // modules are meant.
  std::optional<std::vector<std::string>> targets;

  // Of the module `path`, such as "model.layers.3.self_attn.q_proj".
  [[nodiscard]] std::size_t rank_of(std::string_view path) const;
  // Returns what the product of its two matrices is multiplied by, rounded once.
  [[nodiscard]] float scale_of(std::string_view path) const;
  // Whether target_modules names it.
  [[nodiscard]] bool targets_module(std::string_view path) const;
};

// `name` stands for the file in messages.
// Errors: kInvalidArgument  not JSON, a key missing, of another type or out of its range, an
//                           unknown key that is set to something
//         kUnsupported      naming the key of a method that is not computed here
//         kTooLarge         longer than kMaxLoraConfigBytes
[[nodiscard]] Result<LoraConfig> parse_lora_config(std::string_view text, std::string_view name);

// Whether `path`, or what follows one of its dots, matches `pattern`, in which a dot stands for any
// one character, as in PEFT, where patterns are regular expressions.
[[nodiscard]] bool matches_lora_pattern(std::string_view pattern, std::string_view path);

}  // namespace daybreak::model
