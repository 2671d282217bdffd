// SPDX-License-Identifier: Apache-2.0
// The steps of Automaton inside strings and keys.
#include <algorithm>

#include "grammar/automaton.h"
#include "grammar/unused_text.h"

namespace daybreak::grammar {
namespace {

bool is_unique(const Frame* frame) {
  return frame->kind == Frame::Kind::kArray && frame->array->unique;
}

bool bit(std::span<const std::uint64_t> words, std::size_t index) {
  return ((words[index / 64] >> (index % 64)) & 1U) != 0;
}

// Whether some name in [first, last) is among the choices.
bool any_name(const KeyChoices& choices, std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t name = first; name < last; ++name) {
    const std::uint64_t rest = choices.names[name / 64] >> (name % 64);
    if (rest == 0) {
      name |= 63;  // none in this word
    } else if ((rest & 1U) != 0) {
      return true;
    }
  }
  return false;
}

std::vector<const TextLink*> texts_of(const KeyLink* keys) {
  std::vector<const TextLink*> texts;
  for (; keys != nullptr; keys = keys->next) {
    texts.push_back(keys->text);
  }
  return texts;
}

}  // namespace

// -------------------------------------------------------------------------------------- values

void Automaton::open_string(const Thread& thread, const Formula& formula, Threads& out) {
  if ((thread.types & kStringType) == 0) {
    return;
  }
  for (const auto& language : formula.strings) {
    Thread next;
    next.leaf = Leaf::kString;
    next.frame = thread.frame;
    next.language = &language;
    if (!is_unique(next.frame) || string_fresh(next)) {
      out.push_back(std::move(next));
    }
  }
}

bool Automaton::string_fresh(const Thread& thread) const {
  const SeenValues* seen = thread.frame->values;
  if (seen == nullptr) {
    return true;
  }
  const StringLanguage& language = **thread.language;
  return has_unused(
      language.dfa(), thread.string, thread.text, strings_of(seen),
      [&](Dfa::State state, std::uint32_t chars, std::uint64_t cap) {
        return language.count(state, chars, cap);
      },
      [&](Dfa::State state, std::uint32_t chars) { return language.accepts(state, chars); });
}

void Automaton::step_string(const Thread& thread, std::uint8_t byte, Threads& out) {
  Thread next = thread;
  const StringLanguage& language = **thread.language;
  if (!is_unique(thread.frame)) {
    const StringStep result = grammar::step(language, StringCoding::kJson, next.string, byte);
    if (result == StringStep::kInside) {
      out.push_back(std::move(next));
    } else if (result == StringStep::kClosed) {
      complete_inside(thread.frame, out);
    }
    return;
  }
  const DecodedByte decoded = decode_byte(StringCoding::kJson, next.string, byte);
  switch (decoded.kind) {
    case DecodedByte::Kind::kInvalid:
      return;
    case DecodedByte::Kind::kQuote:
      close_string(thread, out);
      return;
    case DecodedByte::Kind::kUnfinished:
      if (!can_complete(language, next.string)) {
        return;
      }
      break;
    case DecodedByte::Kind::kCodePoint:
      if (!step_code_point(language, next.string, decoded.code_point)) {
        return;
      }
      next.text = arena_.text(thread.text, decoded.code_point);
      break;
  }
  if (string_fresh(next)) {
    out.push_back(std::move(next));
  }
}

void Automaton::close_string(const Thread& thread, Threads& out) {
  const bool used =
      std::ranges::any_of(strings_of(thread.frame->values),
                          [&](const TextLink* text) { return equal_texts(text, thread.text); });
  if (!used && can_close(**thread.language, thread.string)) {
    complete_string(thread, out);
  }
}

void Automaton::complete_string(const Thread& thread, Threads& out) {
  complete_inside(with_value(thread.frame, thread), out);
}

const Frame* Automaton::with_value(const Frame* frame, const Thread& thread) {
  if (!is_unique(frame)) {
    return frame;
  }
  Frame next = *frame;
  if (thread.leaf == Leaf::kLiteral) {
    next.values = arena_.add_bits(frame->values, static_cast<std::uint8_t>(1U << thread.literal));
  } else if (thread.leaf == Leaf::kNumber) {
    next.values = arena_.add_number(frame->values, thread.digits->value());
  } else {
    next.values = arena_.add_string(frame->values, thread.text);
  }
  return arena_.keep(next);
}

// ---------------------------------------------------------------------------------------- keys

void Automaton::step_key_start(const Thread& thread, std::uint8_t byte, Threads& out) {
  if (byte == ' ' && thread.space) {
    out.push_back(thread);
    out.back().space = false;
    return;
  }
  const ObjectShape& shape = *thread.frame->object;
  if (byte != '"' || shape.keys.language == nullptr) {
    return;
  }
  Thread next;
  next.leaf = Leaf::kKey;
  next.frame = thread.frame;
  next.language = &shape.keys.language;
  const bool known = thread.choices != nullptr;  // from the comma, which came only with a key
  next.choices = known ? thread.choices : arena_.choices(shape.choices(thread.frame->progress()));
  if (known || key_viable(next)) {
    out.push_back(std::move(next));
  }
}

