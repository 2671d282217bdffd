// SPDX-License-Identifier: Apache-2.0
// ObjectShape and ArrayShape against a search that tries every completion of small shapes.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/rng.h"
#include "grammar/shapes.h"

namespace daybreak::grammar {
namespace {

// --------------------------------------------------------------------------------------- objects

ObjectShape random_object(Rng& rng) {
  ObjectShape shape;
  const std::uint32_t names = rng.below(4);
  const std::uint32_t atoms = rng.below(3);
  const std::uint32_t conditions = rng.below(4);
  shape.conditions = (1U << conditions) - 1;
  for (std::uint32_t i = 0; i < names; ++i) {
    shape.keys.names.push_back(std::string(1, static_cast<char>('a' + i)));
  }
  shape.keys.atoms.resize(atoms);
  shape.required.assign(names == 0 ? 0 : 1, 0);
  for (std::uint32_t label = 0; label < names + atoms; ++label) {
    auto& options = shape.options.emplace_back();
    for (std::uint32_t i = rng.below(4); i > 0; --i) {
      options.push_back({0, rng.below(1U << conditions) & rng.below(1U << conditions)});
    }
    if (label < names && rng.below(3) == 0) {
      shape.required[0] |= std::uint64_t{1} << label;
    }
  }
  shape.min = rng.below(4);  // never above max: such terms do not become shapes
  shape.max = rng.below(2) == 0 ? kNoLimit : shape.min + rng.below(4);
  return shape;
}

// Tries everything. An atom's keys are never used up.
class ObjectSearch {
 public:
  explicit ObjectSearch(const ObjectShape& shape) : shape_(shape) {}

  bool can_close(std::uint64_t seen, std::uint64_t count, std::uint32_t fulfilled) const {
    const std::uint64_t required = shape_.words() == 0 ? 0 : shape_.required[0];
    return count >= shape_.min && count <= shape_.max && fulfilled == shape_.conditions &&
           (required & ~seen) == 0;
  }

  bool can_finish(std::uint64_t seen, std::uint64_t count, std::uint32_t fulfilled) {
    // Three names, three conditions and four members at least: more members help nobody.
    if (can_close(seen, count, fulfilled)) {
      return true;
    }
    if (count >= std::min<std::uint64_t>(shape_.max, 12)) {
      return false;
    }
    const auto [known, added] = known_.try_emplace({seen, count, fulfilled}, false);
    if (!added) {
      return known->second;
    }
    bool possible = false;
    for (KeyLabel label = 0; label < shape_.options.size() && !possible; ++label) {
      for (const ChildOption& option : shape_.options[label]) {
        possible = possible || allows(seen, count, fulfilled, label, option);
      }
    }
    known_[{seen, count, fulfilled}] = possible;
    return possible;
  }

  bool allows(std::uint64_t seen, std::uint64_t count, std::uint32_t fulfilled, KeyLabel label,
              const ChildOption& option) {
    const bool name = label < shape_.keys.names.size();
    if (count >= shape_.max || (name && (seen >> label & 1) != 0)) {
      return false;
    }
    return can_finish(name ? seen | std::uint64_t{1} << label : seen, count + 1,
                      fulfilled | option.fulfils);
  }

