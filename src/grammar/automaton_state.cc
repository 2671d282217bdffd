// SPDX-License-Identifier: Apache-2.0
#include "grammar/automaton_state.h"

#include <algorithm>
#include <utility>

namespace daybreak::grammar {
namespace {

template <class T>
std::uint64_t address(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

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
  return mix64(content_hash(), frame == nullptr ? 0 : frame->hash);
}

std::uint64_t Thread::content_hash() const {
  std::uint64_t hash = static_cast<std::uint64_t>(leaf) | std::uint64_t{space} << 8 |
                       std::uint64_t{types} << 16 | std::uint64_t{literal} << 24 |
                       std::uint64_t{at} << 32;
  hash = mix64(hash, number);
  hash = mix64(hash, language == nullptr ? 0 : (*language)->id());
  hash = mix64(hash, std::uint64_t{string.state} << 32 | string.chars);
  hash = mix64(hash, std::uint64_t{string.partial} << 16 |
                         static_cast<std::uint64_t>(string.phase) << 8 | string.missing);
  hash = mix64(hash, text == nullptr ? 0 : text->hash);
  if (leaf == Leaf::kNumber) {
    hash = mix64(mix64(hash, address(numbers->get())), digits->hash());
    // With uniqueItems what follows must not be that number again.
    hash = mix64(hash, fnv1a64(std::as_bytes(std::span(digits->text()))));
  }
  return hash;
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
