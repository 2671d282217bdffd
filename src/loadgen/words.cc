// SPDX-License-Identifier: Apache-2.0
#include "loadgen/words.h"

#include <algorithm>
#include <string_view>

namespace daybreak::loadgen {
namespace {

constexpr std::string_view kCommon =
    "the and for that with this from have not are was but they you all can had her one our "
    "out day get has him his how man new now old see two way who boy did its let put say she "
    "too use about after again air animal answer back because been before began best better "
    "between book both bring build call came car carry center change children city close cold "
    "come could country course cross dark door down draw each early earth easy eat even ever "
    "every eye face fact fall family far farm fast father feet few field figure final find "
    "fine fire first fish five fly follow food force form found four free friend full game "
    "gave give gold good got great green ground group grow half hand happen hard head hear "
    "heat help here high hold home horse hot hour house idea inch island just keep kind king "
    "knew know land language large last late laugh lead learn leave left less letter life "
    "light like line list listen little live long look love low made main make many map mark "
    "mean measure men might mile mind minute miss money moon more morning most mother "
    "mountain move much music must name near need never next night north note nothing notice "
    "number object ocean off often only open order other over own page paper part pass "
    "pattern people perhaps person picture piece place plan plane plant play point pose pound "
    "power press problem produce product pull question quick rain ran reach read real ";

bool is_word(std::string_view bytes) {
  constexpr std::size_t kShortest = 3;  // one letter may merge with what stands before it elsewhere
  return bytes.size() >= kShortest && bytes.front() == ' ' &&
         std::ranges::all_of(bytes.substr(1), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

Result<Words> words_of(const tokenizer::Tokenizer& tokenizer) {
  Words out;
  std::vector<TokenId> ids;
  for (TokenId id = 0; id < tokenizer.vocab_size() && out.size() < kMaxWords; ++id) {
    const std::string_view bytes = tokenizer.bytes_of(id);
    if (tokenizer.is_special(id) || !is_word(bytes)) {
      continue;
    }
    ids.clear();
    tokenizer.encode(bytes, tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOn, ids);
    if (ids.size() == 1) {
      out.emplace_back(bytes);
    }
  }
  if (out.size() < kMinWords) {
    return Error{Errc::kUnsupported, "the vocabulary: expected at least 64 words of one token, " +
                                         std::string("found ") + std::to_string(out.size())};
  }
  return out;
}

Words common_words() {
  Words out;
  for (std::size_t at = 0; at < kCommon.size();) {
    const std::size_t end = kCommon.find(' ', at);
    out.push_back(" " + std::string(kCommon.substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

}  // namespace daybreak::loadgen
