// SPDX-License-Identifier: Apache-2.0
#pragma once

// FakeModel: a StepModel whose logits are a hash of every id its sequence has seen, so that any
// mix-up of sequences, ids, positions or rows changes the answer. Test code only.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/hash.h"
#include "engine/fake_sequence.h"
#include "engine/step_model.h"
#include "model/lora_adapter.h"

namespace daybreak::engine {

class FakeModel final : public StepModel {
 public:
  using Observer = FakeObserver;

  FakeModel(const FakeModelOptions& options, Observer& observer)
      : options_(options), observer_(&observer) {}

  std::size_t vocab_size() const override { return options_.vocab_size; }
  std::size_t context_tokens() const override { return options_.context_tokens; }
  std::size_t slots() const override { return options_.slots; }
  std::size_t total_positions() const override { return options_.total_positions; }
  std::size_t free_positions() const override { return options_.total_positions - *reserved_; }
  std::size_t checkpoints() const override { return options_.checkpoints; }
  std::size_t max_guesses() const override { return options_.max_guesses; }

  Result<std::unique_ptr<Sequence>> acquire(std::size_t positions) override {
    return make(positions, 0);
  }

  Result<std::unique_ptr<Sequence>> acquire_from(const Beginning& beginning,
                                                 std::size_t positions) override {
    DAYBREAK_TRY(std::unique_ptr<Sequence> made,
                 make(positions, beginning.blocks.size() * cache::kBlockTokens));
    static_cast<FakeSequence&>(*made).begin(beginning);
    return made;
  }

  std::optional<PartSizes> part_sizes() const override { return PartSizes{8, 16}; }
  std::uint64_t state_fingerprint() const override { return options_.fingerprint; }
  std::span<const std::byte> block_bytes(const void* block) const override {
    return std::as_bytes(std::span(&static_cast<const FakeSequence::Block*>(block)->hash, 1));
  }
  std::span<const std::byte> checkpoint_bytes(const void* copy) const override {
    return std::as_bytes(std::span(static_cast<const FakeSequence::Copy*>(copy)->words));
  }
  Result<BlankPart> blank_block() override {
    if (free_positions() < cache::kBlockTokens) {
      return Error{Errc::kResourceLimit, "fake: no memory now"};
    }
    *reserved_ += cache::kBlockTokens;
    auto made = std::make_shared<FakeSequence::Block>(reserved_, 0);
    return BlankPart{made, made->bytes()};
  }
  Result<BlankPart> blank_checkpoint(std::size_t /*position*/) override {
    if (observer_->checkpoints == options_.checkpoints) {
      return Error{Errc::kResourceLimit, "fake: no checkpoint now"};
    }
    auto made = std::make_shared<FakeSequence::Copy>(observer_, 0, 0);
    return BlankPart{made, made->bytes()};
  }

  Status forward(std::span<const StepChunk> chunks) override {
    if (observer_->before_step) {
      DAYBREAK_CHECK_OK(observer_->before_step(chunks));
    }
    std::vector<std::size_t> sizes;
    for (const StepChunk& chunk : chunks) {
      auto& fake = static_cast<FakeSequence&>(*chunk.sequence);
      const std::size_t rows = chunk.logits.size() / options_.vocab_size;
      // What is wrong with guesses, or not set aside, shows in every later row.
      const bool as_agreed = fake.guesses.empty() && chunk.guesses < chunk.ids.size() &&
                             chunk.guesses <= options_.max_guesses &&
                             (chunk.guesses == 0 || fake.guesses_prepared);
      const bool has_room =
          fake.length + chunk.ids.size() <= fake.room + fake.blocks.size() * FakeSequence::kBlock;
      fake.hash += as_agreed && has_room ? 0 : 1;
      // As an adapter does, it changes everything from its ids on.
      const std::uint64_t adapter =
          chunk.adapter == nullptr ? 0 : fnv1a64(std::as_bytes(std::span(chunk.adapter->digest())));
      const std::size_t kept = chunk.ids.size() - chunk.guesses;
      std::uint64_t hash = 0;
      for (std::size_t i = 0; i < chunk.ids.size(); ++i) {
        if (i < kept) {
          fake.feed(chunk.ids[i] ^ adapter);
          hash = fake.hash;
        } else {
          hash = mix64(hash ^ chunk.ids[i] ^ adapter);
        }
        if (const std::size_t left = chunk.ids.size() - i; left <= rows) {
          write_logits(
              fake, hash,
              chunk.logits.subspan((rows - left) * options_.vocab_size, options_.vocab_size));
        }
      }
      fake.guesses.assign(chunk.ids.begin() + static_cast<std::ptrdiff_t>(kept), chunk.ids.end());
      sizes.push_back(chunk.ids.size());
    }
    const std::lock_guard lock(observer_->mutex);
    observer_->steps.push_back(sizes);
    return ok();
  }

 private:
  // Of `positions` the first `shared` are somebody else's.
  Result<std::unique_ptr<Sequence>> make(std::size_t positions, std::size_t shared) {
    if (positions > options_.context_tokens || positions > options_.total_positions) {
      return Error{Errc::kTooLarge, "fake: sequence too long"};
    }
    if (observer_->alive == options_.slots || positions - shared > free_positions()) {
      return Error{Errc::kResourceLimit, "fake: no memory now"};
    }
    if (observer_->before_acquire && !observer_->before_acquire()) {
      return Error{Errc::kResourceLimit, "fake: the system has no memory"};
    }
    return std::unique_ptr<Sequence>(
        std::make_unique<FakeSequence>(observer_, reserved_, positions - shared, options_));
  }

  void write_logits(const FakeSequence& fake, std::uint64_t hash, std::span<float> row) const {
    for (std::size_t id = 0; id < row.size(); ++id) {
      row[id] = static_cast<float>(mix64(hash + id) >> 40) * 0x1p-21F;
    }
    if (observer_->edit_logits) {
      observer_->edit_logits(fake, row);
    }
  }

  const FakeModelOptions options_;
  Observer* const observer_;
  FakeSequence::Reserved reserved_ = std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace daybreak::engine
