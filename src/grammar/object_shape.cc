// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

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
// Required names may fulfil some at no extra cost. The number of conditions is small.
class ConditionSearch {
 public:
  ConditionSearch(const ObjectShape& shape, std::span<const std::uint64_t> seen)
      : shape_(shape), used_(seen.begin(), seen.end()) {}

  // Returns whether the conditions in `pending` can be fulfilled with at most `extra` members more.
  bool possible(std::uint32_t pending, std::uint64_t extra) {
    if (pending == 0) {
      return true;
    }
    std::vector<KeyLabel> failed;
    for (KeyLabel label = 0; label < shape_.options.size(); ++label) {
      const bool name = label < shape_.keys.names.size();
      if (name && test(used_, label)) {
        continue;
      }
      const bool free = name && test(shape_.required, label);
      if (!free && extra == 0) {
        continue;
      }
      // Hundreds of names are often alike, and then one of them answers for all.
      if (std::ranges::any_of(failed, [&](KeyLabel other) { return alike(label, other); })) {
        continue;
      }
      failed.push_back(label);
      for (const ChildOption& option : shape_.options[label]) {
        // Only what covers the lowest pending condition: any solution has such a member.
        if ((option.fulfils & pending & (~pending + 1)) == 0) {
          continue;
        }
        if (name) {
          used_[label / 64] |= std::uint64_t{1} << (label % 64);
        }
        const bool found = possible(pending & ~option.fulfils, free ? extra : extra - 1);
        if (name) {
          used_[label / 64] &= ~(std::uint64_t{1} << (label % 64));
        }
        if (found) {
          return true;
        }
      }
    }
    return false;
  }

 private:
  // Whether two labels, neither used, can do the same for the conditions at the same cost.
  [[nodiscard]] bool alike(KeyLabel a, KeyLabel b) const {
    const std::size_t names = shape_.keys.names.size();
    return (a < names) == (b < names) &&
           (a >= names || test(shape_.required, a) == test(shape_.required, b)) &&
           std::ranges::equal(shape_.options[a], shape_.options[b], {}, &ChildOption::fulfils,
                              &ChildOption::fulfils);
  }

  const ObjectShape& shape_;
  std::vector<std::uint64_t> used_;
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
  return pending == 0 || ConditionSearch(*this, progress.seen).possible(pending, slots - missing);
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
