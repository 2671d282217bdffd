// SPDX-License-Identifier: Apache-2.0
#include "grammar/number_masks.h"

#include <algorithm>

#include "base/hash.h"

namespace daybreak::grammar {
namespace {

constexpr std::size_t kEntryBytes = 512;  // beside the ids

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

}  // namespace

std::size_t NumberMasks::Hash::operator()(const Key& key) const {
  const auto address = reinterpret_cast<std::uintptr_t>(key.lexer);
  return mix64(key.state.hash() ^ mix64(address + (key.point == Point::kYes ? 1 : 0)));
}

NumberMasks::NumberMasks(std::span<const std::string_view> tokens, std::size_t cache_bytes)
    : cache_bytes_(cache_bytes) {
  std::vector<std::string_view> numeric(tokens.size());
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const std::string_view bytes = tokens[id];
    const auto other = std::ranges::find_if_not(
        bytes, [](char byte) { return is_number_byte(static_cast<std::uint8_t>(byte)); });
    const bool whole = other == bytes.end();
    if (whole && bytes.size() <= kNumberLookahead) {
      numeric[id] = bytes;
    } else if (whole || (other != bytes.begin() && is_digit(*(other - 1)))) {
      crossing_.push_back(static_cast<TokenId>(id));
    }
  }
  trie_ = std::make_unique<TokenTrie>(numeric);
}

std::shared_ptr<const NumberMasks::Ids> NumberMasks::find(
    const std::shared_ptr<const NumberLexer>& lexer, const NumberState& state, Point point) {
  Key key{lexer.get(), state, point};
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = entries_.find(key); known != entries_.end()) {
      ages_.splice(ages_.begin(), ages_, known->second.age);
      return known->second.ids;
    }
  }
  auto ids = std::make_shared<Ids>();
  collect(*lexer, state, point, TokenTrie::kRoot, *ids);
  ids->shrink_to_fit();
  const std::lock_guard lock(mutex_);
  if (entries_.contains(key)) {
    return ids;
  }
  bytes_ += kEntryBytes + ids->size() * sizeof(TokenId);
  ages_.push_front(key);
  entries_.emplace(std::move(key), Entry{lexer, ids, ages_.begin()});
  while (bytes_ > cache_bytes_ && entries_.size() > 1) {
    const auto oldest = entries_.find(ages_.back());
    bytes_ -= kEntryBytes + oldest->second.ids->size() * sizeof(TokenId);
    entries_.erase(oldest);
    ages_.pop_back();
  }
  return ids;
}

void NumberMasks::collect(const NumberLexer& lexer, const NumberState& state, Point point,
                          TokenTrie::Node node, Ids& ids) const {
  for (TokenTrie::Node child = node + 1; child < trie_->end(node); child = trie_->end(child)) {
    const auto byte = static_cast<char>(trie_->byte(child));
    if (byte == '.' && point == Point::kNo) {
      continue;
    }
    const auto next = lexer.next(state, byte);
    if (!next) {
      continue;
    }
    for (TokenId id = trie_->token(child); id != TokenTrie::kNoToken; id = trie_->same_bytes(id)) {
      ids.push_back(id);
    }
    collect(lexer, *next, point, child, ids);
  }
}

}  // namespace daybreak::grammar
