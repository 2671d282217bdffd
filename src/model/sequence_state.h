// SPDX-License-Identifier: Apache-2.0
#pragma once

// SequenceState: everything a model remembers of one sequence between two tokens. Its size grows by
// one page per 64 positions (MLA latents); the rest (KDA matrices, convolution tails) is fixed.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/draft_replay.h"
#include "model/shared_state.h"
#include "model/state_arena.h"
#include "model/state_layout.h"

namespace daybreak::model {

// Gives its memory back to the pool when destroyed. Not thread-safe; different states may be used
// from different threads.
class SequenceState {
 public:
  SequenceState(std::shared_ptr<StateArena> arena, Loan slot, std::size_t reserved_pages);
  // Goes on from where `checkpoint` was taken, whose latents are `beginning`, one page for every
  // kPagePositions. `slot` is zeroed or anything else.
  SequenceState(std::shared_ptr<StateArena> arena, Loan slot, std::size_t reserved_pages,
                const StateCheckpoint& checkpoint, std::span<const SharedPagePtr> beginning);
  SequenceState(const SequenceState&) = delete;
  SequenceState& operator=(const SequenceState&) = delete;
  ~SequenceState();

  // Returns the number of tokens processed so far, which is also the next token's position.
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] const StateLayout& layout() const { return arena_->layout(); }
  [[nodiscard]] std::size_t max_positions() const;

  // Makes room for positions [position(), positions).
  // Errors: kTooLarge       more than one sequence can ever have
  //         kResourceLimit  the pool has too few free positions now, or the system no memory
  // Nothing changes on error.
  [[nodiscard]] Status reserve(std::size_t positions);

  // From now on `positions`, or position() if that is more, are guaranteed to it as by
  // StatePool::acquire(); what it has beyond goes back to the pool.
  // Errors: as reserve(). Nothing changes on error.
  [[nodiscard]] Status guarantee(std::size_t positions);
  // Returns the positions it keeps from others: in use or set aside, in whole pages. Shared pages
  // count if nobody else has them.
  [[nodiscard]] std::size_t held_positions() const;

  // Returns the pages [first, last), which stay complete and unchanged while anybody has them.
  // Those before must be shared already or are from now on too.
  // REQUIRES: first <= last <= position() / kPagePositions.
  [[nodiscard]] std::span<const SharedPagePtr> share(std::size_t first, std::size_t last);
  // Uses `page` in place of its own page of the same contents, which goes back to the pool.
  // REQUIRES: `index` is shared; `page` has the same bits and is of this pool.
  void replace_shared(std::size_t index, SharedPagePtr page) {
    pages_[index] = page->loan();
    shared_[index] = std::move(page);
  }
  // Returns a copy of all but the latents. Errors: kResourceLimit (all checkpoints are in use, or
  // the system has no memory). REQUIRES: position() is a multiple of kPagePositions.
  [[nodiscard]] Result<std::shared_ptr<const StateCheckpoint>> checkpoint() const;

  // Drafts. A chunk may end in ids that are guesses (Chunk::draft_ids): their logits are computed,
  // but position() and the state stay before them until accept().
  // Sets memory aside for chunks with up to `tokens` of them. Errors: kResourceLimit (the system
  // has no memory).
  [[nodiscard]] Status prepare_drafts(std::size_t tokens);
  [[nodiscard]] std::size_t max_drafts() const {
    return drafts_ == nullptr ? 0 : drafts_->max_tokens();
  }
  // The guesses that accept() has not been told of.
  [[nodiscard]] std::size_t open_drafts() const { return open_drafts_; }
  // The first `count` open guesses count as processed, the others never were there. To be called
  // before anything else is done with the state. REQUIRES: count <= open_drafts().
  void accept(std::size_t count);

  // Returns the state as bytes that restore() accepts, also in another process with the same model.
  [[nodiscard]] std::vector<std::byte> save() const;

  // Replaces this state by a saved one. Nothing changes on error.
  // Errors: kInvalidArgument  saved by another model
  //         kUnsupported      saved by another version of the format
  //         kCorrupt          truncated, too long or damaged
  //         kTooLarge, kResourceLimit  as reserve()
  [[nodiscard]] Status restore(std::span<const std::byte> bytes);

  // Below: for the layers of the model. Indices count KDA or MLA layers only, from 0.

  // Returns head `head`'s matrix [key_dim, value_dim].
  [[nodiscard]] float* kda_state(std::size_t kda_layer, std::size_t head) const {
    const StateLayout& l = layout();
    return slot_.data + (kda_layer * l.kda_heads + head) * l.head_floats();
  }
  // Returns a past input [conv_channels] of the convolutions; tap 0 is the oldest.
  [[nodiscard]] float* conv_tail(std::size_t kda_layer, std::size_t tap) const {
    const StateLayout& l = layout();
    return slot_.data + l.state_floats() + (kda_layer * (l.conv_taps - 1) + tap) * l.conv_channels;
  }
  // Returns the latents [kPagePositions, latent_width] of positions [64 * tile, 64 * tile + 64).
  // Positions from position() on are zero or of guesses. REQUIRES: reserved before.
  [[nodiscard]] float* latent_tile(std::size_t mla_layer, std::size_t tile) {
    return pages_[tile].data + mla_layer * layout().tile_floats();
  }
  // Records that a step has processed `tokens` more tokens and computed `drafts` guesses.
  // REQUIRES: reserved before.
  void advance(std::size_t tokens, std::size_t drafts = 0) {
    position_ += tokens;
    open_drafts_ = drafts;
    if (drafts_ != nullptr) {
      drafts_->accept(0);  // each head has replayed them
    }
  }
  // Repeats accepted guesses for one head, so that its matrix and tail are those at position().
  void replay_head(std::size_t kda_layer, std::size_t head) const {
    if (drafts_ != nullptr && drafts_->accepted() > 0) {
      drafts_->replay(kda_layer, head, kda_state(kda_layer, head), conv_tail(kda_layer, 0));
    }
  }
  [[nodiscard]] DraftReplay* drafts() { return drafts_.get(); }

  // The pages that are shared, from the first on.
  [[nodiscard]] std::span<const SharedPagePtr> shared() const { return shared_; }

 private:
  void replay_all() const;
  Status resize_pages(std::size_t count);
  // Has `count` pages or more of its own instead. Nothing changes on error.
  Status part_from_shared(std::size_t count);

  std::shared_ptr<StateArena> arena_;  // shared with the pool and its other states
  Loan slot_;
  std::vector<Loan> pages_;            // the first of them are those of shared_
  std::vector<SharedPagePtr> shared_;  // complete pages that others may have too
  std::size_t reserved_pages_;         // set aside and not taken yet
  std::size_t guaranteed_pages_;       // what acquire() promised: taken or set aside
  std::size_t position_ = 0;
  std::unique_ptr<DraftReplay> drafts_;  // null until prepared
  std::size_t open_drafts_ = 0;
};

}  // namespace daybreak::model
