// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "grammar/shapes.h"

namespace daybreak::grammar {
namespace {

bool test(std::span<const std::uint64_t> bits, std::size_t index) {
  return ((bits[index / 64] >> (index % 64)) & 1U) != 0;
}

std::uint64_t missing_names(const ObjectShape& shape, std::span<const std::uint64_t> seen) {
  std::uint64_t missing = 0;
  for (std::size_t word = 0; word < shape.words(); ++word) {
    missing += static_cast<std::uint64_t>(std::popcount(shape.required[word] & ~seen[word]));
  }
  return missing;
}

std::uint64_t slots_left(const ObjectShape& shape, std::uint64_t count) {
  return shape.max == kNoLimit ? kNoLimit : shape.max - std::min(shape.max, count);
}

// Names not seen that some value satisfies, required ones included.
std::uint64_t usable_names(const ObjectShape& shape, std::span<const std::uint64_t> seen) {
  std::uint64_t usable = 0;
  for (std::size_t name = 0; name < shape.keys.names.size(); ++name) {
    usable += !test(seen, name) && !shape.options[name].empty();
  }
  return usable;
}

bool has_open_atom(const ObjectShape& shape) {
  for (std::size_t atom = 0; atom < shape.keys.atoms.size(); ++atom) {
    if (!shape.options[shape.keys.names.size() + atom].empty()) {
      return true;
    }
  }
  return false;
}

// Looks for the smallest number of members, beyond the required ones, that fulfil all conditions.
// Required names may fulfil some at no extra cost. Label by label, for every set of conditions
// (they are few), with what number of members it can be fulfilled.
class ConditionSearch {
 public:
  // `pending`: the conditions to fulfil, of the lowest kMaxConditions bits.
  ConditionSearch(const ObjectShape& shape, std::span<const std::uint64_t> seen,
                  std::uint32_t pending)
      : shape_(shape), seen_(seen), pending_(pending) {
    fewest_.fill(kNever);
    fewest_[0] = 0;
  }

  // Returns whether they can be fulfilled with at most `extra` members more.
  bool possible(std::uint64_t extra) {
    for (KeyLabel label = 0; label < shape_.options.size(); ++label) {
      const bool name = label < shape_.keys.names.size();
      const bool free = name && test(shape_.required, label);
      if ((name && test(seen_, label)) || (!free && extra == 0) || !helps(label) || enough(label)) {
        continue;
      }
      if (name) {
        use_once(label, free ? 0 : 1);
      } else {
        use_often(label);
      }
      if (fewest_[pending_] != kNever && fewest_[pending_] <= extra) {
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::uint8_t kNever = 0xFF;
  static constexpr std::size_t kMaxClasses = 16;

  [[nodiscard]] bool helps(KeyLabel label) const {
    return std::ranges::any_of(shape_.options[label], [this](const ChildOption& option) {
      return (option.fulfils & pending_) != 0;
    });
  }

  // Hundreds of names are often alike: more of them than there are conditions are of no use.
  bool enough(KeyLabel label) {
    for (auto& [other, count] : classes_) {
      if (alike(label, other)) {
        return ++count > std::popcount(pending_);
      }
    }
    if (classes_.size() < kMaxClasses) {
      classes_.emplace_back(label, 1);
    }
    return false;
  }

  // Whether two labels, neither used, can do the same for the conditions at the same cost.
  [[nodiscard]] bool alike(KeyLabel a, KeyLabel b) const {
    const std::size_t names = shape_.keys.names.size();
    return (a < names) == (b < names) &&
           (a >= names || test(shape_.required, a) == test(shape_.required, b)) &&
           std::ranges::equal(shape_.options[a], shape_.options[b], {}, &ChildOption::fulfils,
                              &ChildOption::fulfils);
  }

  void add(KeyLabel label, std::uint32_t set, std::uint8_t cost) {
    if (fewest_[set] == kNever) {
      return;
    }
    for (const ChildOption& option : shape_.options[label]) {
      std::uint8_t& best = fewest_[set | (option.fulfils & pending_)];
      best = std::min(best, static_cast<std::uint8_t>(fewest_[set] + cost));
    }
  }

  // Downwards: what the label adds to a set is not added to again.
  void use_once(KeyLabel label, std::uint8_t cost) {
    for (std::uint32_t set = pending_; set != 0; set = (set - 1) & pending_) {
      add(label, set, cost);
    }
    add(label, 0, cost);
  }
  // Upwards: it is.
  void use_often(KeyLabel label) {
    for (std::uint32_t set = 0; set != pending_; set = (set - pending_) & pending_) {
      add(label, set, 1);
    }
  }

  const ObjectShape& shape_;
  std::span<const std::uint64_t> seen_;
  std::uint32_t pending_;
  std::array<std::uint8_t, std::size_t{1} << kMaxConditions> fewest_{};  // [set]
  std::vector<std::pair<KeyLabel, int>> classes_;  // of alike labels: the first, and how many
};

}  // namespace

bool ObjectShape::can_close(const ObjectProgress& progress) const {
  return progress.count >= min && progress.fulfilled == conditions &&
         missing_names(*this, progress.seen) == 0;
}

bool ObjectShape::can_finish(const ObjectProgress& progress) const {
  const std::uint64_t missing = missing_names(*this, progress.seen);
  const std::uint64_t slots = slots_left(*this, progress.count);
  if (progress.count > max || missing > slots) {
    return false;
  }
  if (min > progress.count && !has_open_atom(*this) &&
      min - progress.count > usable_names(*this, progress.seen)) {
    return false;
  }
  for (std::size_t name = 0; name < keys.names.size(); ++name) {
    if (test(required, name) && !test(progress.seen, name) && options[name].empty()) {
      return false;
    }
  }
  const std::uint32_t pending = conditions & ~progress.fulfilled;
  return pending == 0 || ConditionSearch(*this, progress.seen, pending).possible(slots - missing);
}

bool ObjectShape::allows(const ObjectProgress& progress, KeyLabel label,
                         const ChildOption& option) const {
  if (progress.count >= max) {
    return false;
  }
  std::vector<std::uint64_t> seen(progress.seen.begin(), progress.seen.end());
  if (label < keys.names.size()) {
    if (test(seen, label)) {
      return false;
    }
    seen[label / 64] |= std::uint64_t{1} << (label % 64);
  }
  return can_finish({seen, progress.count + 1, progress.fulfilled | option.fulfils});
}

KeyChoices ObjectShape::choices(const ObjectProgress& progress) const {
  KeyChoices choices{std::vector<std::uint64_t>(words()), 0};
  const std::uint64_t slots = slots_left(*this, progress.count);
  if (slots == 0) {
    return choices;
  }
  const bool only_required = slots == missing_names(*this, progress.seen);
  for (KeyLabel label = 0; label < options.size(); ++label) {
    const bool name = label < keys.names.size();
    if ((name && test(progress.seen, label)) ||
        (only_required && !(name && test(required, label)))) {
      continue;
    }
    const bool allowed = conditions == 0
                             ? !options[label].empty()
                             : std::ranges::any_of(options[label], [&](const ChildOption& option) {
                                 return allows(progress, label, option);
                               });
    if (allowed && name) {
      choices.names[label / 64] |= std::uint64_t{1} << (label % 64);
    } else if (allowed) {
      choices.atoms |= 1U << (label - keys.names.size());
    }
  }
  return choices;
}

}  // namespace daybreak::grammar
