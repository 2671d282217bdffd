// SPDX-License-Identifier: Apache-2.0
#include "model/state_arena.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>

#include "base/out_of_memory.h"

namespace daybreak::model {
namespace {

// Returns n-1 .. 0, so that a stack hands out 0 first.
std::vector<std::size_t> descending(std::size_t n) {
  std::vector<std::size_t> indices(n);
  for (std::size_t i = 0; i < n; ++i) {
    indices[i] = n - 1 - i;
  }
  return indices;
}

Error no_pages(std::size_t wanted, std::size_t free, std::size_t total) {
  return {Errc::kResourceLimit, "the state pool has " + std::to_string(free * kPagePositions) +
                                    " of its " + std::to_string(total * kPagePositions) +
                                    " positions free, " + std::to_string(wanted * kPagePositions) +
                                    " are needed"};
}

}  // namespace

StateArena::StateArena(const StateLayout& layout, std::size_t slots, std::size_t pages,
                       bool poison_freed)
    : layout_(layout),
      poison_freed_(poison_freed),
      slots_(slots),
      pages_(pages),
      free_slots_(descending(slots)),
      free_pages_(descending(pages)) {}

Result<Loan> StateArena::take_slot(std::size_t reserve_pages) {
  const std::lock_guard lock(mutex_);
  if (free_slots_.empty()) {
    return Error{Errc::kResourceLimit,
                 "all " + std::to_string(slots_.size()) + " slots of the state pool are in use"};
  }
  DAYBREAK_CHECK_OK(set_aside_locked(reserve_pages));  // before the work of zeroing
  const std::size_t index = free_slots_.back();
  auto lent = or_out_of_memory(Errc::kResourceLimit, "a slot of the state pool", [&] {
    return Result(Loan{index, zeroed(slots_[index], layout_.slot_floats())});
  });
  if (lent) {
    free_slots_.pop_back();
  } else {
    reserved_pages_ -= reserve_pages;
  }
  return lent;
}

void StateArena::give_back_slot(Loan slot) {
  const std::lock_guard lock(mutex_);
  poison(slots_[slot.index]);
  free_slots_.push_back(slot.index);
}

Status StateArena::take_pages(std::size_t count, std::size_t reserved, std::vector<Loan>& out) {
  const std::lock_guard lock(mutex_);
  assert(reserved <= count && reserved <= reserved_pages_);
  const std::size_t unreserved = free_pages_.size() - reserved_pages_;
  if (count - reserved > unreserved) {
    return no_pages(count - reserved, unreserved, pages_.size());
  }
  const std::size_t before = out.size();
  Status lent = or_out_of_memory(Errc::kResourceLimit, "a page of the state pool", [&] {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t index = free_pages_.back();
      out.push_back({index, zeroed(pages_[index], layout_.page_floats())});
      free_pages_.pop_back();
    }
    return ok();
  });
  if (lent) {
    reserved_pages_ -= reserved;
  } else {
    take_back_pages(out, before);
  }
  return lent;
}

void StateArena::take_back_pages(std::vector<Loan>& pages, std::size_t first) {
  while (pages.size() > first) {
    poison(pages_[pages.back().index]);
    free_pages_.push_back(pages.back().index);
    pages.pop_back();
  }
}

void StateArena::give_back_pages(std::vector<Loan>& pages, std::size_t first,
                                 std::size_t keep_reserved) {
  const std::lock_guard lock(mutex_);
  assert(first <= pages.size() && keep_reserved <= pages.size() - first);
  take_back_pages(pages, first);
  reserved_pages_ += keep_reserved;
}

Status StateArena::set_aside(std::size_t pages) {
  const std::lock_guard lock(mutex_);
  return set_aside_locked(pages);
}

Status StateArena::set_aside_locked(std::size_t pages) {
  const std::size_t unreserved = free_pages_.size() - reserved_pages_;
  if (pages > unreserved) {
    return no_pages(pages, unreserved, pages_.size());
  }
  reserved_pages_ += pages;
  return ok();
}

void StateArena::release_reserved(std::size_t pages) {
  const std::lock_guard lock(mutex_);
  assert(pages <= reserved_pages_);
  reserved_pages_ -= pages;
}

std::size_t StateArena::free_slots() const {
  const std::lock_guard lock(mutex_);
  return free_slots_.size();
}

std::size_t StateArena::free_pages() const {
  const std::lock_guard lock(mutex_);
  return free_pages_.size() - reserved_pages_;
}

float* StateArena::zeroed(AlignedBuffer<float>& buffer, std::size_t floats) {
  if (buffer.size() == 0 && floats > 0) {
    buffer = AlignedBuffer<float>(floats);  // comes zero-filled
  } else {
    std::ranges::fill(buffer.span(), 0.0f);
  }
  return buffer.data();
}

void StateArena::poison(AlignedBuffer<float>& buffer) {
  if (poison_freed_ && buffer.size() > 0) {
    std::memset(buffer.data(), 0xff, buffer.size() * sizeof(float));
  }
}

}  // namespace daybreak::model
