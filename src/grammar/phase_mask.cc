// SPDX-License-Identifier: Apache-2.0
#include "grammar/phase_mask.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>
#include <vector>

#include "grammar/mask_collector.h"

namespace daybreak::grammar {
namespace {

using Node = TokenTrie::Node;

class Walk {
 public:
  Walk(const StringSlices& slices, const StringLanguage& language, StringCoding coding)
      : slices_(slices), trie_(slices.trie()), language_(language), coding_(coding) {}

  std::shared_ptr<const StringMask> run(const StringState& start) {
    struct Level {
      Node end;
      StringState state;
    };
    std::vector<Level> path{{trie_.end(TokenTrie::kRoot), start}};
    for (Node node = 1; node < trie_.nodes();) {
      while (path.back().end <= node) {
        path.pop_back();
      }
      StringState state = path.back().state;
      const StringStep stepped = step(language_, coding_, state, trie_.byte(node));
      if (stepped != StringStep::kInside) {
        if (stepped == StringStep::kClosed) {
          add_exits(node, state.state);
        }
        node = trie_.end(node);
        continue;
      }
      for_ids(node, [&](TokenId id) { inside_.add(id); });
      path.push_back({trie_.end(node), state});
      ++node;
    }
    return finish();
  }

 private:
  template <typename Take>
  void for_ids(Node node, const Take& take) const {
    for (TokenId id = trie_.token(node); id != TokenTrie::kNoToken; id = trie_.same_bytes(id)) {
      take(id);
    }
  }

  // The tokens at `quote` and below it, with what they have after it.
  void add_exits(Node quote, Dfa::State state) {
    std::vector<std::pair<Node, Node>> path{{trie_.end(quote), TokenTrie::kRoot}};  // end, rest
    for_ids(quote, [&](TokenId id) { exits_[{TokenTrie::kRoot, state}].push_back(id); });
    for (Node node = quote + 1; node < trie_.end(quote); ++node) {
      while (path.back().first <= node) {
        path.pop_back();
      }
      const Node rest = slices_.rests().child(path.back().second, trie_.byte(node));
      assert(rest != TokenTrie::kRoot);
      for_ids(node, [&](TokenId id) { exits_[{rest, state}].push_back(id); });
      path.emplace_back(trie_.end(node), rest);
    }
  }

  std::shared_ptr<const StringMask> finish() {
    auto mask = std::make_shared<StringMask>();
    inside_.finish(slices_.words(), *mask);
    std::size_t count = 0;
    for (const auto& [key, ids] : exits_) {
      count += ids.size();
    }
    mask->exit_ids.reserve(count);  // so that the views hold
    for (const auto& [key, ids] : exits_) {
      const std::size_t begin = mask->exit_ids.size();
      mask->exit_ids.insert(mask->exit_ids.end(), ids.begin(), ids.end());
      mask->exits.push_back(
          {key.first, key.second, std::span(mask->exit_ids).subspan(begin, ids.size())});
    }
    return mask;
  }

  const StringSlices& slices_;
  const TokenTrie& trie_;
  const StringLanguage& language_;
  StringCoding coding_;
  MaskCollector inside_;
  std::map<std::pair<Node, Dfa::State>, std::vector<TokenId>> exits_;
};

}  // namespace

std::shared_ptr<const StringMask> make_phase_mask(const StringSlices& slices,
                                                  const StringLanguage& language,
                                                  StringCoding coding, const StringState& state) {
  return Walk(slices, language, coding).run(state);
}

}  // namespace daybreak::grammar
