// SPDX-License-Identifier: Apache-2.0
#pragma once

// The block of 256 special tokens that follows the ranks: their spellings from
// tokenizer_config.json, and the search for them in text.

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

inline constexpr std::size_t kSpecialSlots = 256;
inline constexpr std::size_t kMaxConfigBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxSpellingBytes = 256;

// Immutable after parse; all members are const and thread-safe.
class SpecialTokens {
 public:
  // A special token in a text: its place and its id.
  struct Match {
    std::size_t begin;
    std::size_t end;
    TokenId id;
  };

  // Reads the names in "added_tokens_decoder" of tokenizer_config.json. Each is an id of the block
  // [first_id, first_id + 256) with a "content" and a "special" flag; a slot without a name is
  // spelled <|reserved_token_N|>, N being its id, and is special:true. Other keys are not used:
  // the released tokenizer ignores them as well.
  // Errors: kTooLarge (kMaxConfigBytes, kMaxSpellingBytes), kCorrupt: not JSON, a duplicate key, a
  // missing or mistyped key, an id outside the block, an empty or a duplicate spelling. Messages
  // start with "tokenizer_config.json: ".
  static Result<SpecialTokens> parse(std::string_view config_json, TokenId first_id);

  TokenId first_id() const { return first_id_; }

  // Whether `id` lies in the block.
  bool contains(TokenId id) const { return id >= first_id_ && id - first_id_ < kSpecialSlots; }

  // REQUIRES: contains(id). The view lives as long as this object.
  std::string_view spelling(TokenId id) const { return spellings_[id - first_id_]; }

  // The "special" flag of the file. REQUIRES: contains(id).
  bool flagged_special(TokenId id) const { return flags_[id - first_id_]; }

  // Returns the id with exactly this spelling.
  std::optional<TokenId> find(std::string_view spelling) const;

  // Returns the leftmost special token in text[from, size), the longest of several that start
  // there, or nothing.
  std::optional<Match> next_match(std::string_view text, std::size_t from) const;

 private:
  // A node of the trie over the spellings. Children of one node form a list by next_sibling.
  struct Node {
    unsigned char byte;
    std::uint32_t first_child;   // 0: none
    std::uint32_t next_sibling;  // 0: none
    std::uint32_t slot;          // kSpecialSlots: no spelling ends here
  };

  SpecialTokens() = default;
  Status build_trie();
  std::uint32_t child(std::uint32_t node, unsigned char byte) const;
  std::optional<Match> match_at(std::string_view text, std::size_t begin) const;

  TokenId first_id_ = 0;
  std::array<std::string, kSpecialSlots> spellings_;
  std::array<bool, kSpecialSlots> flags_{};
  std::array<bool, 256> starts_{};  // bytes that begin a spelling
  std::vector<Node> nodes_;         // [0] is the root
};

}  // namespace daybreak::tokenizer
