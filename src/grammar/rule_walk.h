// SPDX-License-Identifier: Apache-2.0
#pragma once

// RuleWalk: the walk over the trie of tokens where all threads stand in rules. A rule such as
// [^\n]* lets most of the vocabulary pass, but its states come again and again: the automaton is
// made deterministic as far as the walk gets, and most nodes of the trie cost a table look-up.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "grammar/automaton.h"
#include "grammar/token_trie.h"

namespace daybreak::grammar {

// Not thread-safe. Keeps its memory, nothing else, from run to run.
class RuleWalk {
 public:
  // Sets the bits of the tokens that `threads` can read.
  void run(Automaton& automaton, const Threads& threads, const TokenTrie& trie,
           std::span<std::uint32_t> row);

 private:
  using State = std::int32_t;
  static constexpr State kDead = -1;
  static constexpr State kUnknown = -2;
  // States and threads beyond so many in one walk are stepped without being kept, so that a grammar
  // that counts does not fill memory.
  static constexpr std::size_t kMaxStates = 4'096;
  static constexpr std::size_t kMaxKeptThreads = 65'536;

  struct Entry {
    Threads threads;
    std::array<State, 256> next;
  };

  State intern(Threads threads);
  State next(Automaton& automaton, State state, std::uint8_t byte);
  void below(Automaton& automaton, const TokenTrie& trie, TokenTrie::Node node, State state,
             std::span<std::uint32_t> row);
  void below_unkept(Automaton& automaton, const TokenTrie& trie, TokenTrie::Node node,
                    const Threads& threads, std::span<std::uint32_t> row);

  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, State> by_hash_;
  std::size_t kept_threads_ = 0;
  Threads stepped_;
};

}  // namespace daybreak::grammar
