// SPDX-License-Identifier: Apache-2.0
#pragma once

// The mask of a string state between two code points, from the slices of the vocabulary.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "grammar/language_view.h"
#include "grammar/mask_collector.h"
#include "grammar/slice_rows.h"
#include "grammar/string_masks.h"
#include "grammar/string_slices.h"

namespace daybreak::grammar {

// Makes masks of the language its view is open for. Used by one thread at a time.
class PlainMask {
 public:
  PlainMask(const StringSlices& slices, SliceRows& rows) : slices_(&slices), rows_(&rows) {}

  // REQUIRES: state.phase is kPlain; `view` is open.
  [[nodiscard]] std::shared_ptr<const StringMask> make(LanguageView& view, StringCoding coding,
                                                       const StringState& state);

 private:
  // What strings over an alphabet meet on their first `safe` code points: no refusal.
  struct Run {
    std::size_t safe = 0;
    GroupMask failing = 0;  // groups of which a character is refused after that
    bool dead = false;      // every character of the alphabet is
  };
  struct Level {
    Dfa::State state = Dfa::kDead;
    const LanguageView::Table* table = nullptr;  // null: few edges
    std::span<const Dfa::Edge> edges;
  };

  void add_inside(MaskCollector& out);
  void add_walked(GroupMask safe_groups, const Run& run, MaskCollector& out);
  void add_tails(MaskCollector& out);
  void add_exits(StringMask& mask);
  // Returns the run of the largest alphabet it can find, and that alphabet.
  [[nodiscard]] Run best_run(GroupMask& alphabet);
  [[nodiscard]] Run run(GroupMask alphabet, std::size_t longest);
  [[nodiscard]] bool viable(Dfa::State state, std::size_t more_chars) const;
  void enter(std::size_t depth, Dfa::State state);
  template <typename Emit>
  void walk(const CodeTrie& trie, const Emit& emit);

  const StringSlices* slices_;
  SliceRows* rows_;
  LanguageView* view_ = nullptr;
  const CodingSlices* coding_slices_ = nullptr;
  StringCoding coding_ = StringCoding::kJson;
  StringState state_;
  std::vector<Level> levels_;
  std::vector<Dfa::State> prefix_states_;
};

}  // namespace daybreak::grammar
