// SPDX-License-Identifier: Apache-2.0
// Any bytes as the two files of a tokenizer, separated by a NUL. Whatever is accepted must encode
// any text and give it back.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "tokenizer/tokenizer.h"

namespace {

void check(const daybreak::tokenizer::Tokenizer& tokenizer, std::string_view text) {
  using daybreak::tokenizer::AllowSpecial;
  using daybreak::tokenizer::Slicing;
  for (const AllowSpecial allow : {AllowSpecial::kNo, AllowSpecial::kYes}) {
    std::vector<daybreak::TokenId> ids;
    tokenizer.encode(text, allow, Slicing::kOn, ids);
    if (tokenizer.decode(ids) != daybreak::repair_utf8(text)) {
      std::abort();
    }
    for (const daybreak::TokenId id : ids) {
      if (id >= tokenizer.vocab_size() ||
          (allow == AllowSpecial::kNo && tokenizer.is_special(id))) {
        std::abort();
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = input.find('\0');
  const std::string_view ranks = input.substr(0, cut);
  const std::string_view config =
      cut == std::string_view::npos ? std::string_view() : input.substr(cut + 1);
  const auto tokenizer = daybreak::tokenizer::Tokenizer::parse(ranks, config);
  if (!tokenizer) {
    if (tokenizer.error().message.empty()) {
      std::abort();
    }
    return 0;
  }
  check(**tokenizer, config);
  check(**tokenizer, "a<|open|>b \xF0\x9F\x9A\x80\xFF 123");
  for (daybreak::TokenId id = 0; id < (*tokenizer)->vocab_size(); ++id) {
    if ((*tokenizer)->bytes_of(id).empty()) {
      std::abort();
    }
  }
  return 0;
}
