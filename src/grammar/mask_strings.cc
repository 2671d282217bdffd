// SPDX-License-Identifier: Apache-2.0
// The half of MaskBuilder that answers inside strings and keys.
#include <algorithm>
#include <bit>
#include <utility>

#include "base/utf8.h"
#include "grammar/mask_bits.h"
#include "grammar/mask_builder.h"
#include "grammar/unused_text.h"

namespace daybreak::grammar {
namespace {

using Rests = std::vector<std::vector<std::uint32_t>>;

// Keys that the key so far begins, as what is left of them.
struct KnownKeys {
  Rests rests;
  std::vector<KeyLabel> labels;  // kNoLabel: a key that was there
};

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

enum class Names : std::uint8_t { kAll, kSeen, kChosen };

void add_names(const Thread& thread, Names which, KnownKeys& known) {
  const KeyAutomaton& keys = thread.frame->object->keys;
  const KeyAutomaton::State& at = keys.states[thread.string.state];
  const std::uint32_t length = thread.text == nullptr ? 0 : thread.text->length;
  for (std::uint32_t name = at.first_name; name < at.last_name; ++name) {
    const auto bit = [&](std::uint64_t word) { return ((word >> (name % 64)) & 1U) != 0; };
    const bool seen = bit(thread.frame->seen[name / 64]);
    const bool chosen = bit(thread.choices->names[name / 64]);
    if (which == Names::kAll || (which == Names::kSeen ? seen : chosen)) {
      known.rests.push_back(rest_of(keys.names[name], length));
      known.labels.push_back(chosen ? name : kNoLabel);
    }
  }
}

// The other keys of the object.
void add_used_keys(const Thread& thread, KnownKeys& known) {
  std::vector<const TextLink*> texts;
  for (const KeyLink* key = thread.frame->keys; key != nullptr; key = key->next) {
    texts.push_back(key->text);
  }
  Rests used = used_rests(thread.text, texts);
  std::ranges::move(used, std::back_inserter(known.rests));
  known.labels.resize(known.rests.size(), kNoLabel);
}

// Whether everything the key automaton knows may still come, but for names that were there: then
// the masks of its language hold, except for tokens that repeat a key.
bool all_but_seen(const Thread& thread) {
  const ObjectShape& shape = *thread.frame->object;
  const std::size_t names = shape.keys.names.size();
  for (KeyLabel label = 0; label < shape.options.size(); ++label) {
    if (shape.options[label].empty()) {
      continue;
    }
    const std::uint64_t word =
        label < names
            ? (thread.choices->names[label / 64] | thread.frame->seen[label / 64]) >> (label % 64)
            : std::uint64_t{thread.choices->atoms} >> (label - names);
    if ((word & 1U) == 0) {
      return false;
    }
  }
  return true;
}

// The same place for the language of all strings.
StringState free_state(const StringState& state) {
  StringState free = state;
  free.state = Dfa::kStart;
  free.chars = 0;
  return free;
}

}  // namespace

MaskBuilder::Row MaskBuilder::own() {
  std::ranges::fill(own_, 0U);
  return own_;
}

void MaskBuilder::join_own(Row row) const {
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] |= own_[i];
  }
}

void MaskBuilder::check(Automaton& automaton, const Thread& thread, const std::vector<TokenId>& ids,
                        Row row) const {
  for (const TokenId id : ids) {
    if (allowed(automaton, thread, id)) {
      set_bit(row, id);
    } else {
      clear_bit(row, id);
    }
  }
}

void MaskBuilder::clear_below(TokenTrie::Node quote, Row row) const {
  const TokenTrie& trie = vocabulary_.trie();
  for (TokenTrie::Node node = quote; node < trie.end(quote); ++node) {
    for (TokenId id = trie.token(node); id != TokenTrie::kNoToken; id = trie.same_bytes(id)) {
      clear_bit(row, id);
    }
  }
}

void MaskBuilder::add_after_key(Automaton& automaton, const Thread& thread, KeyLabel label,
                                TokenTrie::Node quote, Row row) {
  Threads& after = level(0);
  automaton.complete_key(thread, label, after);
  if (!after.empty()) {
    set_token(vocabulary_.trie(), quote, row);
    walk_below(automaton, quote, 0, row);
  }
}

// -------------------------------------------------------------------------------------- values

void MaskBuilder::add_string(Automaton& automaton, const Thread& thread, Row row) {
  const auto mask =
      vocabulary_.strings().find(*thread.language, StringCoding::kJson, thread.string);
  if (!mask->exits.empty()) {
    Threads after;
    automaton.complete_string(thread, after);
    mark_rests(automaton, after);
  }
  const Rests used = used_rests(thread.text, strings_of(thread.frame->values));
  const Row target = used.empty() ? row : own();
  add_inside(*mask, target);
  const bool unique = thread.frame->kind == Frame::Kind::kArray && thread.frame->array->unique;
  for (const StringExit& exit : mask->exits) {
    add_exit(automaton, thread, exit, unique && another_string_[exit.rest], target);
  }
  if (!used.empty()) {
    const Spellings same = vocabulary_.spellings().find(thread.string, used);
    check(automaton, thread, same.inside, target);
    for (const Spellings::Closing& closing : same.closing) {
      clear_below(closing.quote, target);
    }
    join_own(row);
  }
}

