// SPDX-License-Identifier: Apache-2.0
#pragma once

// StepModel: what scheduling needs to know of a model, and nothing more. One implementation drives
// model::Model (model_runner.h); tests use a small arithmetic one. Implementations are used from
// one thread at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "cache/prefix_tree.h"

namespace daybreak::model {
class LoraAdapter;
}

namespace daybreak::engine {

// The state of one sequence. Destroying it gives its memory back.
class Sequence {
 public:
  Sequence() = default;
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;
  virtual ~Sequence() = default;

  // Returns the number of ids processed, which is also the next id's position.
  [[nodiscard]] virtual std::size_t position() const = 0;

  // Sets aside room for positions [0, positions), and gives back what was set aside beyond it and
  // beyond position(). Errors: kTooLarge (never possible), kResourceLimit (not now). Nothing
  // changes on error.
  [[nodiscard]] virtual Status reserve(std::size_t positions) = 0;
  // Returns how many more StepModel::free_positions() there will be without this sequence.
  [[nodiscard]] virtual std::size_t held_positions() const = 0;

  // Returns bytes that restore() of a sequence of the same model accepts, in any process.
  [[nodiscard]] virtual std::vector<std::byte> save() const = 0;
  // Errors: as SequenceState::restore. Nothing changes on error.
  [[nodiscard]] virtual Status restore(std::span<const std::byte> bytes) = 0;

  // For models with StepModel::checkpoints(). Blocks are of StepModel::block_positions().
  // Returns block `index`, which never changes any more; those before it are shared too.
  // REQUIRES: position() is at its end or beyond.
  [[nodiscard]] virtual cache::HeldPtr share_block(std::size_t index) = 0;
  // Has `block` in place of its own block of the same bits. REQUIRES: `index` is shared.
  virtual void replace_block(std::size_t index, cache::HeldPtr block) = 0;
  // The blocks it shares, as their addresses.
  [[nodiscard]] virtual std::vector<const void*> shared_blocks() const = 0;
  // Returns a copy of all a sequence remembers beside its blocks. Errors: kResourceLimit.
  // REQUIRES: position() is the end of a block, no guess is open.
  [[nodiscard]] virtual Result<cache::HeldPtr> checkpoint() const = 0;

  // For models with StepModel::max_guesses().
  // Has memory for chunks with that many guesses. Errors: kResourceLimit.
  [[nodiscard]] virtual Status prepare_guesses() = 0;
  // The first `count` guesses of the last step count as processed, the others never were there. To
  // be called before the sequence is used again. REQUIRES: there were as many.
  virtual void accept(std::size_t count) = 0;
};

// Where a sequence can start: a checkpoint and the blocks before it.
struct Beginning {
  cache::HeldPtr checkpoint;
  std::span<const cache::HeldPtr> blocks;
};

// Bytes of the parts that sequences share.
struct PartSizes {
  std::size_t block = 0;
  std::size_t checkpoint = 0;
};

// A block or a checkpoint that comes from elsewhere: nobody else may have it before all its bytes
// are written.
struct BlankPart {
  cache::HeldPtr held;
  std::span<std::byte> bytes;
};

// The next ids of one sequence.
struct StepChunk {
  Sequence* sequence = nullptr;
  std::span<const TokenId> ids;  // 1 or more, all below vocab_size()
  // Receives the logits [vocab_size] that follow the last id, or those [ids.size(), vocab_size]
  // that follow each id, as its size says; empty: not wanted.
  std::span<float> logits;
  // The last so many ids, not all, are guesses: they do not count before Sequence::accept().
  std::size_t guesses = 0;
  // What the sequence is computed with beside the weights, for all of its ids; null: nothing.
  const model::LoraAdapter* adapter = nullptr;
};

class StepModel {
 public:
  StepModel() = default;
  StepModel(const StepModel&) = delete;
  StepModel& operator=(const StepModel&) = delete;
  virtual ~StepModel() = default;

  [[nodiscard]] virtual std::size_t vocab_size() const = 0;
  // The longest a sequence can become.
  [[nodiscard]] virtual std::size_t context_tokens() const = 0;
  // Sequences that may live at once.
  [[nodiscard]] virtual std::size_t slots() const = 0;
  // Positions over all sequences: in total, and neither in use nor reserved.
  [[nodiscard]] virtual std::size_t total_positions() const = 0;
  [[nodiscard]] virtual std::size_t free_positions() const = 0;
  // Positions are set aside in blocks of so many.
  [[nodiscard]] virtual std::size_t block_positions() const { return 1; }

  // Returns an empty sequence with room for `positions` set aside.
  // Errors: kTooLarge (never possible), kResourceLimit (not now).
  [[nodiscard]] virtual Result<std::unique_ptr<Sequence>> acquire(std::size_t positions) = 0;

  // Checkpoints that may live at once; 0: sequences share nothing, and what is said of it below and
  // in Sequence is never called.
  [[nodiscard]] virtual std::size_t checkpoints() const { return 0; }
  // Returns a sequence that goes on from `beginning`, with room for `positions` in all set aside.
  // Errors: as acquire(). REQUIRES: both parts come from sequences of this model.
  [[nodiscard]] virtual Result<std::unique_ptr<Sequence>> acquire_from(const Beginning& beginning,
                                                                       std::size_t positions) = 0;

  // Parts as bytes, which are good in any process whose model has the same state_fingerprint() and
  // sizes. Without part_sizes() nothing of this is ever called.
  [[nodiscard]] virtual std::optional<PartSizes> part_sizes() const { return std::nullopt; }
  [[nodiscard]] virtual std::uint64_t state_fingerprint() const { return 0; }
  // As long as the part lives. The part is of this model.
  [[nodiscard]] virtual std::span<const std::byte> block_bytes(const void* block) const;
  [[nodiscard]] virtual std::span<const std::byte> checkpoint_bytes(const void* checkpoint) const;
  // Errors: kResourceLimit.
  [[nodiscard]] virtual Result<BlankPart> blank_block();
  [[nodiscard]] virtual Result<BlankPart> blank_checkpoint(std::size_t position);

  // Guesses that a chunk may end in; 0: none, and what is said of them in Sequence is never called.
  [[nodiscard]] virtual std::size_t max_guesses() const { return 0; }

  // Processes every chunk. REQUIRES: distinct sequences. Nothing changes on error: each sequence is
  // where it was and can be tried again.
  [[nodiscard]] virtual Status forward(std::span<const StepChunk> chunks) = 0;
};

inline std::span<const std::byte> StepModel::block_bytes(const void* /*block*/) const { return {}; }
inline std::span<const std::byte> StepModel::checkpoint_bytes(const void* /*checkpoint*/) const {
  return {};
}
inline Result<BlankPart> StepModel::blank_block() {
  return Error{Errc::kUnsupported, "this model has no parts as bytes"};
}
inline Result<BlankPart> StepModel::blank_checkpoint(std::size_t /*position*/) {
  return Error{Errc::kUnsupported, "this model has no parts as bytes"};
}

}  // namespace daybreak::engine
