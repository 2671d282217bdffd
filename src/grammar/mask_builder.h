// SPDX-License-Identifier: Apache-2.0
#pragma once

// MaskBuilder: the tokens that may follow a state. Inside strings and numbers the shared masks of
// the vocabulary answer for all tokens at once; keys are told apart by the few tokens that spell
// them; everywhere else the automaton walks the trie of tokens, where few survive the first byte.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "grammar/automaton.h"
#include "grammar/rule_walk.h"
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

  // Appends the threads after all of `bytes`; none: not allowed.
  static void step_all(Automaton& automaton, const Threads& threads, std::string_view bytes,
                       Threads& out);

 private:
  using Row = std::span<std::uint32_t>;

  void add_thread(Automaton& automaton, const Thread& thread, Row row, Threads& walked);
  void add_markers(Automaton& automaton, const Thread& thread, Row row);
  [[nodiscard]] bool allowed(Automaton& automaton, const Thread& thread, TokenId id) const;

  // Numbers. add_number returns false where a walk has to answer (uniqueItems).
  bool add_number(Automaton& automaton, const Thread& thread, Row row, Threads& walked);
  void add_number_starts(Automaton& automaton, const Thread& value, Row row);

  // Strings and keys.
  void add_string(Automaton& automaton, const Thread& thread, Row row);
  bool add_key(Automaton& automaton, const Thread& thread, Row row);
  void add_open_key(Automaton& automaton, const Thread& thread, Row row);
  void add_named_key(Automaton& automaton, const Thread& thread, Row row);
  void add_pattern_key(Automaton& automaton, const Thread& thread, Row row);
  // Tokens that close a key of a pattern, where what may follow depends on the key's label.
  void add_closing_keys(Automaton& automaton, const Thread& thread, const StringMask& mask,
                        Row row);
  // Sets the bits of the tokens that close a string and go on with `exit.rest`: all of them where
  // mark_rests() found that it may follow; or, with `each`, those that are allowed one by one.
  void add_exit(Automaton& automaton, const Thread& thread, const StringExit& exit, bool each,
                Row row) const;
  // Sets or clears the bits of tokens, each looked at by itself.
  void check(Automaton& automaton, const Thread& thread, const std::vector<TokenId>& ids,
             Row row) const;
  // Clears the bits of all tokens at `quote` and below.
  void clear_below(TokenTrie::Node quote, Row row) const;
  // Sets those that may follow the closing quote of a key that is `label`.
  void add_after_key(Automaton& automaton, const Thread& thread, KeyLabel label,
                     TokenTrie::Node quote, Row row);
  // The row of one thread, for corrections before it joins the others. own() is all zero.
  Row own();
  void join_own(Row row) const;
  // Marks in accepted_ the nodes of rests() that `threads` can read.
  void mark_rests(Automaton& automaton, const Threads& threads);
  void mark_below(Automaton& automaton, TokenTrie::Node node, std::size_t depth);
  void mark_another_string(TokenTrie::Node node, bool comma, bool another);

  void walk(Automaton& automaton, const Threads& threads, Row row);
  void walk_below(Automaton& automaton, TokenTrie::Node node, std::size_t depth, Row row);
  void walk_to(Automaton& automaton, TokenTrie::Node node, std::size_t depth,
               const Threads& threads, Row row);
  Threads& level(std::size_t depth);

  const VocabularyIndex& vocabulary_;
  std::vector<Threads> levels_;          // by depth in the trie
  std::vector<std::uint32_t> accepted_;  // [rests().nodes()]: the round that accepted it
  std::uint32_t round_ = 0;
  std::vector<bool> another_string_;  // [rests().nodes()]: whether one more begins within
  std::vector<std::uint32_t> own_;
  RuleWalk rule_walk_;
};

}  // namespace daybreak::grammar