 private:
  const ObjectShape& shape_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>, bool> known_;
};

TEST(ObjectShape, AgreesWithTryingEveryCompletion) {
  Rng rng(1);
  std::size_t finishable = 0;
  std::size_t stuck = 0;
  for (int round = 0; round < 3'000; ++round) {
    const ObjectShape shape = random_object(rng);
    ObjectSearch search(shape);
    const auto names = static_cast<std::uint32_t>(shape.keys.names.size());
    for (std::uint64_t seen = 0; seen < (1U << names); ++seen) {
      const auto listed = static_cast<std::uint64_t>(std::popcount(seen));
      for (std::uint64_t count = listed; count < listed + 3; ++count) {
        const std::uint32_t fulfilled = rng.below(shape.conditions + 1);
        const std::vector<std::uint64_t> words(shape.words(), seen);
        const ObjectProgress progress{words, count, fulfilled};
        ASSERT_EQ(shape.can_close(progress) && count <= shape.max,
                  search.can_close(seen, count, fulfilled));
        const bool possible = search.can_finish(seen, count, fulfilled);
        (possible ? finishable : stuck) += 1;
        ASSERT_EQ(shape.can_finish(progress), possible)
            << "round " << round << " seen " << seen << " count " << count << " fulfilled "
            << fulfilled;
        if (!possible) {
          continue;  // choices() is only asked where something is possible
        }
        const KeyChoices choices = shape.choices(progress);
        for (KeyLabel label = 0; label < shape.options.size(); ++label) {
          bool any = false;
          for (const ChildOption& option : shape.options[label]) {
            const bool allowed = search.allows(seen, count, fulfilled, label, option);
            ASSERT_EQ(shape.allows(progress, label, option), allowed) << "round " << round;
            any = any || allowed;
          }
          const bool chosen = label < names ? (choices.names[0] >> label & 1) != 0
                                            : (choices.atoms >> (label - names) & 1) != 0;
          ASSERT_EQ(chosen, any) << "round " << round << " label " << label << " seen " << seen
                                 << " count " << count << " fulfilled " << fulfilled;
        }
      }
    }
  }
  EXPECT_GT(finishable, 5'000U);
  EXPECT_GT(stuck, 5'000U);
}

// Members that are alike are not tried one after the other: 300 to the power of 4 would not end.
TEST(ObjectShape, ManyEqualMembersAreNoManyTries) {
  ObjectShape shape;
  shape.conditions = 31;
  shape.max = 4;
  for (int i = 0; i < 300; ++i) {
    shape.keys.names.push_back(std::to_string(i));
    shape.options.push_back({{0, 0}, {0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}});
  }
  shape.required.assign(5, 0);
  const std::vector<std::uint64_t> seen(5);
  EXPECT_FALSE(shape.can_finish({seen, 0, 0}));
  shape.max = 5;
  EXPECT_TRUE(shape.can_finish({seen, 0, 0}));
}

// ---------------------------------------------------------------------------------------- arrays

ArrayShape random_array(Rng& rng) {
  ArrayShape shape;
  const std::uint32_t conditions = rng.below(3);
  for (std::uint32_t i = 0; i < conditions; ++i) {
    const std::uint64_t min = rng.below(3);
    shape.conditions.push_back(
        {rng.below(3), min, rng.below(2) == 0 ? kNoLimit : min + rng.below(2)});
  }
  const auto options = [&](std::uint64_t index) {
    std::vector<ChildOption> all;
    for (std::uint32_t i = rng.below(4); i > 0; --i) {
      std::uint32_t fulfils = rng.below(1U << conditions);
      for (std::uint32_t c = 0; c < conditions; ++c) {
        fulfils &= index < shape.conditions[c].from ? ~(1U << c) : ~0U;
      }
      all.push_back({0, fulfils});
    }
    return all;
  };
  const std::uint32_t prefix = rng.below(4);
  for (std::uint32_t i = 0; i < prefix; ++i) {
    shape.prefix.push_back(options(i));
  }
  while (std::ranges::any_of(shape.conditions,
                             [&](const auto& own) { return own.from > shape.prefix.size(); })) {
    shape.prefix.push_back(options(shape.prefix.size()));
  }
  shape.tail = options(99);
  shape.min = rng.below(5);
  shape.max = rng.below(2) == 0 ? kNoLimit : rng.below(7);
  return shape;
}

// The counts as they are, not saturated, beside the shape's code for them.
class ArraySearch {
 public:
  explicit ArraySearch(const ArrayShape& shape) : shape_(shape) {}
  using Counts = std::vector<std::uint64_t>;

  bool can_close(std::uint64_t index, const Counts& counts) const {
    bool good = index >= shape_.min && index <= shape_.max;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      good = good && counts[i] >= shape_.conditions[i].min;
    }
    return good;
  }

  bool can_finish(std::uint64_t index, const Counts& counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > shape_.conditions[i].max) {
        return false;
      }
    }
    if (can_close(index, counts)) {
      return true;
    }
    if (index >= std::min<std::uint64_t>(shape_.max, 14)) {
      return false;
    }
    const auto [known, added] = known_.try_emplace({index, counts}, false);
    if (added) {
      bool possible = false;
      for (const ChildOption& option : shape_.options(index)) {
        possible = possible || can_finish(index + 1, after(counts, option));
      }
      known_[{index, counts}] = possible;
    }
    return known_[{index, counts}];
  }

  static Counts after(Counts counts, const ChildOption& option) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] += option.fulfils >> i & 1;
    }
    return counts;
  }

 private:
  const ArrayShape& shape_;
  std::map<std::pair<std::uint64_t, Counts>, bool> known_;
};

TEST(ArrayShape, AgreesWithTryingEveryCompletion) {
  Rng rng(2);
  std::map<bool, std::size_t> verdicts;
  for (int round = 0; round < 4'000; ++round) {
    ArrayShape shape = random_array(rng);
    Budget budget(1'000'000);
    ASSERT_TRUE(shape.prepare(budget));
    ArraySearch search(shape);
    for (int walk = 0; walk < 4; ++walk) {
      std::uint32_t code = 0;
      ArraySearch::Counts counts(shape.conditions.size());
      for (std::uint64_t index = 0; index < 8; ++index) {
        const bool possible = search.can_finish(index, counts);
        ++verdicts[possible];
        ASSERT_EQ(shape.can_finish(index, code), possible) << "round " << round << " " << index;
        ASSERT_EQ(shape.can_close(index, code), search.can_close(index, counts))
            << "round " << round << " " << index;
        const auto options = shape.options(index);
        if (!possible || options.empty()) {
          break;
        }
        for (const ChildOption& option : options) {
          ASSERT_EQ(
              shape.allows(index, code, option),
              index < shape.max && search.can_finish(index + 1, ArraySearch::after(counts, option)))
              << "round " << round << " " << index;
        }
        const ChildOption& option = options[rng.below(static_cast<std::uint32_t>(options.size()))];
        counts = ArraySearch::after(counts, option);
        code = shape.after(code, option);
        if (code == ArrayShape::kNever) {
          ASSERT_FALSE(search.can_finish(index + 1, counts));
          break;
        }
      }
    }
  }
  EXPECT_GT(verdicts[true], 5'000U);
  EXPECT_GT(verdicts[false], 2'000U);
}

TEST(ArrayShape, RefusesCountsTooLargeToRemember) {
  ArrayShape shape;
  shape.tail = {{0, 1}};
  shape.conditions = {{0, 9'999, kNoLimit}};
  Budget budget(100'000'000'000);
  EXPECT_TRUE(ArrayShape(shape).prepare(budget));
  shape.conditions = {{0, 10'000, kNoLimit}};
  const auto one_more = ArrayShape(shape).prepare(budget);
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().code, Errc::kUnsupported);
}

}  // namespace
}  // namespace daybreak::grammar
