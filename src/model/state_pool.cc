// SPDX-License-Identifier: Apache-2.0
#include "model/state_pool.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "model/state_arena.h"

namespace daybreak::model {

StatePool::StatePool(const ModelConfig& config, const StatePoolOptions& options)
    : arena_(std::make_shared<StateArena>(StateLayout::from(config, options.weights_fingerprint),
                                          options.slots, options.checkpoints,
                                          pages_for(options.max_positions), options.poison_freed)) {
}

StatePool::~StatePool() = default;

Status StatePool::check_length(std::size_t positions) const {
  if (positions <= max_sequence_positions()) {
    return ok();
  }
  return Error{Errc::kTooLarge, "a sequence of " + std::to_string(positions) +
                                    " tokens exceeds the limit of " +
                                    std::to_string(max_sequence_positions())};
}

Result<std::unique_ptr<SequenceState>> StatePool::acquire(std::size_t reserve_positions) {
  DAYBREAK_CHECK_OK(check_length(reserve_positions));
  const std::size_t pages = pages_for(reserve_positions);
  DAYBREAK_TRY(const Loan slot, arena_->take_slot(pages));
  return std::make_unique<SequenceState>(arena_, slot, pages);
}

Result<std::unique_ptr<SequenceState>> StatePool::acquire_from(
    const StateCheckpoint& checkpoint, std::span<const SharedPagePtr> beginning,
    std::size_t reserve_positions) {
  DAYBREAK_CHECK_OK(check_length(reserve_positions));
  assert(checkpoint.arena() == arena_.get());
  const std::size_t pages = std::max(pages_for(reserve_positions), beginning.size());
  DAYBREAK_TRY(const Loan slot, arena_->take_slot(pages - beginning.size()));
  return std::make_unique<SequenceState>(arena_, slot, pages - beginning.size(), checkpoint,
                                         beginning);
}

Result<Blank<SharedPage>> StatePool::blank_page() {
  DAYBREAK_TRY(const Loan page, arena_->take_blank_page());
  return Blank<SharedPage>{std::make_shared<const SharedPage>(arena_, page),
                           {page.data, layout().page_floats()}};
}

Result<Blank<StateCheckpoint>> StatePool::blank_checkpoint(std::size_t position) {
  assert(position % kPagePositions == 0);
  DAYBREAK_TRY(const Loan slot, arena_->take_blank_checkpoint());
  return Blank<StateCheckpoint>{std::make_shared<const StateCheckpoint>(arena_, slot, position),
                                {slot.data, layout().slot_floats()}};
}

const StateLayout& StatePool::layout() const { return arena_->layout(); }

std::size_t StatePool::max_sequence_positions() const {
  return std::min(layout().max_positions, total_positions());
}

std::size_t StatePool::slots() const { return arena_->slots(); }

std::size_t StatePool::free_slots() const { return arena_->free_slots(); }

std::size_t StatePool::checkpoints() const { return arena_->checkpoints(); }

std::size_t StatePool::free_checkpoints() const { return arena_->free_checkpoints(); }

std::size_t StatePool::total_positions() const { return arena_->pages() * kPagePositions; }

std::size_t StatePool::free_positions() const { return arena_->free_pages() * kPagePositions; }

}  // namespace daybreak::model
