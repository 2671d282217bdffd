// SPDX-License-Identifier: Apache-2.0
#pragma once

// Guesses: where one job's guesses come from and how they went. See docs/speculation.md.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/token.h"
#include "engine/draft_length.h"
#include "engine/prompt_lookup.h"

namespace daybreak::engine {

enum class SpeculationMethod : std::uint8_t { kNone, kNgram };

struct SpeculationOptions {
  SpeculationMethod method = SpeculationMethod::kNone;
  std::size_t most = 7;       // guesses at a time, at most StepModel::max_guesses()
  std::size_t min_match = 3;  // see PromptLookup. 1 to kMaxLookupIds
};

// How the guesses of a step went.
struct GuessOutcome {
  std::size_t guessed = 0;
  std::size_t accepted = 0;
};

class Guesses {
 public:
  // `expected` ids will be appended in all, or more.
  Guesses(const SpeculationOptions& options, std::size_t expected)
      : lookup_(options.min_match, expected), length_(options.most) {}

  // Appends ids to the sequence that is guessed. Throws std::bad_alloc.
  void append(std::span<const TokenId> ids) { lookup_.append(ids); }
  [[nodiscard]] std::size_t size() const { return lookup_.size(); }

  // Appends up to `most` guesses of the next ids to `out`.
  void make(std::size_t most, std::vector<TokenId>& out) {
    const std::size_t before = out.size();
    out.resize(before + std::min(most, length_.next()));
    out.resize(before + lookup_.propose(std::span(out).subspan(before)));
  }
  void learn(const GuessOutcome& outcome) { length_.learn(outcome.guessed, outcome.accepted); }

 private:
  PromptLookup lookup_;
  DraftLength length_;
};

}  // namespace daybreak::engine
