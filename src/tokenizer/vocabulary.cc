// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/vocabulary.h"

#include <bit>
#include <string>
#include <utility>

#include "base/hash.h"
#include "tokenizer/base64.h"

namespace daybreak::tokenizer {
namespace {

constexpr std::string_view kFileName = "tiktoken.model";
constexpr std::size_t kMaxRankDigits = 10;

// The hash of a byte string is the polynomial sum of (byte + 1) * kBase^k, k = distance from the
// end, modulo 2^64. It is chosen because the hash of every suffix follows from those of the
// prefixes, which makes indexing the pairs of a token linear in its length. Matches are always
// confirmed by comparing the bytes.
constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15;

std::uint64_t extend(std::uint64_t hash, char byte) {
  return hash * kBase + static_cast<unsigned char>(byte) + 1;
}

std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = 0;
  for (const char byte : bytes) {
    hash = extend(hash, byte);
  }
  return hash;
}

std::uint64_t pair_hash(TokenId left, TokenId right) {
  return mix64(std::uint64_t{left} << 32 | right);
}

std::uint32_t tag_of(std::uint64_t mixed) { return static_cast<std::uint32_t>(mixed >> 32); }

Error corrupt(std::size_t line, const std::string& what) {
  return {Errc::kCorrupt, std::string(kFileName) + ":" + std::to_string(line) + ": " + what};
}

Error too_large(const std::string& where, const std::string& what, std::size_t limit,
                std::size_t found) {
  return {Errc::kTooLarge, where + ": " + what + ": at most " + std::to_string(limit) +
                               " expected, found " + std::to_string(found)};
}

// Returns a part of a line fit for a message: printable and short.
std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string out = "'";
  for (const char c : text.substr(0, kShown)) {
    out += c >= 0x20 && c < 0x7F ? c : '?';
  }
  return out + (text.size() > kShown ? "...'" : "'");
}

std::string hex_byte(std::size_t byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return std::string("0x") + kDigits[byte >> 4] + kDigits[byte & 15];
}

}  // namespace

Result<Vocabulary> Vocabulary::parse(std::string_view file, const VocabularyLimits& limits) {
  if (file.size() > limits.max_file_bytes) {
    return too_large(std::string(kFileName), "bytes", limits.max_file_bytes, file.size());
  }
  Vocabulary vocabulary;
  while (!file.empty()) {
    const std::size_t end = file.find('\n');
    DAYBREAK_CHECK_OK(vocabulary.append_line(file.substr(0, end), limits));
    file.remove_prefix(end == std::string_view::npos ? file.size() : end + 1);
  }
  DAYBREAK_CHECK_OK(vocabulary.index_tokens());
  for (std::size_t byte = 0; byte < vocabulary.byte_ranks_.size(); ++byte) {
    const char text = static_cast<char>(byte);
    const TokenId rank = vocabulary.find({&text, 1});
    if (rank == kNone) {
      return Error{Errc::kCorrupt,
                   std::string(kFileName) +
                       ": expected all 256 single bytes among the tokens, missing " +
                       hex_byte(byte)};
    }
    vocabulary.byte_ranks_[byte] = rank;
  }
  vocabulary.index_pairs();
  return vocabulary;
}

// Adds the token of one line. Its number is that of the tokens so far, because no line is skipped.
Status Vocabulary::append_line(std::string_view line, const VocabularyLimits& limits) {
  const std::size_t number = offsets_.size();
  const auto where = [&] { return std::string(kFileName) + ":" + std::to_string(number); };
  const std::size_t max_base64 = (limits.max_token_bytes + 2) / 3 * 4;
  if (line.size() > max_base64 + 1 + kMaxRankDigits) {
    return too_large(where(), "bytes in a line", max_base64 + 1 + kMaxRankDigits, line.size());
  }
  if (size() == limits.max_ranks) {
    return too_large(where(), "ranks", limits.max_ranks, limits.max_ranks + 1);
  }
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) {
    return corrupt(number, "expected 'BASE64 RANK', found " + quoted(line));
  }
  const std::string_view base64 = line.substr(0, space);
  const std::string_view rank = line.substr(space + 1);
  if (rank != std::to_string(size())) {
    return corrupt(number, "expected rank " + std::to_string(size()) + ", found " + quoted(rank));
  }
  const std::size_t begin = bytes_.size();
  if (!append_base64_decoded(base64, bytes_)) {
    return corrupt(number, "expected padded base64, found " + quoted(base64));
  }
  if (bytes_.size() == begin) {
    return corrupt(number, "expected at least one byte in a token, found none");
  }
  if (bytes_.size() - begin > limits.max_token_bytes) {
    return too_large(where(), "bytes in a token", limits.max_token_bytes, bytes_.size() - begin);
  }
  offsets_.push_back(bytes_.size());
  return ok();
}

