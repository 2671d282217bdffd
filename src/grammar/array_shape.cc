// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>

#include "grammar/shapes.h"

namespace daybreak::grammar {
namespace {

constexpr std::uint64_t kMaxCounts = 10'000;    // combinations of the conditions' counts
constexpr std::uint64_t kMaxTable = 2'000'000;  // entries of `distance`

}  // namespace

Status ArrayShape::prepare(Budget& budget) {
  std::uint64_t codes = 1;
  std::uint64_t from = 0;
  for (const Condition& condition : conditions) {
    const std::uint64_t most = condition.max == kNoLimit ? condition.min : condition.max;
    if (most >= kMaxCounts || codes * (most + 1) > kMaxCounts) {
      return Error{Errc::kUnsupported,
                   "contains: minContains and maxContains cannot be enforced exactly: expected at "
                   "most " +
                       std::to_string(kMaxCounts) + " combinations of counts, found more"};
    }
    radix.push_back(static_cast<std::uint32_t>(most + 1));
    codes *= most + 1;
    from = std::max(from, condition.from);
  }
  rows = std::max<std::uint64_t>(prefix.size(), from);
  if (!conditions.empty()) {
    rows = std::max(rows, min);
  }
  if (rows > kMaxTable / codes) {
    return Error{Errc::kUnsupported,
                 "contains: cannot be enforced exactly together with minItems of this size"};
  }
  DAYBREAK_CHECK_OK(budget.spend(rows * codes + codes, "items"));
  // Backwards from the goal, first where only the tail's options are left.
  tail_distance.assign(codes, kNever);
  for (std::uint32_t code = 0; code < codes; ++code) {
    tail_distance[code] = fulfilled(code) ? 0 : kNever;
  }
  for (bool changed = true; changed;) {
    changed = false;
    DAYBREAK_CHECK_OK(budget.spend(codes * (tail.size() + 1), "items"));
    for (std::uint32_t code = 0; code < codes; ++code) {
      for (const ChildOption& option : tail) {
        const std::uint32_t next = after(code, option);
        if (next != kNever && tail_distance[next] != kNever &&
            tail_distance[next] + 1 < tail_distance[code]) {
          tail_distance[code] = tail_distance[next] + 1;
          changed = true;
        }
      }
    }
  }
  distance.assign(rows * codes, kNever);
  for (std::uint64_t index = rows; index-- > 0;) {
    DAYBREAK_CHECK_OK(budget.spend(codes * (options(index).size() + 1), "items"));
    for (std::uint32_t code = 0; code < codes; ++code) {
      std::uint32_t& best = distance[index * codes + code];
      if (index >= min && fulfilled(code)) {
        best = 0;
        continue;
      }
      for (const ChildOption& option : options(index)) {
        const std::uint32_t next = after(code, option);
        const std::uint64_t rest = next == kNever ? kNever : distance_from(index + 1, next);
        if (rest < kNever - 1) {
          best = std::min(best, static_cast<std::uint32_t>(rest) + 1);
        }
      }
    }
  }
  return ok();
}

bool ArrayShape::fulfilled(std::uint32_t counts) const {
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (counts % radix[i] < conditions[i].min) {
      return false;
    }
    counts /= radix[i];
  }
  return true;
}

std::uint32_t ArrayShape::after(std::uint32_t counts, const ChildOption& option) const {
  std::uint32_t next = 0;
  std::uint32_t weight = 1;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    std::uint32_t count = counts % radix[i];
    counts /= radix[i];
    if (((option.fulfils >> i) & 1U) != 0) {
      if (count + 1 == radix[i] && conditions[i].max != kNoLimit) {
        return kNever;  // one too many
      }
      count = std::min(count + 1, radix[i] - 1);
    }
    next += count * weight;
    weight *= radix[i];
  }
  return next;
}

std::uint64_t ArrayShape::distance_from(std::uint64_t index, std::uint32_t counts) const {
  if (index < rows) {
    return distance[index * tail_distance.size() + counts];
  }
  if (tail_distance[counts] == kNever || (index < min && tail.empty())) {
    return kNever;
  }
  return std::max<std::uint64_t>(tail_distance[counts], index < min ? min - index : 0);
}

bool ArrayShape::can_finish(std::uint64_t index, std::uint32_t counts) const {
  const std::uint64_t rest = distance_from(index, counts);
  return rest < kNever && index <= max && rest <= max - index;
}

bool ArrayShape::can_close(std::uint64_t index, std::uint32_t counts) const {
  return index <= max && distance_from(index, counts) == 0;
}

bool ArrayShape::allows(std::uint64_t index, std::uint32_t counts,
                        const ChildOption& option) const {
  if (index >= max) {
    return false;
  }
  const std::uint32_t next = after(counts, option);
  return next != kNever && can_finish(index + 1, next);
}

}  // namespace daybreak::grammar
