// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ranks of a tiktoken.model file: the byte string of each, and the two questions BPE asks of
// them: which rank has these bytes, and which rank do two neighbours merge into.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"

namespace daybreak::tokenizer {

// What a vocabulary file may at most hold. K3's has 2.8 MB, 163,584 ranks, tokens up to 256 bytes.
struct VocabularyLimits {
  std::size_t max_file_bytes = std::size_t{64} << 20;
  std::size_t max_ranks = std::size_t{1} << 22;
  std::size_t max_token_bytes = 1024;
};

// Immutable after parse; all members are const and thread-safe.
class Vocabulary {
 public:
  // "No such rank"; never a valid id because max_ranks is far below.
  static constexpr TokenId kNone = ~TokenId{0};

  // Parses lines "BASE64 RANK\n" with ranks 0, 1, 2, ... in order; the last line break may be
  // missing. All 256 single bytes must be there, so that every text can be encoded.
  // Errors: kTooLarge (a limit), kCorrupt (anything else). Messages start with "tiktoken.model:N: "
  // where N is the line, or "tiktoken.model: " for the file as a whole.
  static Result<Vocabulary> parse(std::string_view file, const VocabularyLimits& limits = {});

  // Number of ranks. A rank is the id of its token.
  std::size_t size() const { return offsets_.size() - 1; }

  // REQUIRES: rank < size(). The view lives as long as the vocabulary.
  std::string_view bytes_of(TokenId rank) const {
    return std::string_view(bytes_).substr(offsets_[rank], offsets_[rank + 1] - offsets_[rank]);
  }

  // Returns the rank whose bytes are exactly `bytes`, or kNone.
  TokenId find(std::string_view bytes) const;

  // The rank of a single byte.
  TokenId byte_rank(unsigned char byte) const { return byte_ranks_[byte]; }

  // Returns the rank whose bytes are those of `left` followed by those of `right`, or kNone.
  TokenId merged(TokenId left, TokenId right) const;

 private:
  struct BytesSlot {
    std::uint32_t tag;  // upper half of the hash, so that few probes touch the bytes
    TokenId rank;
  };
  struct PairSlot {
    TokenId left;
    TokenId right;
    TokenId merged;
  };

  Vocabulary() = default;
  Status append_line(std::string_view line, const VocabularyLimits& limits);
  Status index_tokens();
  void index_pairs();
  TokenId find_hashed(std::string_view bytes, std::uint64_t hash) const;
  void insert_pair(TokenId left, TokenId right, TokenId merged_rank);

  std::string bytes_;                    // all tokens, one after the other
  std::vector<std::size_t> offsets_{0};  // [size() + 1]
  std::array<TokenId, 256> byte_ranks_{};
  // Open addressing, at most half full; a power of two in size.
  std::vector<BytesSlot> bytes_slots_;
  std::vector<PairSlot> pair_slots_;
};

}  // namespace daybreak::tokenizer
