// SPDX-License-Identifier: Apache-2.0
#include "grammar/string_slices.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>
#include <utility>

namespace daybreak::grammar {
namespace {

// Classes below this size are thrown together: a class costs a few checks per mask, a token of
// a class that must be walked a few nanoseconds.
constexpr std::size_t kSmallClass = 16;

// A token as a string between two code points sees it.
struct Spelling {
  enum class Kind : std::uint8_t { kDead, kInside, kExit };
  Kind kind = Kind::kDead;
  std::u32string chars;
  StringState end;
  std::size_t quote = 0;  // where, if kExit
};

Spelling spell(StringCoding coding, std::string_view bytes) {
  static const std::shared_ptr<const StringLanguage> kAny = StringLanguage::all();
  Spelling out;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const DecodedByte decoded = decode_byte(coding, out.end, static_cast<std::uint8_t>(bytes[at]));
    switch (decoded.kind) {
      case DecodedByte::Kind::kInvalid:
        return {};
      case DecodedByte::Kind::kQuote:
        out.kind = Spelling::Kind::kExit;
        out.quote = at;
        return out;
      case DecodedByte::Kind::kCodePoint:
        out.chars.push_back(static_cast<char32_t>(decoded.code_point));
        break;
      case DecodedByte::Kind::kUnfinished:
        if (!can_complete(*kAny, out.end)) {
          return {};
        }
    }
  }
  out.kind = Spelling::Kind::kInside;
  return out;
}

// Whether the codings see different things.
bool differs(std::string_view bytes) {
  return std::ranges::any_of(
      bytes, [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; });
}

// Sorts ids by their numbers and counts: out[n] ids have a number of at most n.
std::vector<std::uint32_t> sort_by_count(std::vector<std::pair<std::uint32_t, TokenId>>& counted,
                                         std::vector<TokenId>& ids) {
  std::ranges::sort(counted);
  const std::size_t longest = counted.empty() ? 0 : counted.back().first;
  std::vector<std::uint32_t> up_to(longest + 1);
  for (const auto& [count, id] : counted) {
    ids.push_back(id);
    ++up_to[count];
  }
  for (std::size_t n = 1; n <= longest; ++n) {
    up_to[n] += up_to[n - 1];
  }
  return up_to;
}

std::vector<std::string> bytes_by_id(const TokenTrie& trie, std::size_t ids) {
  std::vector<std::string> tokens(ids);
  std::string path;
  std::vector<TokenTrie::Node> ends;
  for (TokenTrie::Node node = 1; node < trie.nodes(); ++node) {
    while (!ends.empty() && ends.back() <= node) {
      ends.pop_back();
    }
    path.resize(ends.size());
    path.push_back(static_cast<char>(trie.byte(node)));
    ends.push_back(trie.end(node));
    for (TokenId id = trie.token(node); id != TokenTrie::kNoToken; id = trie.same_bytes(id)) {
      assert(id < ids);
      tokens[id] = path;
    }
  }
  return tokens;
}

TokenTrie make_rests(std::span<const std::string> tokens) {
  std::vector<std::string_view> rests;
  for (const std::string_view token : tokens) {
    for (std::size_t at = token.find('"'); at != token.npos; at = token.find('"', at + 1)) {
      rests.push_back(token.substr(at + 1));
    }
  }
  std::ranges::sort(rests);
  rests.erase(std::ranges::unique(rests).begin(), rests.end());
  return TokenTrie(rests);
}

TokenTrie::Node node_of(const TokenTrie& trie, std::string_view bytes) {
  TokenTrie::Node node = TokenTrie::kRoot;
  for (const char byte : bytes) {
    node = trie.child(node, static_cast<std::uint8_t>(byte));
    assert(node != TokenTrie::kRoot);
  }
  return node;
}

}  // namespace

class StringSlices::Builder {
 public:
  explicit Builder(StringSlices& slices) : slices_(slices) {}

  void add(TokenId id, std::string_view bytes) {
    if (!differs(bytes)) {
      add_spelling(kBoth, id, bytes, spell(StringCoding::kRaw, bytes));
      return;
    }
    add_spelling(kJsonOnly, id, bytes, spell(StringCoding::kJson, bytes));
    add_spelling(kRawOnly, id, bytes, spell(StringCoding::kRaw, bytes));
  }

  void finish() {
    merge_small_classes();
    for (auto& [key, entries] : classes_) {
      add_class(key.codings, std::move(entries));
    }
    for (std::size_t coding = 0; coding < 2; ++coding) {
      finish_coding(slices_.codings_[coding], parts_[coding]);
    }
  }

 private:
  enum Codings : std::uint8_t { kJsonOnly = 1, kRawOnly = 2, kBoth = 3 };  // bit: StringCoding
  struct Key {
    Codings codings;
    GroupMask signature;
    auto operator<=>(const Key&) const = default;
  };
  struct Parts {
    std::vector<std::pair<std::u32string, TailToken>> tails;
    std::vector<std::pair<std::uint32_t, TokenId>> needs;
    std::map<std::u32string, std::uint32_t> prefixes;
  };

  static GroupMask groups_of(std::u32string_view chars) {
    GroupMask groups = 0;
    for (const char32_t c : chars) {
      groups |= GroupMask{1} << char_group_of(c);
    }
    return groups;
  }

