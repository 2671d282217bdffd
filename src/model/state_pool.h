// SPDX-License-Identifier: Apache-2.0
#pragma once

// StatePool: the memory of all sequences that one process serves. It hands out SequenceStates,
// bounded by a number of slots (sequences) and a number of positions (latent pages, shared by all
// of them), and takes their memory back when they are destroyed.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "model/config.h"
#include "model/sequence_state.h"
#include "model/state_layout.h"

namespace daybreak::model {

struct StatePoolOptions {
  std::size_t slots = 1;          // sequences that may live at once
  std::size_t checkpoints = 0;    // copies of slots that may live at once, beside them
  std::size_t max_positions = 0;  // over all sequences, rounded up to pages of 64
  // Freed memory is filled with 0xFF bytes (NaN floats), so that a read of a stale value cannot
  // pass for a plausible one. Memory is zeroed when handed out, whatever this says.
  bool poison_freed = true;
  std::uint64_t weights_fingerprint = 0;  // Model::weights_fingerprint(); binds saved states
};

// Memory is taken from the system when first needed and then kept. All methods may be called from
// any thread.
class StatePool {
 public:
  StatePool(const ModelConfig& config, const StatePoolOptions& options);
  StatePool(const StatePool&) = delete;
  StatePool& operator=(const StatePool&) = delete;
  ~StatePool();

  // Returns an empty state (position 0) that may outlive the pool object. `reserve_positions` are
  // guaranteed to it: growing to that length cannot fail later, unless the system has no memory.
  // Growing past it takes what is left.
  // Errors: kTooLarge       reserve_positions exceeds what one sequence can ever have
  //         kResourceLimit  no free slot, too few unreserved positions now, or the system has no
  //                         memory
  [[nodiscard]] Result<std::unique_ptr<SequenceState>> acquire(std::size_t reserve_positions = 0);

  // Returns a state that goes on from `checkpoint`, whose latents are `beginning`: it takes those
  // pages as they are, and a copy of the rest. `reserve_positions` include them.
  // Errors: as above. REQUIRES: both are of this pool, one page for every kPagePositions.
  [[nodiscard]] Result<std::unique_ptr<SequenceState>> acquire_from(
      const StateCheckpoint& checkpoint, std::span<const SharedPagePtr> beginning,
      std::size_t reserve_positions);

  // Return memory for a page or a checkpoint that comes from elsewhere, with the bits that a
  // sequence of this pool would have given it. Errors: kResourceLimit.
  [[nodiscard]] Result<Blank<SharedPage>> blank_page();
  [[nodiscard]] Result<Blank<StateCheckpoint>> blank_checkpoint(std::size_t position);

  [[nodiscard]] const StateLayout& layout() const;
  // The longest one sequence can become: the smaller of the model's and the pool's bound.
  [[nodiscard]] std::size_t max_sequence_positions() const;
  [[nodiscard]] std::size_t slots() const;
  [[nodiscard]] std::size_t free_slots() const;
  [[nodiscard]] std::size_t checkpoints() const;
  [[nodiscard]] std::size_t free_checkpoints() const;
  [[nodiscard]] std::size_t total_positions() const;
  [[nodiscard]] std::size_t free_positions() const;  // neither in use nor reserved

 private:
  [[nodiscard]] Status check_length(std::size_t positions) const;

  std::shared_ptr<StateArena> arena_;  // also owned by every living SequenceState
};

}  // namespace daybreak::model
