// SPDX-License-Identifier: Apache-2.0
#include "cli/sampling_options.h"

namespace daybreak::cli {

void add_sampling_options(CLI::App& command, engine::SamplingParams& params) {
  command.add_option("--temperature", params.temperature, "0 = always the most probable token")
      ->capture_default_str();
  command.add_option("--top-p", params.top_p, "keep the most probable tokens that sum to this")
      ->capture_default_str();
  command.add_option("--top-k", params.top_k, "keep this many most probable tokens; 0 = all")
      ->capture_default_str();
  command
      .add_option("--min-p", params.min_p,
                  "keep tokens at least this times as probable as the best")
      ->capture_default_str();
  command.add_option("--typical-p", params.typical_p, "keep tokens of typical surprise")
      ->capture_default_str();
  command
      .add_option("--repetition-penalty", params.repetition_penalty,
                  "divide logits of tokens seen in prompt or answer")
      ->capture_default_str();
  command
      .add_option("--presence-penalty", params.presence_penalty,
                  "subtract from logits of tokens in the answer")
      ->capture_default_str();
  command
      .add_option("--frequency-penalty", params.frequency_penalty,
                  "subtract per occurrence in the answer")
      ->capture_default_str();
  command.add_option("--seed", params.seed, "of the noise: same seed, same answer")
      ->capture_default_str();
}

}  // namespace daybreak::cli
