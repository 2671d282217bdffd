// SPDX-License-Identifier: Apache-2.0
#include "grammar/unused_text.h"

namespace daybreak::grammar {

std::vector<std::vector<std::uint32_t>> used_rests(const TextLink* text,
                                                   std::span<const TextLink* const> used) {
  const std::uint32_t length = text == nullptr ? 0 : text->length;
  std::vector<std::vector<std::uint32_t>> rests;
  for (const TextLink* whole : used) {
    const std::uint32_t size = whole == nullptr ? 0 : whole->length;
    if (size < length || !equal_texts(text_prefix(whole, length), text)) {
      continue;
    }
    std::vector<std::uint32_t>& rest = rests.emplace_back(size - length);
    for (std::uint32_t i = size; i > length; --i, whole = whole->before) {
      rest[i - length - 1] = whole->code_point;
    }
  }
  return rests;
}

}  // namespace daybreak::grammar
