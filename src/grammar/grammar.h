// SPDX-License-Identifier: Apache-2.0
#pragma once

// Grammar: a compiled constraint on an answer. Matcher: one answer's way through it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"

namespace daybreak::grammar {

class VocabularyIndex;

// Immutable, thread-safe, shared by every request that asks for the same thing.
class Grammar {
 public:
  class Impl;
  explicit Grammar(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  [[nodiscard]] const Impl& impl() const { return *impl_; }
  [[nodiscard]] std::size_t bytes() const;  // of memory, about

 private:
  std::shared_ptr<const Impl> impl_;
};

// Returns whether `text`, from its first byte to its last, is a complete answer. For grammars
// without markers.
[[nodiscard]] bool accepts(const Grammar& grammar, std::string_view text);

// Longer than any draft.
inline constexpr std::size_t kMaxRollback = 256;

// Of one answer's state: what the answer holds open and the last kMaxRollback ids, not its length,
// but for uniqueItems and the keys of open objects, which are remembered.
inline constexpr std::size_t kMaxStateBytes = std::size_t{256} << 20;

// The state of one sequence. Not thread-safe. Invariant: some continuation always leads to a
// complete answer, so mask() is never empty before the answer is complete, unless overrun().
class Matcher {
 public:
  // `stop_ids` are allowed where the answer is complete, and nowhere else.
  Matcher(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const VocabularyIndex> vocabulary,
          std::span<const TokenId> stop_ids);
  ~Matcher();
  Matcher(Matcher&&) noexcept;
  Matcher& operator=(Matcher&&) noexcept;

  // Returns the ids that may come next as bits, [(vocab_size + 31) / 32] words, bit id % 32 of word
  // id / 32. Valid until the next call of a non-const member.
  [[nodiscard]] std::span<const std::uint32_t> mask();

  // Takes the next id. Returns whether it is allowed; if not, nothing changes.
  [[nodiscard]] bool accept(TokenId id);
  // Takes text that is there already (partial mode). Returns whether it is allowed.
  [[nodiscard]] bool accept_bytes(std::string_view text);
  // Takes back the last `count` accepted ids, in O(1) plus what they had added.
  // REQUIRES: count <= undoable().
  void rollback(std::size_t count);
  [[nodiscard]] std::size_t accepted() const;
  // Ids that can be taken back: the last kMaxRollback at most.
  [[nodiscard]] std::size_t undoable() const;

  // Whether the answer may end here, and whether nothing but the end is possible.
  [[nodiscard]] bool complete() const;
  [[nodiscard]] bool finished() const;
  // Whether following the alternatives of the grammar took more steps or memory than one answer may
  // take (kMaxWork of automaton.h, kMaxStateBytes). Then mask() is empty and nothing is accepted.
  [[nodiscard]] bool overrun() const;
  // What the answer's state takes at the moment, beside the grammar and the vocabulary.
  [[nodiscard]] std::size_t state_bytes() const;
  // The only id that may come next, if there is exactly one (jump-forward, numerics rule 10).
  [[nodiscard]] std::optional<TokenId> forced();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace daybreak::grammar
