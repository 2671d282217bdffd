// SPDX-License-Identifier: Apache-2.0
#include "grammar/string_language.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "base/utf8.h"

namespace daybreak::grammar {
namespace {

constexpr std::uint64_t kCodePoints = 0x110000 - 0x800;
constexpr std::size_t kWordBits = 64;

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

std::uint64_t add(std::uint64_t a, std::uint64_t b, std::uint64_t cap) {
  return a >= cap || b >= cap - a ? cap : a + b;
}

std::uint64_t multiply(std::uint64_t a, std::uint64_t b, std::uint64_t cap) {
  return b != 0 && a > cap / b ? cap : std::min(a * b, cap);
}

// For each state the states that lead to it, each once.
std::vector<std::vector<Dfa::State>> predecessors(const Dfa& dfa) {
  std::vector<std::vector<Dfa::State>> out(dfa.states());
  for (Dfa::State from = 0; from < dfa.states(); ++from) {
    for (const Dfa::Edge& edge : dfa.edges(from)) {
      if (out[edge.target].empty() || out[edge.target].back() != from) {
        out[edge.target].push_back(from);
      }
    }
  }
  return out;
}

// Returns the number of strings of `min` to `max` code points, saturated.
std::uint64_t count_free(std::uint32_t min, std::uint32_t max, std::uint64_t cap) {
  std::uint64_t total = 0;
  std::uint64_t of_length = 1;
  std::uint32_t length = 0;
  for (; length < min && of_length < cap; ++length) {
    of_length = multiply(of_length, kCodePoints, cap);
  }
  // From here on every length has `cap` strings, or length == min.
  for (; length <= max && total < cap; ++length) {
    total = add(total, of_length, cap);
    of_length = multiply(of_length, kCodePoints, cap);
  }
  return total;
}

struct LanguageKey {
  std::uint64_t dfa;
  std::uint32_t min_chars, max_chars;
  friend auto operator<=>(const LanguageKey&, const LanguageKey&) = default;
};

// The languages that are alive somewhere in the process. Schemas repeat each other, and everything
// learnt about a language (its masks above all) is kept by its id. Bounded by what is alive: the
// dead are swept whenever the table has doubled. Thread-safe.
class LiveLanguages {
 public:
  std::shared_ptr<const StringLanguage> find(const LanguageKey& key, const Dfa& dfa) {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = languages_.equal_range(key);
    for (auto it = first; it != last; ++it) {
      if (auto alive = it->second.lock(); alive != nullptr && alive->dfa() == dfa) {
        return alive;
      }
    }
    return nullptr;
  }

  void keep(const LanguageKey& key, const std::shared_ptr<const StringLanguage>& language) {
    const std::lock_guard lock(mutex_);
    if (languages_.size() >= sweep_at_) {
      std::erase_if(languages_, [](const auto& entry) { return entry.second.expired(); });
      sweep_at_ = std::max<std::size_t>(kFirstSweep, 2 * languages_.size());
    }
    languages_.emplace(key, language);
  }

 private:
  static constexpr std::size_t kFirstSweep = 1'024;
  std::mutex mutex_;
  std::multimap<LanguageKey, std::weak_ptr<const StringLanguage>> languages_;
  std::size_t sweep_at_ = kFirstSweep;
};

LiveLanguages& live_languages() {
  static LiveLanguages languages;
  return languages;
}

}  // namespace

std::shared_ptr<const StringLanguage> StringLanguage::all() {
  static const std::shared_ptr<const StringLanguage> kAll = [] {
    struct Made : StringLanguage {};  // the constructor is private
    auto made = std::make_shared<Made>();
    made->dfa_ = std::make_shared<const Dfa>(Dfa::all());
    made->free_ = true;
    made->id_ = next_id();
    return made;
  }();
  return kAll;
}

Result<std::shared_ptr<const StringLanguage>> StringLanguage::make(std::shared_ptr<const Dfa> dfa,
                                                                   std::uint32_t min_chars,
                                                                   std::uint32_t max_chars,
                                                                   Budget& budget) {
  if (dfa->empty() || min_chars > max_chars) {
    return std::shared_ptr<const StringLanguage>();
  }
  const bool free = dfa->is_all();
  if (free && min_chars == 0 && max_chars == kNoMaxChars) {
    return all();
  }
  const LanguageKey key{dfa->hash(), min_chars, max_chars};
  if (auto known = live_languages().find(key, *dfa)) {
    return known;
  }
  struct Made : StringLanguage {};  // the constructor is private
  auto made = std::make_shared<Made>();
  made->dfa_ = std::move(dfa);
  made->min_chars_ = min_chars;
  made->max_chars_ = max_chars;
  made->free_ = free;
  made->id_ = next_id();
  if (!free) {
    DAYBREAK_CHECK_OK(budget.spend(made->dfa_->states(), "lengths of strings"));
    made->measure();
    made->drop_implied_bounds();
    if (made->longest_[Dfa::kStart] < made->min_chars_ ||
        made->shortest_[Dfa::kStart] > made->max_chars_) {
      return std::shared_ptr<const StringLanguage>();
    }
    DAYBREAK_CHECK_OK(made->make_table(budget));
    if (!made->viable(Dfa::kStart, 0)) {
      return std::shared_ptr<const StringLanguage>();
    }
  }
  live_languages().keep(key, made);
  return std::shared_ptr<const StringLanguage>(std::move(made));
}

void StringLanguage::measure() {
  const std::size_t states = dfa_->states();
  const auto before = predecessors(*dfa_);
  shortest_.assign(states, kNoMaxChars);
  std::vector<Dfa::State> queue;
  for (Dfa::State state = 0; state < states; ++state) {
    if (dfa_->accepts(state)) {
      shortest_[state] = 0;
      queue.push_back(state);
    }
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const Dfa::State from : before[queue[i]]) {
      if (shortest_[from] == kNoMaxChars) {
        shortest_[from] = shortest_[queue[i]] + 1;
        queue.push_back(from);
      }
    }
  }
  // The longest, from the states without a way on back to the others; what is never reached like
  // that leads to a cycle, and every cycle leads to acceptance.
  longest_.assign(states, kNoMaxChars);
  std::vector<std::uint32_t> open(states, 0);
  std::vector<std::uint32_t> best(states, 0);
  for (const auto& list : before) {
    for (const Dfa::State from : list) {
      ++open[from];
    }
  }
  std::vector<Dfa::State> ready;
  for (Dfa::State state = 0; state < states; ++state) {
    if (open[state] == 0) {
      ready.push_back(state);
    }
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const Dfa::State state = ready[i];
    longest_[state] = best[state];
    for (const Dfa::State from : before[state]) {
      best[from] = std::max(best[from], best[state] + 1);
      if (--open[from] == 0) {
        ready.push_back(from);
      }
    }
  }
}

