// SPDX-License-Identifier: Apache-2.0
#pragma once

// LanguageView: tables about the states of a string language that were met, made on first use: what
// each ASCII character leads to, and which groups of characters a state takes wholly or in part.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "grammar/char_groups.h"
#include "grammar/string_language.h"

namespace daybreak::grammar {

// Used by one thread at a time. References to its tables are valid until open().
class LanguageView {
 public:
  // Tables kept from one open() to the next, 600 bytes each.
  static constexpr std::size_t kMaxTables = 2048;

  struct Target {
    Dfa::State state = 0;
    GroupMask groups = 0;  // from which some character leads there
  };
  struct Table {
    std::array<Dfa::State, 128> ascii{};
    GroupMask full = 0;  // groups all of whose characters have an edge
    GroupMask any = 0;   // groups that have a character with an edge
    std::vector<Target> targets;
  };

  // Turns to `language`; tables of the same language are kept while they are few.
  void open(const std::shared_ptr<const StringLanguage>& language);

  [[nodiscard]] const StringLanguage& language() const { return *language_; }
  // Returns the id of the language opened last, 0 for none.
  [[nodiscard]] std::uint64_t id() const { return language_ ? language_->id() : 0; }

  [[nodiscard]] const Table& table(Dfa::State state) {
    const std::uint32_t at = table_of_[state];
    return at != kNone ? tables_[at] : make_table(state);
  }

  // The same, or null where that would make too many tables.
  [[nodiscard]] const Table* walk_table(Dfa::State state) {
    const std::uint32_t at = table_of_[state];
    return at != kNone ? &tables_[at] : tables_.size() < kMaxTables ? &make_table(state) : nullptr;
  }

  // Whether every string may follow `state`, as far as the automaton goes. False if it takes more
  // than kMaxUniversal states to tell.
  [[nodiscard]] bool universal(Dfa::State state);
  static constexpr std::size_t kMaxUniversal = 16384;

  // Returns the groups of which some character may occur in some string after `state`; all groups
  // if that concerns more than kMaxReach states.
  [[nodiscard]] GroupMask reachable_groups(Dfa::State state);
  static constexpr std::size_t kMaxReach = 128;

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  enum class Universal : std::uint8_t { kUnknown, kYes, kNo };

  const Table& make_table(Dfa::State state);

  std::shared_ptr<const StringLanguage> language_;
  std::vector<std::uint32_t> table_of_;  // [states]
  std::deque<Table> tables_;
  std::vector<Universal> universal_;  // [states]
};

}  // namespace daybreak::grammar