void Automaton::step_key(const Thread& thread, std::uint8_t byte, Threads& out) {
  Thread next = thread;
  const DecodedByte decoded = decode_byte(StringCoding::kJson, next.string, byte);
  switch (decoded.kind) {
    case DecodedByte::Kind::kInvalid:
      return;
    case DecodedByte::Kind::kQuote:
      close_key(thread, out);
      return;
    case DecodedByte::Kind::kUnfinished:
      break;
    case DecodedByte::Kind::kCodePoint:
      if (!step_code_point(**thread.language, next.string, decoded.code_point)) {
        return;
      }
      next.text = arena_.text(thread.text, decoded.code_point);
      break;
  }
  if (key_viable(next)) {
    out.push_back(std::move(next));
  }
}

// Whether the key can end as a name that is still free, or as one of endlessly many others.
bool Automaton::key_state_viable(const Thread& thread, Dfa::State state) const {
  const KeyAutomaton::State& at = thread.frame->object->keys.states[state];
  return (at.endless & thread.choices->atoms) != 0 ||
         any_name(*thread.choices, at.first_name, at.last_name);
}

bool Automaton::key_viable(const Thread& thread) const {
  const KeyAutomaton& keys = thread.frame->object->keys;
  const Dfa& dfa = keys.language->dfa();
  const std::uint32_t atoms = thread.choices->atoms;
  if (thread.string.phase == StringPhase::kPlain) {
    if (key_state_viable(thread, thread.string.state)) {
      return true;
    }
  } else {
    for (const CharRange& range : completions(thread.string)) {
      for (const Dfa::Edge& edge : dfa.edges(thread.string.state)) {
        if (edge.low <= range.high && range.low <= edge.high &&
            key_state_viable(thread, edge.target)) {
          return true;
        }
      }
    }
  }
  if ((keys.states[thread.string.state].atoms & atoms) == 0) {
    return false;
  }
  // Only finitely many keys of the allowed atoms are left here: are all of them used?
  const auto allowed_atom = [&](Dfa::State state) {
    const KeyLabel label = keys.states[state].label;
    return label != kNoLabel && label >= keys.names.size() &&
           ((atoms >> (label - keys.names.size())) & 1U) != 0;
  };
  return has_unused(
      dfa, thread.string, thread.text, texts_of(thread.frame->keys),
      [&](Dfa::State state, std::uint32_t, std::uint64_t cap) {
        return (keys.states[state].endless & atoms) != 0 ? cap : keys.count(state, atoms, cap);
      },
      [&](Dfa::State state, std::uint32_t) { return allowed_atom(state); });
}

void Automaton::close_key(const Thread& thread, Threads& out) {
  if (thread.string.phase != StringPhase::kPlain) {
    return;
  }
  const KeyAutomaton& keys = thread.frame->object->keys;
  const KeyLabel label = keys.states[thread.string.state].label;
  if (label == kNoLabel) {
    return;
  }
  if (label >= keys.names.size()) {
    for (const KeyLink* key = thread.frame->keys; key != nullptr; key = key->next) {
      if (equal_texts(key->text, thread.text)) {
        return;
      }
    }
  }
  complete_key(thread, label, out);
}

void Automaton::complete_key(const Thread& thread, KeyLabel label, Threads& out) {
  const Frame& frame = *thread.frame;
  const ObjectShape& shape = *frame.object;
  const bool name = label < shape.keys.names.size();
  if (name ? !bit(thread.choices->names, label)
           : ((thread.choices->atoms >> (label - shape.keys.names.size())) & 1U) == 0) {
    return;
  }
  Frame next = frame;
  if (name) {
    std::uint64_t* seen = arena_.words(shape.words());
    std::copy_n(frame.seen, shape.words(), seen);
    seen[label / 64] |= std::uint64_t{1} << (label % 64);
    next.seen = seen;
  } else {
    next.keys = arena_.key(frame.keys, thread.text);
  }
  // Without an upper bound, members beyond the lower one need no count.
  next.count = shape.max == kNoLimit ? std::min(frame.count + 1, shape.min) : frame.count + 1;
  for (const ChildOption& option : shape.options[label]) {
    if (shape.conditions != 0 && !shape.allows(frame.progress(), label, option)) {
      continue;
    }
    next.fulfilled = frame.fulfilled | option.fulfils;
    Thread after;
    after.leaf = Leaf::kColon;
    after.number = option.formula;
    after.frame = arena_.keep(next);
    out.push_back(after);
  }
}

}  // namespace daybreak::grammar