void StringLanguage::drop_implied_bounds() {
  if (min_chars_ <= shortest_[Dfa::kStart]) {
    min_chars_ = 0;
  }
  if (longest_[Dfa::kStart] != kNoMaxChars && max_chars_ >= longest_[Dfa::kStart]) {
    max_chars_ = kNoMaxChars;
  }
}

Status StringLanguage::make_table(Budget& budget) {
  const std::size_t states = dfa_->states();
  if (min_chars_ == 0 || max_chars_ == kNoMaxChars) {
    return ok();
  }
  // A completion that is too long passes through a cycle of at most `states` code points; without
  // it, it is shorter by as many. So a window that wide is met when there is one completion on
  // either side.
  const std::uint64_t window = std::uint64_t{max_chars_} - min_chars_ + 1;
  if (window >= states && min_chars_ <= kMaxCombinedMinChars) {
    return ok();
  }
  const auto before = predecessors(*dfa_);
  std::uint64_t edges = states;
  for (const auto& list : before) {
    edges += list.size();
  }
  const std::uint64_t bound = max_chars_;
  if (min_chars_ > kMaxCombinedMinChars || edges > kMaxLengthSteps / bound) {
    return Error{Errc::kUnsupported, "minLength " + std::to_string(min_chars_) + " and maxLength " +
                                         std::to_string(max_chars_) +
                                         " cannot be combined exactly with a pattern of " +
                                         std::to_string(states) + " states"};
  }
  DAYBREAK_CHECK_OK(budget.spend(edges * bound / kWordBits + edges, "lengths of strings"));
  words_ = min_chars_ / kWordBits + 1;
  windows_.assign(states * words_, 0);
  // Length by length: where acceptance is `length` code points away. `since` is the last such
  // length of each state, so a window that ends at `length` is met if that is not before it.
  std::vector<std::uint8_t> now(states, 0);
  std::vector<std::uint64_t> since(states, 0);  // length + 1; 0: none yet
  for (Dfa::State state = 0; state < states; ++state) {
    now[state] = dfa_->accepts(state) ? 1 : 0;
  }
  std::vector<std::uint8_t> next(states, 0);
  for (std::uint64_t length = 0; length <= bound; ++length) {
    for (Dfa::State state = 0; state < states; ++state) {
      since[state] = now[state] != 0 ? length + 1 : since[state];
      if (length + 1 >= window) {
        const std::uint64_t missing = length + 1 - window;  // the window is [missing, length]
        if (since[state] > missing) {
          windows_[state * words_ + missing / kWordBits] |= std::uint64_t{1}
                                                            << (missing % kWordBits);
        }
      }
    }
    std::ranges::fill(next, 0);
    for (Dfa::State state = 0; state < states; ++state) {
      if (now[state] != 0) {
        for (const Dfa::State from : before[state]) {
          next[from] = 1;
        }
      }
    }
    now.swap(next);
  }
  return ok();
}

bool StringLanguage::window_hit(Dfa::State state, std::uint32_t missing) const {
  return ((windows_[state * words_ + missing / kWordBits] >> (missing % kWordBits)) & 1) != 0;
}

