// SPDX-License-Identifier: Apache-2.0
#include "grammar/language_view.h"

#include <algorithm>

namespace daybreak::grammar {
namespace {

// Whether every scalar value has an edge.
bool total(std::span<const Dfa::Edge> edges) {
  constexpr std::uint32_t kScalars = kMaxCodePoint + 1 - 0x800;
  std::uint32_t covered = 0;
  for (const Dfa::Edge& edge : edges) {
    covered += edge.high - edge.low + 1;
  }
  return covered == kScalars;
}

}  // namespace

void LanguageView::open(const std::shared_ptr<const StringLanguage>& language) {
  if (id() == language->id() && tables_.size() <= kMaxTables) {
    return;
  }
  language_ = language;
  tables_.clear();
  table_of_.assign(language->dfa().states(), kNone);
  universal_.assign(language->dfa().states(), Universal::kUnknown);
}

const LanguageView::Table& LanguageView::make_table(Dfa::State state) {
  table_of_[state] = static_cast<std::uint32_t>(tables_.size());
  Table& table = tables_.emplace_back();
  table.ascii.fill(Dfa::kDead);
  std::array<std::uint32_t, kCharGroups> covered{};
  const auto ranges = char_group_ranges();
  for (const Dfa::Edge& edge : language_->dfa().edges(state)) {
    for (std::uint32_t c = edge.low; c <= edge.high && c < 0x80; ++c) {
      table.ascii[c] = edge.target;
    }
    GroupMask groups = 0;
    for (std::size_t at = char_group_range_at(edge.low);
         at < ranges.size() && ranges[at].low <= edge.high; ++at) {
      const CharGroupRange& range = ranges[at];
      covered[range.group] += std::min(range.high, edge.high) - std::max(range.low, edge.low) + 1;
      groups |= GroupMask{1} << range.group;
    }
    table.any |= groups;
    // A repeated target costs its readers little, a search among thousands would cost more.
    const auto recent =
        table.targets.end() - std::min<std::ptrdiff_t>(std::ssize(table.targets), 8);
    const auto same = std::find_if(recent, table.targets.end(),
                                   [&](const Target& t) { return t.state == edge.target; });
    if (same != table.targets.end()) {
      same->groups |= groups;
    } else {
      table.targets.push_back({edge.target, groups});
    }
  }
  for (std::uint32_t group = 0; group < kCharGroups; ++group) {
    if (covered[group] == char_group_sizes()[group]) {
      table.full |= GroupMask{1} << group;
    }
  }
  return table;
}

bool LanguageView::universal(Dfa::State state) {
  if (universal_[state] != Universal::kUnknown) {
    return universal_[state] == Universal::kYes;
  }
  std::vector<Dfa::State> seen;
  const auto visit = [&](Dfa::State at) {
    if (universal_[at] == Universal::kUnknown) {
      universal_[at] = Universal::kYes;  // until shown otherwise
      seen.push_back(at);
    }
    return universal_[at] == Universal::kYes;
  };
  bool all = visit(state);
  for (std::size_t next = 0; all && next < seen.size(); ++next) {
    const auto edges = language_->dfa().edges(seen[next]);
    all = total(edges) && seen.size() <= kMaxUniversal &&
          std::ranges::all_of(edges, visit, &Dfa::Edge::target);
  }
  if (!all) {
    for (const Dfa::State at : seen) {
      universal_[at] = Universal::kUnknown;
    }
    universal_[state] = Universal::kNo;
  }
  return all;
}

GroupMask LanguageView::reachable_groups(Dfa::State state) {
  std::vector<Dfa::State> seen{state};
  GroupMask groups = 0;
  for (std::size_t next = 0; next < seen.size(); ++next) {
    const Table& at = table(seen[next]);
    groups |= at.any;
    for (const Target& target : at.targets) {
      if (std::ranges::find(seen, target.state) == seen.end()) {
        seen.push_back(target.state);
      }
    }
    if (seen.size() > kMaxReach) {
      return kAllGroups;
    }
  }
  return groups;
}

}  // namespace daybreak::grammar
