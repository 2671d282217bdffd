// SPDX-License-Identifier: Apache-2.0
#include "grammar/mask_builder.h"

#include <algorithm>
#include <utility>

#include "grammar/first_bytes.h"
#include "grammar/mask_bits.h"

namespace daybreak::grammar {
namespace {

// Leaves whose numbers add_number_starts() has answered for.
bool before_value(const Thread& thread) {
  return (thread.leaf == Leaf::kValue || thread.leaf == Leaf::kArrayOpen) &&
         thread.frame->values == nullptr;
}

}  // namespace

MaskBuilder::MaskBuilder(const VocabularyIndex& vocabulary)
    : vocabulary_(vocabulary),
      levels_(vocabulary.trie().depth() + 2),
      accepted_(vocabulary.strings().rests().nodes()),
      another_string_(accepted_.size()),
      own_(vocabulary.words()) {
  mark_another_string(TokenTrie::kRoot, false, false);
}

Threads& MaskBuilder::level(std::size_t depth) {
  levels_[depth].clear();
  return levels_[depth];
}

void MaskBuilder::build(Automaton& automaton, StateArena& arena, const Threads& threads, Row row) {
  std::ranges::fill(row, 0U);
  const StateArena::Mark mark = arena.mark();
  Threads walked;
  for (const Thread& thread : threads) {
    add_markers(automaton, thread, row);
    add_thread(automaton, thread, row, walked);
  }
  if (!walked.empty()) {
    walk(automaton, walked, row);
  }
  arena.release(mark);
}

void MaskBuilder::add_thread(Automaton& automaton, const Thread& thread, Row row, Threads& walked) {
  switch (thread.leaf) {
    case Leaf::kText:
      add_inside(*vocabulary_.strings().find(*thread.language, StringCoding::kRaw, thread.string),
                 row);
      return;
    case Leaf::kString:
      return add_string(automaton, thread, row);
    case Leaf::kKey:
      if (!add_key(automaton, thread, row)) {
        walked.push_back(thread);
      }
      return;
    case Leaf::kNumber:
      if (!add_number(automaton, thread, row, walked)) {
        walked.push_back(thread);
      }
      return;
    case Leaf::kValue:
    case Leaf::kArrayOpen:
      if (before_value(thread)) {
        add_number_starts(automaton, thread, row);
      }
      break;
    default:
      break;
  }
  walked.push_back(thread);
}

void MaskBuilder::step_all(Automaton& automaton, const Threads& threads, std::string_view bytes,
                           Threads& out) {
  Threads now = threads;
  Threads next;
  for (const char byte : bytes) {
    automaton.step_all(now, static_cast<std::uint8_t>(byte), next);
    std::swap(now, next);
    if (now.empty()) {
      return;
    }
  }
  out.insert(out.end(), now.begin(), now.end());
}

bool MaskBuilder::allowed(Automaton& automaton, const Thread& thread, TokenId id) const {
  Threads after;
  step_all(automaton, {thread}, vocabulary_.token(id), after);
  return !after.empty();
}

void MaskBuilder::add_markers(Automaton& automaton, const Thread& thread, Row row) {
  if (thread.leaf == Leaf::kNode) {
    const RuleGraph& rules = automaton.program().rules;
    const RuleGraph::Node& node = rules.nodes[thread.number];
    for (std::uint32_t i = node.first; i < node.last; ++i) {
      const RuleGraph::Edge& edge = rules.edges[i];
      if (edge.kind == RuleGraph::EdgeKind::kMarker) {
        set_bit(row, edge.value);
      }
    }
    return;
  }
  Threads after;
  automaton.leave(thread, after);
  for (const Thread& one : after) {
    add_markers(automaton, one, row);
  }
}

// ------------------------------------------------------------------------------------- numbers

bool MaskBuilder::add_number(Automaton& automaton, const Thread& thread, Row row, Threads& walked) {
  if (thread.frame->values != nullptr) {
    return false;  // uniqueItems: the numbers that were there are not to come again
  }
  const bool plain = automaton.program().integers == Integers::kPlain &&
                     (*thread.numbers)->language().integers == NumberLanguage::Integers::kOnly;
  const auto point = plain ? NumberMasks::Point::kNo : NumberMasks::Point::kYes;
  NumberMasks& masks = vocabulary_.numbers();
  for (const TokenId id : *masks.find(*thread.numbers, *thread.digits, point)) {
    set_bit(row, id);
  }
  for (const TokenId id : masks.crossing()) {
    if (allowed(automaton, thread, id)) {
      set_bit(row, id);
    }
  }
  automaton.leave(thread, walked);
  return true;
}

void MaskBuilder::add_number_starts(Automaton& automaton, const Thread& value, Row row) {
  Threads values;
  if (value.leaf == Leaf::kArrayOpen) {
    automaton.begin_element(value, false, values);
  } else {
    values.push_back(value);
  }
  Threads starts;
  for (const Thread& one : values) {
    automaton.begin_numbers(one, starts);
  }
  Threads never;  // a number without a digit does not end
  for (const Thread& start : starts) {
    static_cast<void>(add_number(automaton, start, row, never));
  }
}

// ------------------------------------------------------------------------------ everything else

void MaskBuilder::walk(Automaton& automaton, const Threads& threads, Row row) {
  if (std::ranges::all_of(threads, [](const Thread& t) { return t.leaf == Leaf::kNode; })) {
    rule_walk_.run(automaton, threads, vocabulary_.trie(), row);
    return;
  }
  Threads others;
  std::ranges::copy_if(threads, std::back_inserter(others),
                       [](const Thread& t) { return !before_value(t); });
  ByteSet first;
  for (const Thread& thread : threads) {
    add_first_bytes(automaton.program().rules, thread, first);
  }
  first.for_each([&](std::uint8_t byte) {
    if (const TokenTrie::Node node = vocabulary_.trie().first(byte); node != TokenTrie::kRoot) {
      walk_to(automaton, node, 1, is_number_byte(byte) ? others : threads, row);
    }
  });
}

// Goes on from `threads`, which are before the byte of `node`.
void MaskBuilder::walk_to(Automaton& automaton, TokenTrie::Node node, std::size_t depth,
                          const Threads& threads, Row row) {
  const TokenTrie& trie = vocabulary_.trie();
  Threads& next = level(depth);
  automaton.step_all(threads, trie.byte(node), next);
  if (next.empty()) {
    return;
  }
  set_token(trie, node, row);
  walk_below(automaton, node, depth, row);
}

// Goes on from level `depth`, which is after the byte of `node`.
void MaskBuilder::walk_below(Automaton& automaton, TokenTrie::Node node, std::size_t depth,
                             Row row) {
  const TokenTrie& trie = vocabulary_.trie();
  for (TokenTrie::Node child = node + 1; child < trie.end(node); child = trie.end(child)) {
    walk_to(automaton, child, depth + 1, levels_[depth], row);
  }
}

}  // namespace daybreak::grammar
