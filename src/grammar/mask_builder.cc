// SPDX-License-Identifier: Apache-2.0
#include "grammar/mask_builder.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "grammar/suspects.h"
#include "grammar/unused_text.h"

namespace daybreak::grammar {
namespace {

void set_bit(std::span<std::uint32_t> row, TokenId id) { row[id / 32] |= 1U << (id % 32); }
void clear_bit(std::span<std::uint32_t> row, TokenId id) { row[id / 32] &= ~(1U << (id % 32)); }

void add_inside(const StringMask& mask, std::span<std::uint32_t> row) {
  if (mask.row != nullptr) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] |= (*mask.row)[i];
    }
  }
  for (const TokenId id : mask.list) {
    set_bit(row, id);
  }
}

// Whether everything the key automaton knows may still come, but for names that were there: then
// the masks of its language hold, except for tokens that repeat a key.
bool all_but_seen(const Thread& thread) {
  const ObjectShape& shape = *thread.frame->object;
  for (KeyLabel label = 0; label < shape.options.size(); ++label) {
    if (shape.options[label].empty()) {
      continue;
    }
    const std::size_t names = shape.keys.names.size();
    const bool chosen =
        label < names ? ((thread.choices->names[label / 64] | thread.frame->seen[label / 64]) >>
                         (label % 64)) &
                            1U
                      : (thread.choices->atoms >> (label - names)) & 1U;
    if (!chosen) {
      return false;
    }
  }
  return true;
}

// A name as what is left of it after `length` code points.
std::vector<std::uint32_t> rest_of(std::string_view name, std::uint32_t length) {
  std::vector<std::uint32_t> rest;
  for (std::size_t i = 0; i < name.size();) {
    const CodePoint code_point = valid_code_point(name, i);
    i += code_point.length;
    if (length == 0) {
      rest.push_back(code_point.value);
    } else {
      --length;
    }
  }
  return rest;
}

}  // namespace

MaskBuilder::MaskBuilder(const VocabularyIndex& vocabulary)
    : vocabulary_(vocabulary),
      levels_(vocabulary.trie().depth() + 2),
      accepted_(vocabulary.strings().rests().nodes()),
      another_key_(accepted_.size()),
      own_(vocabulary.words()) {
  mark_another_key(TokenTrie::kRoot, false, false);
}

// The walk over what follows a key does not know that key itself, so a token in which one more key
// follows is looked at byte by byte.
void MaskBuilder::mark_another_key(TokenTrie::Node node, bool comma, bool another) {
  const TokenTrie& rests = vocabulary_.strings().rests();
  another_key_[node] = another;
  for (TokenTrie::Node child = node + 1; child < rests.end(node); child = rests.end(child)) {
    const std::uint8_t byte = rests.byte(child);
    mark_another_key(child, byte == ',' || (comma && byte == ' '),
                     another || (comma && byte == '"'));
  }
}

Threads& MaskBuilder::level(std::size_t depth) {
  levels_[depth].clear();
  return levels_[depth];
}

void MaskBuilder::set_token(TokenTrie::Node node, std::span<std::uint32_t> row) const {
  const TokenTrie& trie = vocabulary_.trie();
  for (TokenId id = trie.token(node); id != TokenTrie::kNoToken; id = trie.same_bytes(id)) {
    set_bit(row, id);
  }
}

void MaskBuilder::build(Automaton& automaton, StateArena& arena, const Threads& threads,
                        std::span<std::uint32_t> row) {
  std::ranges::fill(row, 0U);
  const StateArena::Mark mark = arena.mark();
  Threads walked;
  for (const Thread& thread : threads) {
    add_markers(automaton, thread, row);
    if (thread.leaf == Leaf::kText) {
      add_text(thread, row);
    } else if (!add_string(automaton, thread, row)) {
      walked.push_back(thread);
    }
  }
  if (!walked.empty()) {
    walk(automaton, walked, row);
  }
  arena.release(mark);
}

void MaskBuilder::step_all(Automaton& automaton, const Threads& threads, std::string_view bytes,
                           Threads& out) {
  Threads now = threads;
  Threads next;
  for (const char byte : bytes) {
    next.clear();
    for (const Thread& thread : now) {
      automaton.step(thread, static_cast<std::uint8_t>(byte), next);
    }
    Automaton::remove_doubles(next);
    std::swap(now, next);
    if (now.empty()) {
      return;
    }
  }
  out.insert(out.end(), now.begin(), now.end());
}

void MaskBuilder::add_markers(Automaton& automaton, const Thread& thread,
                              std::span<std::uint32_t> row) {
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

void MaskBuilder::add_text(const Thread& thread, std::span<std::uint32_t> row) {
  add_inside(*vocabulary_.strings().find(*thread.language, StringCoding::kRaw, thread.string), row);
}

// ------------------------------------------------------------------------------------- strings

bool MaskBuilder::add_string(Automaton& automaton, const Thread& thread,
                             std::span<std::uint32_t> row) {
  const bool key = thread.leaf == Leaf::kKey;
  if (!(key ? all_but_seen(thread) : thread.leaf == Leaf::kString)) {
    return false;
  }
  const auto mask =
      vocabulary_.strings().find(*thread.language, StringCoding::kJson, thread.string);
  const auto texts = used(thread);
  if (texts.empty()) {
    add_inside(*mask, row);
    add_closing(automaton, thread, *mask, row);
    return true;
  }
  std::ranges::fill(own_, 0U);
  add_inside(*mask, own_);
  add_closing(automaton, thread, *mask, own_);
  for (const TokenId id : suspects(vocabulary_.trie(), thread.string, texts)) {
    if (allowed(automaton, thread, id)) {
      set_bit(own_, id);
    } else {
      clear_bit(own_, id);
    }
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] |= own_[i];
  }
  return true;
}

