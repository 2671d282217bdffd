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

StateArena::Stock::Stock(std::size_t count) : buffers(count), free(descending(count)) {}

StateArena::StateArena(const StateLayout& layout, std::size_t slots, std::size_t checkpoints,
                       std::size_t pages, bool poison_freed)
    : layout_(layout),
      poison_freed_(poison_freed),
      slots_(slots),
      checkpoints_(checkpoints),
      pages_(pages) {}

Result<Loan> StateArena::take_slot(std::size_t reserve_pages) {
  const std::lock_guard lock(mutex_);
  if (slots_.free.empty()) {
    return Error{Errc::kResourceLimit,
                 "all " + std::to_string(slots()) + " slots of the state pool are in use"};
  }
  DAYBREAK_CHECK_OK(set_aside_locked(reserve_pages));  // before the work of zeroing
  auto lent = or_out_of_memory(Errc::kResourceLimit, "a slot of the state pool",
                               [&] { return Result(lend(slots_, layout_.slot_floats())); });
  if (!lent) {
    reserved_pages_ -= reserve_pages;
  }
  return lent;
}

void StateArena::give_back_slot(Loan slot) {
  const std::lock_guard lock(mutex_);
  take_back(slots_, slot);
}

Result<Loan> StateArena::take_blank_checkpoint() {
  const std::lock_guard lock(mutex_);
  if (checkpoints_.free.empty()) {
    return Error{Errc::kResourceLimit, "all " + std::to_string(checkpoints()) +
                                           " checkpoints of the state pool are in use"};
  }
  return or_out_of_memory(Errc::kResourceLimit, "a checkpoint", [&] {
    return Result(lend(checkpoints_, layout_.slot_floats(), Fill::kAnything));
  });
}

Result<Loan> StateArena::take_checkpoint(const Loan& source) {
  DAYBREAK_TRY(const Loan loan, take_blank_checkpoint());
  std::copy_n(source.data, layout_.slot_floats(), loan.data);
  return loan;
}

Result<Loan> StateArena::take_blank_page() {
  const std::lock_guard lock(mutex_);
  if (unreserved() == 0) {
    return no_pages(1, 0, pages());
  }
  return or_out_of_memory(Errc::kResourceLimit, "a page of the state pool", [&] {
    return Result(lend(pages_, layout_.page_floats(), Fill::kAnything));
  });
}

void StateArena::give_back_checkpoint(Loan checkpoint) {
  const std::lock_guard lock(mutex_);
  take_back(checkpoints_, checkpoint);
}

Status StateArena::take_pages(std::size_t count, std::size_t reserved, std::vector<Loan>& out) {
  const std::lock_guard lock(mutex_);
  assert(reserved <= count && reserved <= reserved_pages_);
  if (count - reserved > unreserved()) {
    return no_pages(count - reserved, unreserved(), pages());
  }
  const std::size_t before = out.size();
  Status lent = or_out_of_memory(Errc::kResourceLimit, "a page of the state pool", [&] {
    if (out.capacity() < before + count) {  // so that what is lent cannot get lost below
      out.reserve(std::max(before + count, 2 * out.capacity()));
    }
    for (std::size_t i = 0; i < count; ++i) {
      out.push_back(lend(pages_, layout_.page_floats()));
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
    take_back(pages_, pages.back());
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

void StateArena::give_back_page(Loan page) {
  const std::lock_guard lock(mutex_);
  take_back(pages_, page);
}

Status StateArena::set_aside(std::size_t pages) {
  const std::lock_guard lock(mutex_);
  return set_aside_locked(pages);
}

Status StateArena::set_aside_locked(std::size_t pages) {
  if (pages > unreserved()) {
    return no_pages(pages, unreserved(), this->pages());
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
  return slots_.free.size();
}

std::size_t StateArena::free_checkpoints() const {
  const std::lock_guard lock(mutex_);
  return checkpoints_.free.size();
}

std::size_t StateArena::free_pages() const {
  const std::lock_guard lock(mutex_);
  return unreserved();
}

Loan StateArena::lend(Stock& stock, std::size_t floats, Fill fill) {
  const std::size_t index = stock.free.back();
  AlignedBuffer<float>& buffer = stock.buffers[index];
  if (buffer.size() == 0 && floats > 0) {
    buffer = AlignedBuffer<float>(floats);  // comes zero-filled
  } else if (fill == Fill::kZero) {
    std::ranges::fill(buffer.span(), 0.0f);
  }
  stock.free.pop_back();
  return {index, buffer.data()};
}

void StateArena::take_back(Stock& stock, Loan loan) {
  AlignedBuffer<float>& buffer = stock.buffers[loan.index];
  if (poison_freed_ && buffer.size() > 0) {
    std::memset(buffer.data(), 0xff, buffer.size() * sizeof(float));
  }
  stock.free.push_back(loan.index);
}

}  // namespace daybreak::model