  void add_spelling(Codings codings, TokenId id, std::string_view bytes, Spelling spelling) {
    if (spelling.kind == Spelling::Kind::kDead) {
      return;
    }
    if (spelling.kind == Spelling::Kind::kExit) {
      add_exit(id, bytes.substr(spelling.quote + 1), spelling.chars);
      return;
    }
    const bool tail = spelling.end.phase != StringPhase::kPlain;
    const auto needed = static_cast<std::uint32_t>(spelling.chars.size() + (tail ? 1 : 0));
    for (std::size_t coding = 0; coding < 2; ++coding) {
      if ((codings >> coding & 1) != 0) {
        parts_[coding].needs.emplace_back(needed, id);
        if (tail) {
          parts_[coding].tails.push_back({spelling.chars, {spelling.end, id}});
        }
      }
    }
    if (!tail) {
      classes_[{codings, groups_of(spelling.chars)}].emplace_back(std::move(spelling.chars), id);
    }
  }

  void add_exit(TokenId id, std::string_view rest, const std::u32string& prefix) {
    Parts& parts = parts_[static_cast<std::size_t>(StringCoding::kJson)];
    CodingSlices& coding = slices_.codings_[static_cast<std::size_t>(StringCoding::kJson)];
    if (coding.prefix_chars.empty()) {
      coding.prefix_chars.push_back(0);  // the empty prefix comes first
      parts.prefixes[{}] = 0;
    }
    const auto number = static_cast<std::uint32_t>(coding.prefix_chars.size());
    const auto [at, added] = parts.prefixes.try_emplace(prefix, number);
    if (added) {
      coding.prefix_chars.push_back(static_cast<std::uint32_t>(prefix.size()));
    }
    coding.exits.push_back({node_of(*slices_.rests_, rest), at->second, id});
  }

  void merge_small_classes() {
    std::map<Key, std::vector<CodeTrie::Entry>> large;
    std::map<std::tuple<Codings, bool, bool>, std::vector<CodeTrie::Entry>> small;
    const GroupMask space = groups_of(U" ");
    for (auto& [key, entries] : classes_) {
      if (entries.size() >= kSmallClass) {
        large[key] = std::move(entries);
        continue;
      }
      auto& merged = small[{key.codings, (key.signature & non_ascii_groups()) != 0,
                            (key.signature & space) != 0}];
      std::ranges::move(entries, std::back_inserter(merged));
    }
    classes_ = std::move(large);
    GroupMask number = kAllGroups;  // only tells the keys apart
    for (auto& [key, entries] : small) {
      classes_[{std::get<Codings>(key), ++number}] = std::move(entries);
    }
  }

  void add_class(Codings codings, std::vector<CodeTrie::Entry> entries) {
    auto made = std::make_unique<TokenClass>();
    made->required = kAllGroups;
    std::vector<std::pair<std::uint32_t, TokenId>> lengths;
    for (const auto& [chars, id] : entries) {
      const GroupMask groups = groups_of(chars);
      made->alphabet |= groups;
      made->required &= groups;
      made->first |= GroupMask{1} << char_group_of(chars.front());
      lengths.emplace_back(static_cast<std::uint32_t>(chars.size()), id);
    }
    made->up_to = sort_by_count(lengths, made->ids);
    made->trie = CodeTrie(std::move(entries));
    for (std::size_t coding = 0; coding < 2; ++coding) {
      if ((codings >> coding & 1) != 0) {
        slices_.codings_[coding].classes.push_back(made.get());
      }
    }
    slices_.classes_.push_back(std::move(made));
  }

  static void finish_coding(CodingSlices& coding, Parts& parts) {
    coding.up_to = sort_by_count(parts.needs, coding.ids);
    std::ranges::sort(parts.tails, {}, [](const auto& tail) {
      return std::pair(tail.first.size(), tail.second.id);
    });
    std::vector<CodeTrie::Entry> inner;
    for (const auto& [chars, tail] : parts.tails) {
      if (chars.empty()) {
        ++coding.root_tails;
      } else {
        inner.emplace_back(chars, static_cast<std::uint32_t>(coding.tails.size()));
      }
      coding.tails.push_back(tail);
    }
    coding.tail_trie = CodeTrie(std::move(inner));
    std::vector<CodeTrie::Entry> prefixes;
    for (const auto& [chars, number] : parts.prefixes) {
      if (!chars.empty()) {
        prefixes.emplace_back(chars, number);
      }
    }
    coding.prefixes = CodeTrie(std::move(prefixes));
    std::ranges::sort(coding.exits, {}, [](const ExitToken& exit) {
      return std::tuple(exit.rest, exit.prefix, exit.id);
    });
  }

  StringSlices& slices_;
  std::map<Key, std::vector<CodeTrie::Entry>> classes_;
  std::array<Parts, 2> parts_;
};

StringSlices::StringSlices(const TokenTrie& trie, std::size_t words) : trie_(&trie), words_(words) {
  const std::vector<std::string> tokens = bytes_by_id(trie, words * 32);
  rests_ = std::make_unique<TokenTrie>(make_rests(tokens));
  Builder builder(*this);
  for (TokenId id = 0; id < tokens.size(); ++id) {
    if (!tokens[id].empty()) {
      builder.add(id, tokens[id]);
    }
  }
  builder.finish();
}

}  // namespace daybreak::grammar