Status Vocabulary::index_tokens() {
  bytes_slots_.assign(std::bit_ceil(2 * size() + 1), {0, kNone});
  const std::size_t mask = bytes_slots_.size() - 1;
  for (TokenId rank = 0; rank < size(); ++rank) {
    const std::uint64_t mixed = mix64(hash_of(bytes_of(rank)));
    std::size_t slot = mixed & mask;
    for (; bytes_slots_[slot].rank != kNone; slot = (slot + 1) & mask) {
      const BytesSlot& taken = bytes_slots_[slot];
      if (taken.tag == tag_of(mixed) && bytes_of(taken.rank) == bytes_of(rank)) {
        return corrupt(std::size_t{rank} + 1,
                       "expected a token of its own, found the bytes of line " +
                           std::to_string(std::size_t{taken.rank} + 1));
      }
    }
    bytes_slots_[slot] = {tag_of(mixed), rank};
  }
  return ok();
}

// Every way to cut a token into two tokens is a merge: BPE asks for the rank of the joined bytes,
// not for one canonical pair.
void Vocabulary::index_pairs() {
  std::vector<PairSlot> pairs;
  std::vector<std::uint64_t> suffix_hash;
  for (TokenId rank = 0; rank < size(); ++rank) {
    const std::string_view token = bytes_of(rank);
    suffix_hash.assign(token.size() + 1, 0);
    std::uint64_t power = 1;
    for (std::size_t i = token.size(); i-- > 1;) {
      suffix_hash[i] =
          suffix_hash[i + 1] + (std::uint64_t{static_cast<unsigned char>(token[i])} + 1) * power;
      power *= kBase;
    }
    std::uint64_t prefix_hash = 0;
    for (std::size_t cut = 1; cut < token.size(); ++cut) {
      prefix_hash = extend(prefix_hash, token[cut - 1]);
      const TokenId right = find_hashed(token.substr(cut), suffix_hash[cut]);
      if (right == kNone) {
        continue;
      }
      const TokenId left = find_hashed(token.substr(0, cut), prefix_hash);
      if (left != kNone) {
        pairs.push_back({left, right, rank});
      }
    }
  }
  pair_slots_.assign(std::bit_ceil(2 * pairs.size() + 1), {0, 0, kNone});
  for (const PairSlot& pair : pairs) {
    insert_pair(pair.left, pair.right, pair.merged);
  }
}

void Vocabulary::insert_pair(TokenId left, TokenId right, TokenId merged_rank) {
  const std::size_t mask = pair_slots_.size() - 1;
  std::size_t slot = pair_hash(left, right) & mask;
  while (pair_slots_[slot].merged != kNone) {
    slot = (slot + 1) & mask;
  }
  pair_slots_[slot] = {left, right, merged_rank};
}

TokenId Vocabulary::find(std::string_view bytes) const {
  return find_hashed(bytes, hash_of(bytes));
}

TokenId Vocabulary::find_hashed(std::string_view bytes, std::uint64_t hash) const {
  const std::uint64_t mixed = mix64(hash);
  const std::size_t mask = bytes_slots_.size() - 1;
  for (std::size_t slot = mixed & mask;; slot = (slot + 1) & mask) {
    const BytesSlot& entry = bytes_slots_[slot];
    if (entry.rank == kNone || (entry.tag == tag_of(mixed) && bytes_of(entry.rank) == bytes)) {
      return entry.rank;
    }
  }
}

TokenId Vocabulary::merged(TokenId left, TokenId right) const {
  const std::size_t mask = pair_slots_.size() - 1;
  for (std::size_t slot = pair_hash(left, right) & mask;; slot = (slot + 1) & mask) {
    const PairSlot& entry = pair_slots_[slot];
    if (entry.merged == kNone || (entry.left == left && entry.right == right)) {
      return entry.merged;
    }
  }
}

}  // namespace daybreak::tokenizer
