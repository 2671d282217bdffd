// SPDX-License-Identifier: Apache-2.0
#include "grammar/regex_alphabet.h"

#include <algorithm>
#include <cstddef>

namespace daybreak::grammar {
namespace {

using Atom = RegexAlphabet::Atom;

// Cuts all code points where a set begins or ends; one class.
std::vector<Atom> cut(std::span<const CharSet> sets) {
  std::vector<std::uint32_t> begins = {0, 0xE000};
  for (const CharSet& set : sets) {
    for (const CharRange range : set.ranges()) {
      begins.push_back(range.low);
      begins.push_back(range.high + 1);
    }
  }
  // 0xD800 and kMaxCodePoint + 1 may be among them; no atom begins there.
  std::ranges::sort(begins);
  begins.erase(std::ranges::unique(begins).begin(), begins.end());
  std::vector<Atom> atoms;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::uint32_t low = begins[i];
    const std::uint32_t next = i + 1 < begins.size() ? begins[i + 1] : kMaxCodePoint + 1;
    if (low != 0xD800 && low <= kMaxCodePoint) {
      atoms.push_back({low, low < 0xD800 ? std::min(next - 1, 0xD7FFU) : next - 1, 0});
    }
  }
  return atoms;
}

// Calls visit(index) for each atom of `set`; together they are the set.
template <class Visit>
void for_each_atom(std::span<const Atom> atoms, const CharSet& set, Visit visit) {
  for (const CharRange range : set.ranges()) {
    auto at = static_cast<std::size_t>(std::ranges::lower_bound(atoms, range.low, {}, &Atom::low) -
                                       atoms.begin());
    for (; at < atoms.size() && atoms[at].low <= range.high; ++at) {
      visit(at);
    }
  }
}

}  // namespace

Result<RegexAlphabet> RegexAlphabet::make(std::span<const CharSet> sets, Budget& budget) {
  RegexAlphabet out;
  std::uint64_t ranges = 2;
  for (const CharSet& set : sets) {
    ranges += set.ranges().size();
  }
  DAYBREAK_CHECK_OK(budget.spend(4 * ranges, "regular expression"));
  out.atoms_ = cut(sets);
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::vector<std::uint32_t> sizes = {static_cast<std::uint32_t>(out.atoms_.size())};
  std::vector<std::uint32_t> inside = {0};    // atoms of the class in the set at hand
  std::vector<std::uint32_t> part = {kNone};  // the new class for them
  std::vector<std::size_t> visited;
  for (const CharSet& set : sets) {
    visited.clear();
    for_each_atom(out.atoms_, set, [&](std::size_t at) {
      visited.push_back(at);
      ++inside[out.atoms_[at].cls];
    });
    DAYBREAK_CHECK_OK(budget.spend(visited.size() + 1, "regular expression"));
    for (const std::size_t at : visited) {
      const std::uint32_t cls = out.atoms_[at].cls;
      if (inside[cls] == sizes[cls]) {
        continue;
      }
      if (part[cls] == kNone) {
        part[cls] = static_cast<std::uint32_t>(sizes.size());
        sizes.push_back(inside[cls]);
        inside.push_back(0);
        part.push_back(kNone);
      }
    }
    std::vector<std::uint32_t> split;
    for (const std::size_t at : visited) {
      const std::uint32_t cls = out.atoms_[at].cls;
      if (part[cls] != kNone) {
        out.atoms_[at].cls = part[cls];
        split.push_back(cls);
      }
      inside[cls] = 0;
    }
    for (const std::uint32_t cls : split) {
      if (part[cls] != kNone) {
        sizes[cls] -= sizes[part[cls]];
        part[cls] = kNone;
      }
    }
  }
  out.classes_ = static_cast<std::uint32_t>(sizes.size());
  out.examples_.resize(out.classes_);
  for (const Atom& atom : out.atoms_) {
    out.examples_[atom.cls] = atom.low;
  }
  std::vector<std::size_t> seen(out.classes_, 0);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    std::vector<std::uint32_t>& members = out.members_.emplace_back();
    for_each_atom(out.atoms_, sets[i], [&](std::size_t at) {
      const std::uint32_t cls = out.atoms_[at].cls;
      if (seen[cls] != i + 1) {
        seen[cls] = i + 1;
        members.push_back(cls);
      }
    });
    DAYBREAK_CHECK_OK(budget.spend(members.size() + 1, "regular expression"));
  }
  return out;
}

}  // namespace daybreak::grammar
