// SPDX-License-Identifier: Apache-2.0
#pragma once

// What `daybreak bench grammar` measured, as text for people and as JSON for scripts.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace daybreak::cli {

struct GrammarBenchResult {
  std::size_t vocab_size = 0;
  std::size_t schemas = 0;
  std::size_t instances = 0;
  std::map<std::string, std::size_t> refused;  // by the message without what it quotes
  std::vector<std::string> wrongly_refused;    // valid instances, "NAME: instance N: ..."
  std::vector<std::string> wrongly_accepted;   // invalid ones
  std::vector<std::uint64_t> mask_ns;          // every mask after the first of each schema
  std::vector<std::uint64_t> first_mask_ns;    // one per compiled schema: compile, matcher, mask
  std::size_t grammar_bytes = 0;               // of all compiled grammars, alive together
  std::size_t resident_bytes = 0;              // by which the process grew while they were made
};

// Returns a refusal without what it quotes, so that refusals can be counted by kind: the path at
// its front and everything in quotes are cut.
[[nodiscard]] std::string kind_of_refusal(const std::string& message);

[[nodiscard]] std::string grammar_bench_json(const GrammarBenchResult& result);
[[nodiscard]] std::string grammar_bench_text(const GrammarBenchResult& result);

}  // namespace daybreak::cli
