// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <deque>
#include <utility>

#include "grammar/grammar.h"
#include "grammar/mask_builder.h"
#include "grammar/program.h"
#include "grammar/state_copier.h"
#include "grammar/vocabulary_index.h"

namespace daybreak::grammar {
namespace {

// Smaller states are not worth a copy.
constexpr std::size_t kCompactBytes = std::size_t{128} << 10;

}  // namespace

std::size_t Grammar::bytes() const { return impl_->bytes; }

class Matcher::Impl {
 public:
  Impl(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const VocabularyIndex> vocabulary,
       std::span<const TokenId> stop_ids)
      : grammar_(std::move(grammar)),
        vocabulary_(std::move(vocabulary)),
        stop_ids_(stop_ids.begin(), stop_ids.end()),
        arena_(std::make_unique<StateArena>()),
        automaton_(grammar_->impl().program, *arena_),
        builder_(*vocabulary_) {
    State first;
    automaton_.start(first.threads);
    first.mark = arena_->mark();
    states_.push_back(std::move(first));
    if (const std::string& prefix = grammar_->impl().prefix; !prefix.empty()) {
      static_cast<void>(accept_bytes(prefix));  // compile() has made sure of it
    }
  }

  std::span<const std::uint32_t> mask() {
    if (!mask_valid_) {
      row_.resize(vocabulary_->words());
      automaton_.begin_work(kMaxWork);
      builder_.build(automaton_, *arena_, states_.back().threads, row_);
      overrun_ = overrun_ || automaton_.exhausted();
      if (overrun_) {
        std::ranges::fill(row_, 0U);  // what was found is not all
        return row_;
      }
      if (!states_.back().stopped && complete()) {
        for (const TokenId id : stop_ids_) {
          row_[id / 32] |= 1U << (id % 32);
        }
      }
      mask_valid_ = true;
    }
    return row_;
  }

  bool accept(TokenId id) {
    State next;
    const State& now = states_.back();
    automaton_.begin_work(kMaxWork);
    if (now.stopped || overrun_) {
      return false;
    }
    if (std::ranges::find(stop_ids_, id) != stop_ids_.end() && complete()) {
      next.stopped = true;
    } else if (const std::string_view bytes = vocabulary_->token(id); !bytes.empty()) {
      MaskBuilder::step_all(automaton_, now.threads, bytes, next.threads);
    } else {
      for (const Thread& thread : now.threads) {
        automaton_.step_marker(thread, id, next.threads);
      }
      automaton_.settle(next.threads);
    }
    return push(std::move(next));
  }

  bool accept_bytes(std::string_view text) {
    State next;
    automaton_.begin_work(bytes_work(text));
    MaskBuilder::step_all(automaton_, states_.back().threads, text, next.threads);
    overrun_ = overrun_ || automaton_.exhausted();
    if (overrun_ || next.threads.empty()) {
      arena_->release(states_.back().mark);
      return false;
    }
    // Not a step of its own: rollback() counts ids.
    next.mark = arena_->mark();
    mask_valid_ = false;
    states_.back() = std::move(next);
    compact();
    return true;
  }

  void rollback(std::size_t count) {
    if (count == 0) {
      return;
    }
    states_.resize(states_.size() - count);
    accepted_ -= count;
    arena_->release(states_.back().mark);
    mask_valid_ = false;
  }

  [[nodiscard]] std::size_t accepted() const { return accepted_; }
  [[nodiscard]] std::size_t undoable() const { return states_.size() - 1; }

  [[nodiscard]] bool overrun() const { return overrun_; }
  [[nodiscard]] std::size_t state_bytes() const { return arena_->bytes(); }

  bool complete() {
    const State& now = states_.back();
    automaton_.begin_work(kMaxWork);
    const bool any = std::ranges::any_of(
        now.threads, [&](const Thread& thread) { return automaton_.complete(thread); });
    arena_->release(now.mark);
    return now.stopped || any;
  }

