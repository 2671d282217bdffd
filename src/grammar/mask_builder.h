// SPDX-License-Identifier: Apache-2.0
#pragma once

// MaskBuilder: the tokens that may follow a state. Inside strings the shared StringMasks answer for
// all tokens at once; everywhere else the automaton walks the trie of tokens, where few survive the
// first byte.

#include <cstdint>
#include <span>
#include <vector>

#include "grammar/automaton.h"
#include "grammar/vocabulary_index.h"

namespace daybreak::grammar {

// Not thread-safe. The vocabulary outlives it.
class MaskBuilder {
 public:
  explicit MaskBuilder(const VocabularyIndex& vocabulary);

  // Sets in `row` [words] the bits of all tokens and markers that may follow `threads`, and clears
  // all others. Leaves the arena as it was.
  void build(Automaton& automaton, StateArena& arena, const Threads& threads,
             std::span<std::uint32_t> row);

  // Appends the threads after all bytes of `token`; none: not allowed.
  static void step_all(Automaton& automaton, const Threads& threads, std::string_view bytes,
                       Threads& out);

 private:
  void add_markers(Automaton& automaton, const Thread& thread, std::span<std::uint32_t> row);
  // Returns false if the walk has to answer for this thread.
  bool add_string(Automaton& automaton, const Thread& thread, std::span<std::uint32_t> row);
  void add_text(const Thread& thread, std::span<std::uint32_t> row);
  void add_closing(Automaton& automaton, const Thread& thread, const StringMask& mask,
                   std::span<std::uint32_t> row);
  [[nodiscard]] bool allowed(Automaton& automaton, const Thread& thread, TokenId id) const;
  void mark_another_key(TokenTrie::Node node, bool comma, bool another);
  // Marks in accepted_ the nodes of rests() that `threads` can read.
  void mark_rests(Automaton& automaton, const Threads& threads);
  void mark_below(Automaton& automaton, TokenTrie::Node node, std::size_t depth);
  // The used texts that begin with the string in progress.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> used(const Thread& thread) const;

  void walk(Automaton& automaton, const Threads& threads, std::span<std::uint32_t> row);
  void walk_below(Automaton& automaton, TokenTrie::Node node, std::size_t depth,
                  std::span<std::uint32_t> row);
  void set_token(TokenTrie::Node node, std::span<std::uint32_t> row) const;
  Threads& level(std::size_t depth);

  const VocabularyIndex& vocabulary_;
  std::vector<Threads> levels_;          // by depth in the trie
  std::vector<std::uint32_t> accepted_;  // [rests().nodes()]: the round that accepted it
  std::uint32_t round_ = 0;
  std::vector<bool> another_key_;   // [rests().nodes()]: whether a key can begin within
  std::vector<std::uint32_t> own_;  // the row of one thread
};

}  // namespace daybreak::grammar
