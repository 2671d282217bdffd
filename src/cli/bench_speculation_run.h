// SPDX-License-Identifier: Apache-2.0
#pragma once

// The measured part of `daybreak bench speculation`: one answer of given text at a time, with
// guesses and without. The model computes every step; then its rows are replaced by ones that draw
// the text, so that what repeats and how often does not depend on the weights.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "engine/guesses.h"
#include "model/model.h"

namespace daybreak::cli {

// What the answers are like.
enum class SpeculationText : std::uint8_t {
  kRepetitive,  // the prompt again, every twentieth token another one
  kMisleading,  // three tokens come again and again, each time followed by another one
  kRandom,      // nothing repeats but by chance
};

struct SpeculationShape {
  std::size_t threads = 1;
  std::size_t prompt = 256;
  std::size_t tokens = 256;
  std::size_t repeat = 5;
  engine::SpeculationOptions speculation{.method = engine::SpeculationMethod::kNgram};
};

struct SpeculationResult {
  std::vector<double> plain_tok_s;     // one per repeat, ascending
  std::vector<double> guessing_tok_s;  // likewise
  std::uint64_t drafts = 0;
  std::uint64_t draft_tokens = 0;
  std::uint64_t accepted_tokens = 0;

  [[nodiscard]] double ratio() const {
    return guessing_tok_s[guessing_tok_s.size() / 2] / plain_tok_s[plain_tok_s.size() / 2];
  }
  // Tokens of a step with guesses.
  [[nodiscard]] double acceptance_length() const {
    return drafts == 0 ? 1.0
                       : 1.0 + static_cast<double>(accepted_tokens) / static_cast<double>(drafts);
  }
};

// Runs with and without guesses alternate. Errors: those of ModelRunner::create and Engine::start,
// and of answers.
[[nodiscard]] Result<SpeculationResult> run_speculation_bench(
    const std::shared_ptr<const model::Model>& model, SpeculationText text,
    const SpeculationShape& shape);

}  // namespace daybreak::cli