  bool finished() {
    const State& now = states_.back();
    return now.stopped || std::ranges::all_of(now.threads, [](const Thread& thread) {
             return thread.leaf == Leaf::kEnd;
           });
  }

  std::optional<TokenId> forced() {
    std::optional<TokenId> only;
    const auto row = mask();
    for (std::size_t word = 0; word < row.size(); ++word) {
      if (row[word] == 0) {
        continue;
      }
      if (only || !std::has_single_bit(row[word])) {
        return std::nullopt;
      }
      only =
          static_cast<TokenId>(32 * word + static_cast<std::size_t>(std::countr_zero(row[word])));
    }
    return only;
  }

 private:
  struct State {
    Threads threads;
    StateArena::Mark mark{};
    bool stopped = false;  // a stop id was accepted
  };

  bool push(State next) {
    overrun_ = overrun_ || automaton_.exhausted();
    if (next.threads.empty() && !next.stopped) {
      arena_->release(states_.back().mark);
      return false;
    }
    next.mark = arena_->mark();
    // The same threads again, as inside a long text: the mask stays what it was.
    mask_valid_ = mask_valid_ && !next.stopped && same(states_.back().threads, next.threads);
    states_.push_back(std::move(next));
    if (states_.size() > kMaxRollback + 1) {
      states_.pop_front();
    }
    ++accepted_;
    compact();
    return true;
  }

  // Keeps only what the states that can be returned to need, whenever that may be half of it.
  void compact() {
    if (arena_->bytes() <= compact_at_) {
      return;
    }
    StateArena fresh;
    StateCopier copier(fresh);
    for (State& state : states_) {
      copier.copy(state.threads);
      state.mark = fresh.mark();
    }
    *arena_ = std::move(fresh);
    compact_at_ = std::max(kCompactBytes, 2 * arena_->bytes());
    overrun_ = overrun_ || arena_->bytes() > kMaxStateBytes;
  }

  static bool same(const Threads& a, const Threads& b) {
    return std::ranges::equal(
        a, b, [](const Thread& left, const Thread& right) { return left.hash() == right.hash(); });
  }

  std::shared_ptr<const Grammar> grammar_;
  std::shared_ptr<const VocabularyIndex> vocabulary_;
  std::vector<TokenId> stop_ids_;
  std::unique_ptr<StateArena> arena_;
  Automaton automaton_;
  MaskBuilder builder_;
  std::deque<State> states_;  // the last is now; the others can be returned to
  std::vector<std::uint32_t> row_;
  std::size_t accepted_ = 0;
  bool mask_valid_ = false;
  bool overrun_ = false;
  std::size_t compact_at_ = kCompactBytes;
};

Matcher::Matcher(std::shared_ptr<const Grammar> grammar,
                 std::shared_ptr<const VocabularyIndex> vocabulary,
                 std::span<const TokenId> stop_ids)
    : impl_(std::make_unique<Impl>(std::move(grammar), std::move(vocabulary), stop_ids)) {}
Matcher::~Matcher() = default;
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;

std::span<const std::uint32_t> Matcher::mask() { return impl_->mask(); }
bool Matcher::accept(TokenId id) { return impl_->accept(id); }
bool Matcher::accept_bytes(std::string_view text) { return impl_->accept_bytes(text); }
void Matcher::rollback(std::size_t count) { impl_->rollback(count); }
std::size_t Matcher::accepted() const { return impl_->accepted(); }
std::size_t Matcher::undoable() const { return impl_->undoable(); }
bool Matcher::complete() const { return impl_->complete(); }
bool Matcher::overrun() const { return impl_->overrun(); }
std::size_t Matcher::state_bytes() const { return impl_->state_bytes(); }
bool Matcher::finished() const { return impl_->finished(); }
std::optional<TokenId> Matcher::forced() { return impl_->forced(); }

}  // namespace daybreak::grammar
