// SPDX-License-Identifier: Apache-2.0
#pragma once

// What sequences with the same beginning share: pages of latents, complete and never written again,
// and checkpoints, copies of everything else at the end of such a page. A sequence that starts from
// both is, bit for bit, the one that has computed the beginning itself.

#include <cstddef>
#include <memory>
#include <span>

#include "model/state_arena.h"

namespace daybreak::model {

// One complete page; given back to its pool with the last reference. Immutable, any thread.
class SharedPage {
 public:
  SharedPage(std::shared_ptr<StateArena> arena, Loan page)
      : arena_(std::move(arena)), page_(page) {}
  ~SharedPage() { arena_->give_back_page(page_); }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;

  [[nodiscard]] const Loan& loan() const { return page_; }
  [[nodiscard]] std::span<const float> floats() const {
    return {page_.data, arena_->layout().page_floats()};
  }
  [[nodiscard]] const StateArena* arena() const { return arena_.get(); }

 private:
  const std::shared_ptr<StateArena> arena_;
  const Loan page_;
};

using SharedPagePtr = std::shared_ptr<const SharedPage>;

// The recurrent matrices and the convolution tails at a position that is a multiple of
// kPagePositions. Immutable, any thread.
class StateCheckpoint {
 public:
  StateCheckpoint(std::shared_ptr<StateArena> arena, Loan slot, std::size_t position)
      : arena_(std::move(arena)), slot_(slot), position_(position) {}
  ~StateCheckpoint() { arena_->give_back_checkpoint(slot_); }
  StateCheckpoint(const StateCheckpoint&) = delete;
  StateCheckpoint& operator=(const StateCheckpoint&) = delete;

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::span<const float> floats() const {
    return {slot_.data, arena_->layout().slot_floats()};
  }
  [[nodiscard]] const StateArena* arena() const { return arena_.get(); }

 private:
  const std::shared_ptr<StateArena> arena_;
  const Loan slot_;
  const std::size_t position_;
};

// What is going to be one of these once all its floats are written; until then nobody else may have
// it.
template <class Shared>
struct Blank {
  std::shared_ptr<const Shared> shared;
  std::span<float> floats;
};

}  // namespace daybreak::model
