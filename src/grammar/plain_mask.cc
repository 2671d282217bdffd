// SPDX-License-Identifier: Apache-2.0
#include "grammar/plain_mask.h"

#include <algorithm>
#include <limits>

namespace daybreak::grammar {
namespace {

constexpr std::size_t kAnyLength = std::numeric_limits<std::size_t>::max();
// States that strings of one length may be in before a run is given up.
constexpr std::size_t kMaxRunWidth = 64;
constexpr std::size_t kMaxRunStates = 1024;
constexpr int kMaxRuns = 6;
// Up to here looking through the edges beats the table.
constexpr std::size_t kFewEdges = 4;

// Returns the groups that lead from `state` to itself only.
GroupMask looping_groups(const LanguageView::Table& table, Dfa::State state) {
  GroupMask groups = table.full;
  for (const LanguageView::Target& target : table.targets) {
    if (target.state != state) {
      groups &= ~target.groups;
    }
  }
  return groups;
}

}  // namespace

std::shared_ptr<const StringMask> PlainMask::make(LanguageView& view, StringCoding coding,
                                                  const StringState& state) {
  view_ = &view;
  coding_ = coding;
  coding_slices_ = &slices_->of(coding);
  state_ = state;
  auto mask = std::make_shared<StringMask>();
  MaskCollector inside;
  add_inside(inside);
  inside.finish(slices_->words(), *mask);
  add_exits(*mask);
  return mask;
}

// Whether a string may be in `state` after that many code points more than state_ has.
bool PlainMask::viable(Dfa::State state, std::size_t more_chars) const {
  const StringLanguage& language = view_->language();
  if (!language.bounded()) {
    return true;  // the automaton is trimmed
  }
  const std::uint64_t chars = std::uint64_t{state_.chars} + more_chars;
  const std::uint64_t most =
      language.max_chars() == kNoMaxChars ? language.min_chars() : language.max_chars();
  return (language.max_chars() == kNoMaxChars || chars <= most) &&
         language.viable(state, static_cast<std::uint32_t>(std::min(chars, most)));
}

void PlainMask::add_inside(MaskCollector& out) {
  const StringLanguage& language = view_->language();
  if (!language.bounded() && view_->universal(state_.state)) {
    out.take(rows_->within(coding_, kAnyLength));
    return;
  }
  GroupMask alphabet = 0;
  const Run run = best_run(alphabet);
  if (alphabet == kAllGroups) {
    out.take(rows_->within(coding_, run.safe));
    if (run.safe >= coding_slices_->longest() || run.dead) {
      return;
    }
  } else if (run.safe > 0) {
    out.take(rows_->of_groups(coding_, alphabet, run.safe));
  }
  add_walked(alphabet, run, out);
  add_tails(out);
}

PlainMask::Run PlainMask::best_run(GroupMask& alphabet) {
  const LanguageView::Table& table = view_->table(state_.state);
  const std::size_t longest = coding_slices_->longest();
  if (const GroupMask looping = looping_groups(table, state_.state); looping != 0) {
    alphabet = looping;
    const Run looped = run(alphabet, longest);
    if (looped.safe > 0) {
      return looped;
    }
  }
  alphabet = table.full;
  Run found;
  for (int tries = 0; alphabet != 0 && tries < kMaxRuns; ++tries) {
    found = run(alphabet, longest);
    const GroupMask smaller = alphabet & ~found.failing;
    if (found.failing == 0 || (smaller == 0 && found.safe > 0)) {
      return found;
    }
    alphabet = smaller;
  }
  alphabet = 0;
  return {};
}

PlainMask::Run PlainMask::run(GroupMask alphabet, std::size_t longest) {
  std::vector<Dfa::State> now{state_.state};
  std::vector<Dfa::State> next;
  std::size_t visited = 0;
  const bool bounded = view_->language().bounded();
  for (std::size_t length = 0; length < longest; ++length) {
    GroupMask failing = 0;
    next.clear();
    for (const Dfa::State state : now) {
      const LanguageView::Table& table = view_->table(state);
      failing |= alphabet & ~table.full;
      for (const LanguageView::Target& target : table.targets) {
        if ((target.groups & alphabet) == 0) {
          continue;
        }
        if (viable(target.state, length + 1)) {
          next.push_back(target.state);
        } else {
          failing |= target.groups & alphabet;
        }
      }
    }
    std::ranges::sort(next);
    next.erase(std::ranges::unique(next).begin(), next.end());
    if (failing != 0) {
      return {length, failing, next.empty()};
    }
    if (next == now && !bounded) {
      break;
    }
    visited += next.size();
    if (next.size() > kMaxRunWidth || visited > kMaxRunStates) {
      return {length + 1, alphabet, false};
    }
    now.swap(next);
  }
  return {longest, 0, false};
}

void PlainMask::add_walked(GroupMask safe_groups, const Run& run, MaskCollector& out) {
  const GroupMask any = view_->table(state_.state).any;
  const GroupMask reachable = view_->reachable_groups(state_.state);
  for (const TokenClass* tokens : coding_slices_->classes) {
    if ((tokens->first & any) == 0 || (tokens->required & ~reachable) != 0) {
      continue;
    }
    if ((tokens->alphabet & ~safe_groups) == 0 && (run.dead || tokens->longest() <= run.safe)) {
      continue;
    }
    walk(tokens->trie, [&](std::uint32_t id, Dfa::State, std::size_t) { out.add(id); });
  }
}

void PlainMask::add_tails(MaskCollector& out) {
  const StringLanguage& language = view_->language();
  StringState state = state_;
  const auto test = [&](const TailToken& tail) {
    state.phase = tail.end.phase;
    state.partial = tail.end.partial;
    state.missing = tail.end.missing;
    // Most tails are of UTF-8, and most states take all of it or nothing.
    const LanguageView::Table* table = tail.end.phase == StringPhase::kUtf8 && !language.bounded()
                                           ? view_->walk_table(state.state)
                                           : nullptr;
    const GroupMask takes = table != nullptr ? table->any & non_ascii_groups() : kAllGroups;
    const GroupMask takes_all = table != nullptr ? table->full & non_ascii_groups() : 0;
    if (takes != 0 && (takes_all == non_ascii_groups() || can_complete(language, state))) {
      out.add(tail.id);
    }
  };
  const bool ascii_only = (view_->table(state_.state).any & non_ascii_groups()) == 0;
  for (std::size_t at = 0; at < coding_slices_->root_tails; ++at) {
    const TailToken& tail = coding_slices_->tails[at];
    if (!ascii_only || tail.end.phase != StringPhase::kUtf8) {
      test(tail);
    }
  }
  walk(coding_slices_->tail_trie, [&](std::uint32_t tail, Dfa::State at, std::size_t chars) {
    state.state = at;
    state.chars = state_.chars + static_cast<std::uint32_t>(chars);
    if (language.max_chars() == kNoMaxChars) {
      state.chars = std::min(state.chars, language.min_chars());
    }
    test(coding_slices_->tails[tail]);
  });
}

void PlainMask::add_exits(StringMask& mask) {
  const StringLanguage& language = view_->language();
  if (coding_slices_->exits.empty()) {
    return;
  }
  prefix_states_.assign(coding_slices_->prefix_chars.size(), Dfa::kDead);
  bool any = false;
  const auto reach = [&](std::uint32_t prefix, Dfa::State at, std::size_t chars) {
    std::uint64_t total = std::uint64_t{state_.chars} + chars;
    if (language.max_chars() == kNoMaxChars) {
      total = std::min<std::uint64_t>(total, language.min_chars());
    }
    if (total <= language.max_chars() && language.accepts(at, static_cast<std::uint32_t>(total))) {
      prefix_states_[prefix] = at;
      any = true;
    }
  };
  reach(0, state_.state, 0);
  walk(coding_slices_->prefixes, reach);
  if (!any) {
    return;
  }
  std::vector<std::size_t> ends;
  for (const ExitToken& exit : coding_slices_->exits) {
    const Dfa::State at = prefix_states_[exit.prefix];
    if (at == Dfa::kDead) {
      continue;
    }
    if (mask.exits.empty() || mask.exits.back().rest != exit.rest ||
        mask.exits.back().state != at) {
      mask.exits.push_back({exit.rest, at, {}});
      ends.push_back(mask.exit_ids.size());
    }
    mask.exit_ids.push_back(exit.id);
    ends.back() = mask.exit_ids.size();
  }
  // The vector does not grow any more: now the views hold.
  std::size_t begin = 0;
  for (std::size_t at = 0; at < mask.exits.size(); ++at) {
    mask.exits[at].ids = std::span(mask.exit_ids).subspan(begin, ends[at] - begin);
    begin = ends[at];
  }
}

void PlainMask::enter(std::size_t depth, Dfa::State state) {
  Level& level = levels_[depth];
  if (level.state == state) {
    return;
  }
  level.state = state;
  level.edges = view_->language().dfa().edges(state);
  level.table = level.edges.size() > kFewEdges ? view_->walk_table(state) : nullptr;
}

// Calls emit(item, state, code points) for every sequence that the language goes on with.
template <typename Emit>
void PlainMask::walk(const CodeTrie& trie, const Emit& emit) {
  levels_.assign(trie.depth() + 1, {});
  enter(0, state_.state);
  const bool bounded = view_->language().bounded();
  const CodeTrie::Node* const nodes = trie.nodes().data();
  const std::size_t count = trie.nodes().size();
  for (std::size_t at = 0; at < count;) {
    const CodeTrie::Node& node = nodes[at];
    const Level& level = levels_[node.depth];
    Dfa::State target = Dfa::kDead;
    if (level.table != nullptr && node.code_point < 0x80) {
      target = level.table->ascii[node.code_point];
    } else if (level.edges.size() <= kFewEdges) {
      for (const Dfa::Edge& edge : level.edges) {
        if (node.code_point <= edge.high) {
          target = node.code_point >= edge.low ? edge.target : Dfa::kDead;
          break;
        }
      }
    } else {
      target = view_->language().dfa().next(level.state, node.code_point);
    }
    if (target == Dfa::kDead || (bounded && !viable(target, node.depth + std::size_t{1}))) {
      at = node.end;
      continue;
    }
    if (node.item != CodeTrie::kNoItem) {
      emit(node.item, target, node.depth + std::size_t{1});
    }
    ++at;
    if (at < node.end) {
      enter(node.depth + std::size_t{1}, target);
    }
  }
}

}  // namespace daybreak::grammar
