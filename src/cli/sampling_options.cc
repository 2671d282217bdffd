// SPDX-License-Identifier: Apache-2.0
#include "cli/sampling_options.h"

namespace daybreak::cli {

void add_sampling_options(Command command, engine::SamplingParams& params) {
  command.add_option("--temperature", params.temperature, "0 = always the most probable token")
      .show_default();
  command.add_option("--top-p", params.top_p, "keep the most probable tokens that sum to this")
      .show_default();
  command.add_option("--top-k", params.top_k, "keep this many most probable tokens; 0 = all")
      .show_default();
  command
      .add_option("--min-p", params.min_p,
                  "keep tokens at least this times as probable as the best")
      .show_default();
  command.add_option("--typical-p", params.typical_p, "keep tokens of typical surprise")
      .show_default();
  command
      .add_option("--repetition-penalty", params.repetition_penalty,
                  "divide logits of tokens seen in prompt or answer")
      .show_default();
  command
      .add_option("--presence-penalty", params.presence_penalty,
                  "subtract from logits of tokens in the answer")
      .show_default();
  command
      .add_option("--frequency-penalty", params.frequency_penalty,
                  "subtract per occurrence in the answer")
      .show_default();
  command.add_option("--seed", params.seed, "of the noise: same seed, same answer").show_default();
}

}  // namespace daybreak::cli
