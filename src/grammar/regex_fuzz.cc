// SPDX-License-Identifier: Apache-2.0
// Any bytes as a pattern: an automaton or an error, within the budget; the whole match is part of
// the search, and both are canonical.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "grammar/regex.h"

namespace {

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace daybreak::grammar;
  const std::string pattern(reinterpret_cast<const char*>(data), size);
  Budget budget(200'000);
  const auto search = compile_regex(pattern, RegexMatch::kSearch, budget);
  const auto whole = compile_regex(pattern, RegexMatch::kWhole, budget);
  if (!search || !whole) {
    const auto& error = search ? whole.error() : search.error();
    require(!error.message.empty() && error.code != daybreak::Errc::kCorrupt);
    return 0;
  }
  for (Dfa::State state = 0; state < search->states(); ++state) {
    for (const Dfa::Edge& edge : search->edges(state)) {
      require(edge.low <= edge.high && edge.target < search->states());
      require(search->next(state, edge.high) == edge.target);
    }
  }
  Budget more(2'000'000);
  const auto both = search->intersect(*whole, more);
  require(!both || *both == *whole);
  const auto outside = search->complement(more);
  if (outside) {
    const auto back = outside->complement(more);
    require(!back || *back == *search);
  }
  return 0;
}
