// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/special_tokens.h"

#include "base/json_document.h"
#include "tokenizer/special_names.h"

namespace daybreak::tokenizer {

Result<SpecialTokens> SpecialTokens::parse(std::string_view config_json, TokenId first_id) {
  DAYBREAK_TRY(const std::vector<SpecialName> names, parse_special_names(config_json, first_id));
  SpecialTokens tokens;
  tokens.first_id_ = first_id;
  for (TokenId slot = 0; slot < kSpecialSlots; ++slot) {
    tokens.spellings_[slot] = "<|reserved_token_" + std::to_string(first_id + slot) + "|>";
    tokens.flags_[slot] = true;
  }
  for (const SpecialName& name : names) {
    tokens.spellings_[name.id - first_id] = name.content;
    tokens.flags_[name.id - first_id] = name.special;
  }
  DAYBREAK_CHECK_OK(tokens.build_trie());
  return tokens;
}

Status SpecialTokens::build_trie() {
  nodes_.push_back({0, 0, 0, kSpecialSlots});
  for (std::uint32_t slot = 0; slot < kSpecialSlots; ++slot) {
    std::uint32_t node = 0;
    for (const char c : spellings_[slot]) {
      const auto byte = static_cast<unsigned char>(c);
      std::uint32_t next = child(node, byte);
      if (next == 0) {
        next = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back({byte, 0, nodes_[node].first_child, kSpecialSlots});
        nodes_[node].first_child = next;
      }
      node = next;
    }
    if (const std::uint32_t other = nodes_[node].slot; other != kSpecialSlots) {
      return Error{Errc::kCorrupt,
                   "tokenizer_config.json: added_tokens_decoder: expected spellings"
                   " that differ, found '" +
                       printable(spellings_[slot]) + "' for ids " +
                       std::to_string(first_id_ + other) + " and " +
                       std::to_string(first_id_ + slot)};
    }
    nodes_[node].slot = slot;
    starts_[static_cast<unsigned char>(spellings_[slot].front())] = true;
  }
  return ok();
}

std::uint32_t SpecialTokens::child(std::uint32_t node, unsigned char byte) const {
  std::uint32_t at = nodes_[node].first_child;
  while (at != 0 && nodes_[at].byte != byte) {
    at = nodes_[at].next_sibling;
  }
  return at;
}

std::optional<TokenId> SpecialTokens::find(std::string_view spelling) const {
  const auto match = spelling.empty() ? std::nullopt : match_at(spelling, 0);
  if (!match || match->end != spelling.size()) {
    return std::nullopt;
  }
  return match->id;
}

std::optional<SpecialTokens::Match> SpecialTokens::match_at(std::string_view text,
                                                            std::size_t begin) const {
  std::optional<Match> longest;
  std::uint32_t node = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    node = child(node, static_cast<unsigned char>(text[at]));
    if (node == 0) {
      break;
    }
    if (nodes_[node].slot != kSpecialSlots) {
      longest = Match{begin, at + 1, first_id_ + nodes_[node].slot};
    }
  }
  return longest;
}

std::optional<SpecialTokens::Match> SpecialTokens::next_match(std::string_view text,
                                                              std::size_t from) const {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (!starts_[static_cast<unsigned char>(text[at])]) {
      continue;
    }
    if (const auto match = match_at(text, at)) {
      return match;
    }
  }
  return std::nullopt;
}

}  // namespace daybreak::tokenizer