void MaskBuilder::add_exit(Automaton& automaton, const Thread& thread, const StringExit& exit,
                           bool each, Row row) const {
  if (!each && accepted_[exit.rest] != round_) {
    return;
  }
  for (const TokenId id : exit.ids) {
    if (!each || allowed(automaton, thread, id)) {
      set_bit(row, id);
    }
  }
}

// ---------------------------------------------------------------------------------------- keys

bool MaskBuilder::add_key(Automaton& automaton, const Thread& thread, Row row) {
  if (thread.choices->atoms == 0) {
    add_named_key(automaton, thread, row);
    return true;
  }
  if (thread.frame->object->keys.open) {
    add_open_key(automaton, thread, row);
    return true;
  }
  if (all_but_seen(thread)) {
    add_pattern_key(automaton, thread, row);
    return true;
  }
  return false;
}

// Only names can come: the tokens that spell one, and no others.
void MaskBuilder::add_named_key(Automaton& automaton, const Thread& thread, Row row) {
  KnownKeys names;
  add_names(thread, Names::kChosen, names);
  const Spellings spelled = vocabulary_.spellings().find(thread.string, names.rests);
  for (const TokenId id : spelled.inside) {
    set_bit(row, id);
  }
  for (const Spellings::Closing& closing : spelled.closing) {
    add_after_key(automaton, thread, names.labels[closing.text], closing.quote, row);
  }
}

// Any key can come: what is true of all strings, corrected for the keys that the object knows.
void MaskBuilder::add_open_key(Automaton& automaton, const Thread& thread, Row row) {
  const auto mask = vocabulary_.strings().find(StringLanguage::all(), StringCoding::kJson,
                                               free_state(thread.string));
  Threads after;
  automaton.complete_key(thread, static_cast<KeyLabel>(thread.frame->object->keys.names.size()),
                         after);
  mark_rests(automaton, after);
  KnownKeys known;
  add_names(thread, Names::kAll, known);
  add_used_keys(thread, known);
  const Row target = known.rests.empty() ? row : own();
  add_inside(*mask, target);
  for (const StringExit& exit : mask->exits) {
    add_exit(automaton, thread, exit, another_string_[exit.rest], target);
  }
  if (!known.rests.empty()) {
    for (const Spellings::Closing& closing :
         vocabulary_.spellings().find(thread.string, known.rests).closing) {
      clear_below(closing.quote, target);
      if (known.labels[closing.text] != kNoLabel) {
        add_after_key(automaton, thread, known.labels[closing.text], closing.quote, target);
      }
    }
    join_own(row);
  }
}

// Patterns tell keys apart: the masks of the automaton's own language.
void MaskBuilder::add_pattern_key(Automaton& automaton, const Thread& thread, Row row) {
  const auto mask =
      vocabulary_.strings().find(*thread.language, StringCoding::kJson, thread.string);
  KnownKeys known;
  add_names(thread, Names::kSeen, known);
  add_used_keys(thread, known);
  const Row target = known.rests.empty() ? row : own();
  add_inside(*mask, target);
  add_closing_keys(automaton, thread, *mask, target);
  if (!known.rests.empty()) {
    const Spellings same = vocabulary_.spellings().find(thread.string, known.rests);
    check(automaton, thread, same.inside, target);
    for (const Spellings::Closing& closing : same.closing) {
      clear_below(closing.quote, target);
    }
    join_own(row);
  }
}

void MaskBuilder::add_closing_keys(Automaton& automaton, const Thread& thread,
                                   const StringMask& mask, Row row) {
  const auto label_of = [&](const StringExit* exit) {
    return thread.frame->object->keys.states[exit->state].label;
  };
  std::vector<const StringExit*> exits;
  for (const StringExit& exit : mask.exits) {
    exits.push_back(&exit);
  }
  std::ranges::sort(exits, {}, label_of);
  KeyLabel marked = kNoLabel;
  bool closes = false;
  for (const StringExit* exit : exits) {
    if (label_of(exit) != marked) {
      marked = label_of(exit);
      Threads after;
      automaton.complete_key(thread, marked, after);
      closes = !after.empty();
      if (closes) {
        mark_rests(automaton, after);
      }
    }
    if (closes) {
      add_exit(automaton, thread, *exit, another_string_[exit->rest], row);
    }
  }
}

// The walk over what follows a key, or a string that must not come twice, does not know that text
// itself, so a token in which one more begins is looked at byte by byte.
void MaskBuilder::mark_another_string(TokenTrie::Node node, bool comma, bool another) {
  const TokenTrie& rests = vocabulary_.strings().rests();
  another_string_[node] = another;
  for (TokenTrie::Node child = node + 1; child < rests.end(node); child = rests.end(child)) {
    const std::uint8_t byte = rests.byte(child);
    mark_another_string(child, byte == ',' || (comma && byte == ' '),
                        another || (comma && byte == '"'));
  }
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
    automaton.step_all(levels_[depth], rests.byte(child), next);
    if (!next.empty()) {
      accepted_[child] = round_;
      mark_below(automaton, child, depth + 1);
    }
  }
}

}  // namespace daybreak::grammar
