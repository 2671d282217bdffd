// SPDX-License-Identifier: Apache-2.0
#include "grammar/state_arena.h"

#include <string>
#include <utility>

namespace daybreak::grammar {
namespace {

template <class T>
std::uint64_t address(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

std::uint64_t text_hash(const TextLink* text) { return text == nullptr ? 0 : text->hash; }

}  // namespace

StateArena::StateArena() = default;

StateArena::Mark StateArena::mark() const {
  return {frames_.items.size(), joined_.items.size(),  texts_.items.size(),  keys_.items.size(),
          words_.items.size(),  choices_.items.size(), values_.items.size(), numbers_.items.size()};
}

void StateArena::release(const Mark& mark) {
  while (!united_order_.empty() && united_order_.back().second > mark.frames) {
    united_.erase(united_order_.back().first);
    united_order_.pop_back();
  }
  frames_.shrink(mark.frames);
  joined_.shrink(mark.joined);
  texts_.shrink(mark.texts);
  keys_.shrink(mark.keys);
  words_.shrink(mark.words);
  choices_.shrink(mark.choices);
  values_.shrink(mark.values);
  numbers_.shrink(mark.numbers);
}

std::size_t StateArena::bytes() const {
  return frames_.bytes + joined_.bytes + texts_.bytes + keys_.bytes + words_.bytes +
         choices_.bytes + values_.bytes + numbers_.bytes;
}

const Frame* StateArena::keep(Frame frame) {
  std::uint64_t hash = static_cast<std::uint64_t>(frame.kind);
  hash = mix64(hash, std::uint64_t{frame.node} << 1 | std::uint64_t{frame.spaces});
  if (frame.object != nullptr) {
    hash = mix64(hash, address(frame.object));
    for (std::size_t i = 0; i < frame.object->words(); ++i) {
      hash = mix64(hash, frame.seen[i]);
    }
    hash = mix64(mix64(hash, frame.fulfilled), frame.count);
    hash = mix64(hash, frame.keys == nullptr ? 0 : frame.keys->hash);
  }
  if (frame.array != nullptr) {
    hash = mix64(mix64(mix64(hash, address(frame.array)), frame.count), frame.counts);
    hash = mix64(hash, frame.values == nullptr ? 0 : frame.values->hash);
  }
  frame.symbol = hash;
  frame.hash = mix64(hash, frame.parent == nullptr ? 0 : frame.parent->hash);
  return &frames_.add(frame);
}

const TextLink* StateArena::text(const TextLink* before, std::uint32_t code_point) {
  const std::uint64_t hash = before == nullptr ? 0x9E3779B97F4A7C15ULL : before->hash;
  return &texts_.add(
      {before, code_point, before == nullptr ? 1 : before->length + 1, mix64(hash, code_point)});
}

const KeyLink* StateArena::key(const KeyLink* next, const TextLink* text) {
  return &keys_.add({next, text, mix64(next == nullptr ? 1 : next->hash, text_hash(text))});
}

std::uint64_t* StateArena::words(std::size_t count) {
  return words_.add(std::vector<std::uint64_t>(count)).data();
}

const KeyChoices* StateArena::choices(KeyChoices choices) {
  return &choices_.add(std::move(choices));
}

const NumberState* StateArena::number(NumberState state) { return &numbers_.add(std::move(state)); }

const SeenValues* StateArena::add_value(SeenValues value, std::uint64_t hash) {
  const std::uint64_t older = value.before == nullptr ? 0 : value.before->hash;
  value.hash = mix64(mix64(older, static_cast<std::uint64_t>(value.kind)), hash);
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
  return add_value(std::move(value), text_hash(text));
}

}  // namespace daybreak::grammar
