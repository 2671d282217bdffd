// SPDX-License-Identifier: Apache-2.0
#include "grammar/automaton_state.h"

#include <algorithm>
#include <utility>

namespace daybreak::grammar {
namespace {

std::uint64_t join(std::uint64_t hash, std::uint64_t value) { return mix64(hash ^ mix64(value)); }

template <class T>
std::uint64_t address(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

std::uint64_t text_hash(const TextLink* text) { return text == nullptr ? 0 : text->hash; }

}  // namespace

bool equal_texts(const TextLink* a, const TextLink* b) {
  while (a != b) {
    if (a == nullptr || b == nullptr || a->hash != b->hash || a->length != b->length ||
        a->code_point != b->code_point) {
      return false;
    }
    a = a->before;
    b = b->before;
  }
  return true;
}

const TextLink* text_prefix(const TextLink* text, std::uint32_t length) {
  while (text != nullptr && text->length > length) {
    text = text->before;
  }
  return text;
}

std::uint64_t Thread::hash() const {
  std::uint64_t hash = static_cast<std::uint64_t>(leaf) | std::uint64_t{space} << 8 |
                       std::uint64_t{types} << 16 | std::uint64_t{literal} << 24 |
                       std::uint64_t{at} << 32;
  hash = join(hash, number);
  hash = join(hash, frame == nullptr ? 0 : frame->hash);
  hash = join(hash, language == nullptr ? 0 : (*language)->id());
  hash = join(hash, std::uint64_t{string.state} << 32 | string.chars);
  hash = join(hash, std::uint64_t{string.partial} << 16 |
                        static_cast<std::uint64_t>(string.phase) << 8 | string.missing);
  hash = join(hash, text == nullptr ? 0 : text->hash);
  if (leaf == Leaf::kNumber) {
    hash = join(join(hash, address(numbers->get())), digits->hash());
  }
  return hash;
}

StateArena::StateArena() = default;

StateArena::Mark StateArena::mark() const {
  return {frames_.items.size(),  texts_.items.size(),  keys_.items.size(),   words_.items.size(),
          choices_.items.size(), values_.items.size(), numbers_.items.size()};
}

void StateArena::release(const Mark& mark) {
  frames_.shrink(mark.frames);
  texts_.shrink(mark.texts);
  keys_.shrink(mark.keys);
  words_.shrink(mark.words);
  choices_.shrink(mark.choices);
  values_.shrink(mark.values);
  numbers_.shrink(mark.numbers);
}

std::size_t StateArena::bytes() const {
  return frames_.items.size() * sizeof(Frame) + texts_.items.size() * sizeof(TextLink) +
         keys_.items.size() * sizeof(KeyLink) + words_.items.size() * 32 +
         choices_.items.size() * 48 + values_.items.size() * 64 +
         numbers_.items.size() * sizeof(NumberState);
}

const Frame* StateArena::keep(Frame frame) {
  std::uint64_t hash = static_cast<std::uint64_t>(frame.kind);
  hash = join(hash, frame.parent == nullptr ? 0 : frame.parent->hash);
  hash = join(hash, std::uint64_t{frame.node} << 1 | std::uint64_t{frame.spaces});
  if (frame.object != nullptr) {
    hash = join(hash, address(frame.object));
    for (std::size_t i = 0; i < frame.object->words(); ++i) {
      hash = join(hash, frame.seen[i]);
    }
    hash = join(join(hash, frame.fulfilled), frame.count);
    hash = join(hash, frame.keys == nullptr ? 0 : frame.keys->hash);
  }
  if (frame.array != nullptr) {
    hash = join(join(join(hash, address(frame.array)), frame.count), frame.counts);
    hash = join(hash, frame.values == nullptr ? 0 : frame.values->hash);
  }
  frame.hash = hash;
  return &frames_.add(frame);
}

const TextLink* StateArena::text(const TextLink* before, std::uint32_t code_point) {
  const std::uint64_t hash = before == nullptr ? 0x9E3779B97F4A7C15ULL : before->hash;
  return &texts_.add(
      {before, code_point, before == nullptr ? 1 : before->length + 1, join(hash, code_point)});
}

const KeyLink* StateArena::key(const KeyLink* next, const TextLink* text) {
  return &keys_.add({next, text, join(next == nullptr ? 1 : next->hash, text_hash(text))});
}

std::uint64_t* StateArena::words(std::size_t count) {
  return words_.add(std::vector<std::uint64_t>(count)).data();
}

const KeyChoices* StateArena::choices(KeyChoices choices) {
  return &choices_.add(std::move(choices));
}

const NumberState* StateArena::number(NumberState state) { return &numbers_.add(std::move(state)); }

const SeenValues* StateArena::add_value(SeenValues value, std::uint64_t hash) {
  value.hash = join(value.before == nullptr ? 0 : value.before->hash, hash);
  value.bits |= value.before == nullptr ? 0 : value.before->bits;
  return &values_.add(std::move(value));
}

const SeenValues* StateArena::add_bits(const SeenValues* from, std::uint8_t bits) {
  SeenValues value;
  value.before = from;
  value.bits = bits;
  return add_value(std::move(value), bits);
}

const SeenValues* StateArena::add_number(const SeenValues* from, Decimal number) {
  const std::string spelling = number.to_string();
  SeenValues value;
  value.before = from;
  value.kind = SeenValues::Kind::kNumber;
  value.number = std::move(number);
  return add_value(std::move(value), fnv1a64(std::as_bytes(std::span(spelling))));
}

const SeenValues* StateArena::add_string(const SeenValues* from, const TextLink* text) {
  SeenValues value;
  value.before = from;
  value.kind = SeenValues::Kind::kString;
  value.string = text;
  return add_value(std::move(value), text_hash(text) + 1);
}

std::vector<const TextLink*> strings_of(const SeenValues* seen) {
  std::vector<const TextLink*> strings;
  for (; seen != nullptr; seen = seen->before) {
    if (seen->kind == SeenValues::Kind::kString) {
      strings.push_back(seen->string);
    }
  }
  return strings;
}

std::vector<Decimal> numbers_of(const SeenValues* seen) {
  std::vector<Decimal> numbers;
  for (; seen != nullptr; seen = seen->before) {
    if (seen->kind == SeenValues::Kind::kNumber) {
      numbers.push_back(seen->number);
    }
  }
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace daybreak::grammar
