// SPDX-License-Identifier: Apache-2.0
#pragma once

// Automaton: reads an answer byte by byte and marker by marker. Invariant: a thread exists only if
// it can be completed, so "no thread left" is exactly "no conforming answer begins like this".

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/token.h"
#include "grammar/message_rules.h"
#include "grammar/state_arena.h"

namespace daybreak::grammar {

// Alternatives that are followed side by side. Nesting does not multiply them (Frame::kJoin), but a
// schema can have thousands at one place. Beyond the bound the later ones are let go: what is still
// allowed conforms and can be completed, but not all that conforms is allowed any more.
inline constexpr std::size_t kMaxThreads = 2'048;
// Steps of one mask or of one token. A grammar can be written that takes more; its answer ends with
// an error, and no other answer waits for it.
inline constexpr std::uint64_t kMaxWork = 400'000;

// The same for a text that is there already.
[[nodiscard]] constexpr std::uint64_t bytes_work(std::string_view text) {
  return kMaxWork + 100 * text.size();
}

// What a grammar was compiled to. Immutable.
struct AutomatonProgram {
  RuleGraph rules;
  CompiledSchemas schemas;
  Integers integers = Integers::kZeroFraction;
};

// The steps; stateless but for the arena that new frames go to. Not thread-safe.
class Automaton {
 public:
  // Both outlive this.
  Automaton(const AutomatonProgram& program, StateArena& arena)
      : program_(program), arena_(arena) {}

  // Allows `steps` more. When they are used up nothing is appended any more, and exhausted() says
  // so.
  void begin_work(std::uint64_t steps) { work_ = steps; }
  [[nodiscard]] bool exhausted() const { return work_ == 0; }

  // Appends the threads at the beginning.
  void start(Threads& out);
  // Replaces `out` by the threads that all of `threads` become by reading a byte: settled.
  void step_all(std::span<const Thread> threads, std::uint8_t byte, Threads& out);
  // Append the threads that one thread becomes by reading a byte, or a marker. May append doubles,
  // see settle().
  void step(const Thread& thread, std::uint8_t byte, Threads& out);
  void step_marker(const Thread& thread, TokenId marker, Threads& out);
  // Whether the answer may end at this thread.
  [[nodiscard]] bool complete(const Thread& thread);
  // Appends the threads that go on where `thread` may end by itself, without a byte: a number that
  // could have more digits, a raw text. Nothing for other leaves.
  void leave(const Thread& thread, Threads& out);

  // Appends the threads after a key that is `label`, if such a key may come. REQUIRES: kKey, and
  // the key was not there yet.
  void complete_key(const Thread& thread, KeyLabel label, Threads& out);
  // Appends the threads after a string value. REQUIRES: kString, and the value is allowed.
  void complete_string(const Thread& thread, Threads& out);

  // Appends the threads at the beginning of the next element. REQUIRES: kArrayOpen or kArrayNext.
  void begin_element(const Thread& thread, bool space, Threads& out);

  // Appends a thread before the first byte of each kind of number that a value may be.
  // REQUIRES: kValue.
  void begin_numbers(const Thread& thread, Threads& out);

  // Removes doubles, joins threads that only differ in their frames, and keeps to kMaxThreads.
  void settle(Threads& threads);

  [[nodiscard]] const AutomatonProgram& program() const { return program_; }

 private:
  // Goes to a node of a rule: reads nothing.
  void enter(RuleGraph::NodeId node, const Frame* frame, Threads& out);
  void enter_node(RuleGraph::NodeId node, const Frame* frame, Threads& out);
  bool first_visit(const std::pair<RuleGraph::NodeId, std::uint64_t>& place);
  // The value or rule inside `frame` is complete.
  void complete_inside(const Frame* frame, Threads& out);
  void complete_rule(const Frame* frame, Threads& out);
  void settle_many(Threads& threads);
  void unite_frames(Threads& threads);

  void step_node(const Thread& thread, std::uint8_t byte, Threads& out);
  void step_text(const Thread& thread, std::uint8_t byte, Threads& out);
  void step_value(const Thread& thread, std::uint8_t byte, Threads& out);
  void step_literal(const Thread& thread, std::uint8_t byte, Threads& out);
  void step_number(const Thread& thread, std::uint8_t byte, Threads& out);
  void step_string(const Thread& thread, std::uint8_t byte, Threads& out);
  void close_string(const Thread& thread, Threads& out);

  void open_string(const Thread& thread, const Formula& formula, Threads& out);
  void open_object(const Thread& thread, const Formula& formula, Threads& out);
  void open_array(const Thread& thread, const Formula& formula, Threads& out);

  void step_object_open(const Thread& thread, std::uint8_t byte, Threads& out);
  void step_key_start(const Thread& thread, std::uint8_t byte, Threads& out);
  void step_key(const Thread& thread, std::uint8_t byte, Threads& out);
  void step_colon(const Thread& thread, std::uint8_t byte, Threads& out);
  void step_object_next(const Thread& thread, std::uint8_t byte, Threads& out);
  void close_key(const Thread& thread, Threads& out);
  [[nodiscard]] bool key_viable(const Thread& thread) const;
  [[nodiscard]] bool key_state_viable(const Thread& thread, Dfa::State state) const;

  void step_array_open(const Thread& thread, std::uint8_t byte, Threads& out);
  void step_array_next(const Thread& thread, std::uint8_t byte, Threads& out);
  // uniqueItems: whether the string in progress can become one that is not there yet.
  [[nodiscard]] bool string_fresh(const Thread& thread) const;
  // The frame with a finished scalar added, where uniqueItems needs it.
  [[nodiscard]] const Frame* with_value(const Frame* frame, const Thread& thread);

  // Takes one step away. Returns false if none is left.
  bool work() { return work_ != 0 && --work_ != 0; }
  // The numbers of a list of values; kept for the last list.
  [[nodiscard]] std::span<const Decimal> seen_numbers(const SeenValues* seen);

  const AutomatonProgram& program_;
  StateArena& arena_;
  std::uint64_t work_ = kMaxWork;
  std::uint64_t numbers_hash_ = 0;  // of the list that numbers_ is of
  std::vector<Decimal> numbers_;
  Threads elements_;  // of step_all()
  // During one enter(): where it is still to go, and where it has been, frames by their hash.
  std::vector<std::pair<RuleGraph::NodeId, const Frame*>> places_;
  std::vector<std::pair<RuleGraph::NodeId, std::uint64_t>> entered_;
  std::set<std::pair<RuleGraph::NodeId, std::uint64_t>> entered_more_;  // where entered_ is full
};

}  // namespace daybreak::grammar
