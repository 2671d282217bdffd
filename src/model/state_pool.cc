// SPDX-License-Identifier: Apache-2.0
#include "model/state_pool.h"

#include <algorithm>
#include <string>

#include "model/state_arena.h"

namespace daybreak::model {

StatePool::StatePool(const ModelConfig& config, const StatePoolOptions& options)
    : arena_(std::make_shared<StateArena>(StateLayout::from(config, options.weights_fingerprint),
                                          options.slots, pages_for(options.max_positions),
                                          options.poison_freed)) {}

StatePool::~StatePool() = default;

Result<std::unique_ptr<SequenceState>> StatePool::acquire(std::size_t reserve_positions) {
  if (reserve_positions > max_sequence_positions()) {
    return Error{Errc::kTooLarge, "a sequence of " + std::to_string(reserve_positions) +
                                      " tokens exceeds the limit of " +
                                      std::to_string(max_sequence_positions())};
  }
  const std::size_t pages = pages_for(reserve_positions);
  DAYBREAK_TRY(const Loan slot, arena_->take_slot(pages));
  return std::make_unique<SequenceState>(arena_, slot, pages);
}

const StateLayout& StatePool::layout() const { return arena_->layout(); }

std::size_t StatePool::max_sequence_positions() const {
  return std::min(layout().max_positions, total_positions());
}

std::size_t StatePool::slots() const { return arena_->slots(); }

std::size_t StatePool::free_slots() const { return arena_->free_slots(); }

std::size_t StatePool::total_positions() const { return arena_->pages() * kPagePositions; }

std::size_t StatePool::free_positions() const { return arena_->free_pages() * kPagePositions; }

}  // namespace daybreak::model
