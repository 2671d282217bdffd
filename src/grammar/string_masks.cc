// SPDX-License-Identifier: Apache-2.0
#include "grammar/string_masks.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "grammar/mask_cache.h"
#include "grammar/phase_mask.h"
#include "grammar/plain_mask.h"
#include "grammar/slice_rows.h"
#include "grammar/string_slices.h"

namespace daybreak::grammar {
namespace {

// What one computation works with; kept, because its tables serve the next state of the language.
struct Worker {
  LanguageView view;
  PlainMask plain;
};
constexpr std::size_t kMaxIdleWorkers = 8;

// For every string, an unfinished code point matters only where it restricts the next byte or may
// be a surrogate. Returns one value of `partial` for all that behave alike.
std::uint32_t representative_partial(const StringState& state) {
  const std::uint32_t partial = state.partial;
  switch (state.phase) {
    case StringPhase::kUtf8: {
      const bool three = state.missing == 2 && (partial == 0 || partial == 0xD);  // E0, ED
      const bool four = state.missing == 3 && (partial == 0 || partial == 4);     // F0, F4
      return three || four ? partial : state.missing == 1 ? 2 : 1;
    }
    case StringPhase::kHex: {
      const std::uint32_t unit = partial << (4 * state.missing);
      const bool high = state.missing == 3 ? partial == 0xD : unit >= 0xD800 && unit < 0xDC00;
      return state.missing == 4 ? 0 : high ? 0xD800U >> (4 * state.missing) : 1;
    }
    case StringPhase::kLow:
    case StringPhase::kLowEscape:
      return 0;
    case StringPhase::kLowHex:
      return state.missing == 4 ? 0 : 0xDC00U >> (4 * state.missing);
    case StringPhase::kPlain:
    case StringPhase::kEscape:
      break;
  }
  return partial;
}

}  // namespace

std::size_t StringMask::bytes() const {
  return sizeof(StringMask) + (row && !shared_row ? row->size() * sizeof((*row)[0]) : 0) +
         list.capacity() * sizeof(TokenId) + exits.capacity() * sizeof(StringExit) +
         exit_ids.capacity() * sizeof(TokenId);
}

struct StringMasks::Impl {
  Impl(const TokenTrie& trie, std::size_t words, std::size_t cache_bytes)
      : slices(trie, words),
        rows(slices),
        cache(cache_bytes),
        far(static_cast<std::uint32_t>(trie.depth()) + 2) {}

  // Returns the key of `state`, and changes `state` to the one that stands for all of its key.
  MaskKey key_of(const StringLanguage& language, StringCoding coding, StringState& state) const;
  std::shared_ptr<const StringMask> make(const std::shared_ptr<const StringLanguage>& language,
                                         StringCoding coding, const StringState& state);
  std::unique_ptr<Worker> take_worker(std::uint64_t language);
  void give_back(std::unique_ptr<Worker> worker);

  StringSlices slices;
  SliceRows rows;
  MaskCache cache;
  std::uint32_t far;  // more code points than any token holds or completes
  std::mutex workers_mutex;
  std::vector<std::unique_ptr<Worker>> idle;
};

MaskKey StringMasks::Impl::key_of(const StringLanguage& language, StringCoding coding,
                                  StringState& state) const {
  MaskKey key;
  key.coding = coding;
  const std::uint32_t most = language.max_chars();
  if (language.free()) {
    state.partial = representative_partial(state);
    key.state = state;
    const std::uint32_t least = language.min_chars();
    key.state.chars = state.chars < least ? std::min(least - state.chars, far) : 0;
    key.remaining = most == kNoMaxChars ? far : std::min(most - state.chars, far);
    return key;
  }
  // Every state of the automaton has a completion of fewer code points than there are states: if
  // all that leads to fits, and the least number is reached, the count no longer matters.
  const std::uint64_t reach = std::uint64_t{far} + language.dfa().states();
  if (most != kNoMaxChars && state.chars >= language.min_chars() && most - state.chars >= reach) {
    state.chars = language.min_chars();
  }
  key.language = language.id();
  key.state = state;
  return key;
}

std::unique_ptr<Worker> StringMasks::Impl::take_worker(std::uint64_t language) {
  const std::scoped_lock lock(workers_mutex);
  if (idle.empty()) {
    return std::make_unique<Worker>(Worker{{}, PlainMask(slices, rows)});
  }
  auto chosen = std::ranges::find(idle, language, [](const auto& w) { return w->view.id(); });
  if (chosen == idle.end()) {
    chosen = idle.size() < kMaxIdleWorkers ? idle.end() : idle.begin();  // the oldest
  }
  if (chosen == idle.end()) {
    return std::make_unique<Worker>(Worker{{}, PlainMask(slices, rows)});
  }
  std::unique_ptr<Worker> worker = std::move(*chosen);
  idle.erase(chosen);
  return worker;
}

void StringMasks::Impl::give_back(std::unique_ptr<Worker> worker) {
  const std::scoped_lock lock(workers_mutex);
  if (idle.size() < kMaxIdleWorkers) {
    idle.push_back(std::move(worker));
  }
}

std::shared_ptr<const StringMask> StringMasks::Impl::make(
    const std::shared_ptr<const StringLanguage>& language, StringCoding coding,
    const StringState& state) {
  if (state.phase != StringPhase::kPlain) {
    return make_phase_mask(slices, *language, coding, state);
  }
  std::unique_ptr<Worker> worker = take_worker(language->id());
  worker->view.open(language);
  auto mask = worker->plain.make(worker->view, coding, state);
  give_back(std::move(worker));
  return mask;
}

StringMasks::StringMasks(const TokenTrie& trie, std::size_t words, std::size_t cache_bytes)
    : impl_(std::make_unique<Impl>(trie, words, cache_bytes)) {
  // What most strings ask for; it is then found whatever else the first requests are.
  const auto all = StringLanguage::all();
  (void)find(all, StringCoding::kJson, {});
  (void)find(all, StringCoding::kRaw, {});
}

StringMasks::~StringMasks() = default;

std::shared_ptr<const StringMask> StringMasks::find(
    const std::shared_ptr<const StringLanguage>& language, StringCoding coding,
    const StringState& state) {
  StringState representative = state;
  const MaskKey key = impl_->key_of(*language, coding, representative);
  if (auto found = impl_->cache.find(key)) {
    return found;
  }
  auto made = impl_->make(language, coding, representative);
  impl_->cache.insert(key, made);
  return made;
}

const TokenTrie& StringMasks::rests() const { return impl_->slices.rests(); }

StringMasks::Stats StringMasks::stats() const { return impl_->cache.stats(); }

}  // namespace daybreak::grammar