bool StringLanguage::viable(Dfa::State state, std::uint32_t chars) const {
  if (chars > max_chars_) {
    return false;
  }
  if (free_) {
    return true;
  }
  if (max_chars_ != kNoMaxChars && shortest_[state] > max_chars_ - chars) {
    return false;
  }
  if (chars >= min_chars_) {
    return true;
  }
  const std::uint32_t missing = min_chars_ - chars;
  return windows_.empty() ? longest_[state] >= missing : window_hit(state, missing);
}

bool StringLanguage::contains(std::string_view utf8) const {
  Dfa::State state = Dfa::kStart;
  std::uint64_t chars = 0;
  for (std::size_t at = 0; at < utf8.size() && state != Dfa::kDead; ++chars) {
    const CodePoint code = valid_code_point(utf8, at);
    state = dfa_->next(state, code.value);
    at += code.length;
  }
  return state != Dfa::kDead && dfa_->accepts(state) && chars >= min_chars_ &&
         (max_chars_ == kNoMaxChars || chars <= max_chars_);
}

std::uint64_t StringLanguage::count(Dfa::State state, std::uint32_t chars,
                                    std::uint64_t cap) const {
  if (!viable(state, chars)) {
    return 0;
  }
  const std::uint32_t low = chars >= min_chars_ ? 0 : min_chars_ - chars;
  std::uint32_t high = max_chars_ == kNoMaxChars ? kNoMaxChars : max_chars_ - chars;
  if (free_) {
    return count_free(low, high, cap);
  }
  const std::size_t states = dfa_->states();
  if (longest_[state] != kNoMaxChars) {
    high = std::min(high, longest_[state]);
  } else if (high == kNoMaxChars || (std::uint64_t{high} - low + 1) / states >= cap) {
    // Every window of as many lengths as there are states has a completion, see make_table().
    return cap;
  }
  // Forward, length by length: the number of ways to each state.
  std::vector<std::uint64_t> ways(states, 0);
  std::vector<std::uint64_t> next(states, 0);
  ways[state] = 1;
  std::uint64_t total = 0;
  for (std::uint64_t length = 0; length <= high && total < cap; ++length) {
    std::ranges::fill(next, 0);
    for (Dfa::State from = 0; from < states; ++from) {
      if (ways[from] == 0) {
        continue;
      }
      if (length >= low && dfa_->accepts(from)) {
        total = add(total, ways[from], cap);
      }
      for (const Dfa::Edge& edge : dfa_->edges(from)) {
        const std::uint64_t width = std::uint64_t{edge.high} - edge.low + 1;
        next[edge.target] = add(next[edge.target], multiply(ways[from], width, cap), cap);
      }
    }
    ways.swap(next);
  }
  return total;
}

std::size_t StringLanguage::bytes() const {
  return sizeof(*this) + dfa_->bytes() +
         (shortest_.size() + longest_.size()) * sizeof(std::uint32_t) +
         windows_.size() * sizeof(std::uint64_t);
}

Result<std::shared_ptr<const StringLanguage>> intersect(const StringLanguage& a,
                                                        const StringLanguage& b, Budget& budget) {
  const std::uint32_t min = std::max(a.min_chars(), b.min_chars());
  const std::uint32_t max = std::min(a.max_chars(), b.max_chars());
  if (a.free() || b.free() || a.dfa() == b.dfa()) {
    return StringLanguage::make(a.free() ? b.shared_dfa() : a.shared_dfa(), min, max, budget);
  }
  DAYBREAK_TRY(Dfa both, a.dfa().intersect(b.dfa(), budget));
  return StringLanguage::make(std::make_shared<const Dfa>(std::move(both)), min, max, budget);
}

Result<std::vector<std::shared_ptr<const StringLanguage>>> complement(const StringLanguage& a,
                                                                      Budget& budget) {
  std::vector<std::shared_ptr<const StringLanguage>> out;
  const auto add_part = [&](std::shared_ptr<const Dfa> dfa, std::uint32_t min,
                            std::uint32_t max) -> Status {
    DAYBREAK_TRY(auto part, StringLanguage::make(std::move(dfa), min, max, budget));
    if (part != nullptr) {
      out.push_back(std::move(part));
    }
    return ok();
  };
  const auto& every = StringLanguage::all()->shared_dfa();
  if (!a.free()) {
    DAYBREAK_TRY(Dfa others, a.dfa().complement(budget));
    DAYBREAK_CHECK_OK(add_part(std::make_shared<const Dfa>(std::move(others)), 0, kNoMaxChars));
  }
  if (a.min_chars() > 0) {
    DAYBREAK_CHECK_OK(add_part(every, 0, a.min_chars() - 1));
  }
  if (a.max_chars() < kNoMaxChars - 1) {
    DAYBREAK_CHECK_OK(add_part(every, a.max_chars() + 1, kNoMaxChars));
  }
  return out;
}

}  // namespace daybreak::grammar