std::vector<std::vector<std::uint32_t>> MaskBuilder::used(const Thread& thread) const {
  if (thread.leaf == Leaf::kString) {
    const SeenValues* seen = thread.frame->values;
    return seen == nullptr ? std::vector<std::vector<std::uint32_t>>()
                           : used_rests(thread.text, seen->strings);
  }
  std::vector<const TextLink*> keys;
  for (const KeyLink* key = thread.frame->keys; key != nullptr; key = key->next) {
    keys.push_back(key->text);
  }
  auto rests = used_rests(thread.text, keys);
  const KeyAutomaton& automaton = thread.frame->object->keys;
  const KeyAutomaton::State& at = automaton.states[thread.string.state];
  const std::uint32_t length = thread.text == nullptr ? 0 : thread.text->length;
  for (std::uint32_t name = at.first_name; name < at.last_name; ++name) {
    if (((thread.frame->seen[name / 64] >> (name % 64)) & 1U) != 0) {
      rests.push_back(rest_of(automaton.names[name], length));
    }
  }
  return rests;
}

void MaskBuilder::add_closing(Automaton& automaton, const Thread& thread, const StringMask& mask,
                              std::span<std::uint32_t> row) {
  // What may follow the quote depends on the key (its label is told by the state at the quote), or,
  // for values, on nothing: exits of one state are answered together.
  std::vector<const StringExit*> exits;
  for (const StringExit& exit : mask.exits) {
    exits.push_back(&exit);
  }
  const bool key = thread.leaf == Leaf::kKey;
  const auto group = [&](const StringExit& exit) {
    return key ? thread.frame->object->keys.states[exit.state].label : KeyLabel{0};
  };
  if (key) {
    std::ranges::sort(exits, {},
                      [&](const StringExit* exit) { return std::pair(group(*exit), exit->rest); });
  }
  KeyLabel marked = kNoLabel;
  bool closes = false;
  for (const StringExit* exit : exits) {
    if (marked == kNoLabel || group(*exit) != marked) {
      marked = group(*exit);
      Threads after;
      key ? automaton.complete_key(thread, marked, after)
          : automaton.complete_string(thread, after);
      closes = !after.empty();
      if (closes) {
        mark_rests(automaton, after);
      }
    }
    if (!closes || accepted_[exit->rest] != round_) {
      continue;
    }
    const bool sure = !key || !another_key_[exit->rest];
    for (const TokenId id : exit->ids) {
      if (sure || allowed(automaton, thread, id)) {
        set_bit(row, id);
      }
    }
  }
}

bool MaskBuilder::allowed(Automaton& automaton, const Thread& thread, TokenId id) const {
  Threads after;
  step_all(automaton, {thread}, vocabulary_.token(id), after);
  return !after.empty();
}

void MaskBuilder::mark_rests(Automaton& automaton, const Threads& threads) {
  ++round_;
  accepted_[TokenTrie::kRoot] = round_;
  level(0) = threads;
  mark_below(automaton, TokenTrie::kRoot, 0);
}

void MaskBuilder::mark_below(Automaton& automaton, TokenTrie::Node node, std::size_t depth) {
  const TokenTrie& rests = vocabulary_.strings().rests();
  for (TokenTrie::Node child = node + 1; child < rests.end(node); child = rests.end(child)) {
    Threads& next = level(depth + 1);
    for (const Thread& thread : levels_[depth]) {
      automaton.step(thread, rests.byte(child), next);
    }
    if (!next.empty()) {
      Automaton::remove_doubles(next);
      accepted_[child] = round_;
      mark_below(automaton, child, depth + 1);
    }
  }
}

// ------------------------------------------------------------------------------ everything else

void MaskBuilder::walk(Automaton& automaton, const Threads& threads, std::span<std::uint32_t> row) {
  level(0) = threads;
  walk_below(automaton, TokenTrie::kRoot, 0, row);
}

void MaskBuilder::walk_below(Automaton& automaton, TokenTrie::Node node, std::size_t depth,
                             std::span<std::uint32_t> row) {
  const TokenTrie& trie = vocabulary_.trie();
  for (TokenTrie::Node child = node + 1; child < trie.end(node); child = trie.end(child)) {
    Threads& next = level(depth + 1);
    for (const Thread& thread : levels_[depth]) {
      automaton.step(thread, trie.byte(child), next);
    }
    if (next.empty()) {
      continue;
    }
    Automaton::remove_doubles(next);
    set_token(child, row);
    walk_below(automaton, child, depth + 1, row);
  }
}

}  // namespace daybreak::grammar
