// SPDX-License-Identifier: Apache-2.0
#pragma once

// StateArena: the slots and pages behind a StatePool, with their bookkeeping. Internal to the pool
// and its states.

#include <cstddef>
#include <mutex>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/result.h"
#include "model/state_layout.h"

namespace daybreak::model {

// A page or slot on loan: its index in the arena and its memory.
struct Loan {
  std::size_t index = 0;
  float* data = nullptr;
};

// Thread-safe. Memory on loan is written by its borrower only.
class StateArena {
 public:
  StateArena(const StateLayout& layout, std::size_t slots, std::size_t checkpoints,
             std::size_t pages, bool poison_freed);
  StateArena(const StateArena&) = delete;
  StateArena& operator=(const StateArena&) = delete;

  // Lends a zeroed slot and sets aside `reserve_pages` pages. Errors: kResourceLimit, also if the
  // system has no memory for what is lent the first time, here and below.
  [[nodiscard]] Result<Loan> take_slot(std::size_t reserve_pages);
  void give_back_slot(Loan slot);

  // Lends memory of a slot's size for a checkpoint, with `source` copied to it; these have a bound
  // of their own. Errors: kResourceLimit.
  [[nodiscard]] Result<Loan> take_checkpoint(const Loan& source);
  void give_back_checkpoint(Loan checkpoint);

  // These lend memory that holds anything: whoever takes it writes all of it. Errors: as above.
  [[nodiscard]] Result<Loan> take_blank_checkpoint();
  [[nodiscard]] Result<Loan> take_blank_page();

  // Lends zeroed pages and appends them to `out`, all `count` or none. Of these, `reserved` were
  // set aside for the caller before. Errors: kResourceLimit.
  // REQUIRES: reserved <= count and <= what the caller set aside and has not used yet.
  [[nodiscard]] Status take_pages(std::size_t count, std::size_t reserved, std::vector<Loan>& out);
  // Takes pages back; `keep_reserved` of them stay set aside for the caller.
  void give_back_pages(std::vector<Loan>& pages, std::size_t first, std::size_t keep_reserved);
  void give_back_page(Loan page);
  // Sets aside `pages` more. Errors: kResourceLimit.
  [[nodiscard]] Status set_aside(std::size_t pages);
  // Drops the claim on pages set aside and never taken.
  void release_reserved(std::size_t pages);

  [[nodiscard]] const StateLayout& layout() const { return layout_; }
  [[nodiscard]] std::size_t slots() const { return slots_.buffers.size(); }
  [[nodiscard]] std::size_t checkpoints() const { return checkpoints_.buffers.size(); }
  [[nodiscard]] std::size_t pages() const { return pages_.buffers.size(); }
  [[nodiscard]] std::size_t free_slots() const;
  [[nodiscard]] std::size_t free_checkpoints() const;
  [[nodiscard]] std::size_t free_pages() const;  // neither lent nor set aside

 private:
  // Buffers of one size.
  struct Stock {
    explicit Stock(std::size_t count);
    std::vector<AlignedBuffer<float>> buffers;  // empty until first lent
    std::vector<std::size_t> free;              // a stack: the warmest memory goes out first
  };
  // These are called with the lock held.
  [[nodiscard]] std::size_t unreserved() const { return pages_.free.size() - reserved_pages_; }
  Status set_aside_locked(std::size_t pages);
  void take_back_pages(std::vector<Loan>& pages, std::size_t first);
  enum class Fill : std::uint8_t { kZero, kAnything };
  // Lends the next free one. May throw std::bad_alloc; then nothing has changed.
  static Loan lend(Stock& stock, std::size_t floats, Fill fill = Fill::kZero);
  void take_back(Stock& stock, Loan loan);

  const StateLayout layout_;
  const bool poison_freed_;
  // Guards everything below. The contents of lent buffers are the borrower's.
  mutable std::mutex mutex_;
  Stock slots_;
  Stock checkpoints_;
  Stock pages_;
  std::size_t reserved_pages_ = 0;  // set aside, still free
};

}  // namespace daybreak::model
