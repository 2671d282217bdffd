// SPDX-License-Identifier: Apache-2.0
#pragma once

// FakeSequence: the sequences of FakeModel: a hash of every id they have seen, and blocks and
// checkpoints that know what they must be. A wrong one shows in every later row. Test code only.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "cache/block_hash.h"
#include "engine/step_model.h"

namespace daybreak::engine {

struct FakeModelOptions {
  std::size_t vocab_size = 50;
  std::size_t context_tokens = 1000;
  std::size_t slots = 5;
  std::size_t total_positions = 5000;
  std::size_t checkpoints = 0;
  std::size_t max_guesses = 0;
  std::uint64_t fingerprint = 1;
};

// What happened, and what shall go wrong; outlives the model. Tests may share one between
// threads.
struct FakeObserver {
  // Called before each step; an error makes the step fail with nothing changed.
  std::function<Status(std::span<const StepChunk>)> before_step;
  // Called before a sequence is made; false: the system has no memory for it.
  std::function<bool()> before_acquire;
  // Called before a state is copied out of a sequence; may throw std::bad_alloc.
  std::function<void()> before_save;
  // Called before a sequence gets its memory for guesses; false: there is none.
  std::function<bool()> before_guesses;
  // Called with each row of logits that is delivered.
  std::function<void(const Sequence&, std::span<float>)> edit_logits;
  std::mutex mutex;
  std::vector<std::vector<std::size_t>> steps;  // ids per chunk, of every successful step
  std::atomic<std::size_t> alive{0};            // sequences
  std::atomic<std::size_t> checkpoints{0};      // alive
};

struct FakeSequence final : Sequence {
  static constexpr std::size_t kBlock = cache::kBlockTokens;
  using Reserved = std::shared_ptr<std::atomic<std::size_t>>;  // of the model; outlives it

  // Positions that sequences share; `hash` is of all ids up to its end.
  struct Block {
    Block(Reserved all, std::uint64_t h) : reserved(std::move(all)), hash(h) {}
    [[nodiscard]] std::span<std::byte> bytes() {
      return std::as_writable_bytes(std::span(&hash, 1));
    }
    ~Block() { *reserved -= kBlock; }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    Reserved reserved;
    std::uint64_t hash;
  };
  struct Copy {
    Copy(FakeObserver* o, std::uint64_t h, std::size_t n) : observer(o), words{h, n} {
      ++observer->checkpoints;
    }
    [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words)); }
    ~Copy() { --observer->checkpoints; }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;
    FakeObserver* observer;
    std::array<std::uint64_t, 2> words;  // hash, length
  };

  FakeSequence(FakeObserver* o, Reserved all, std::size_t positions, const FakeModelOptions& model)
      : observer(o), reserved(std::move(all)), room(positions), options(model) {
    ++observer->alive;
    *reserved += room;
  }
  ~FakeSequence() override {
    *reserved -= room;
    --observer->alive;
  }
  void begin(const Beginning& beginning) {
    const auto& copy = *static_cast<const Copy*>(beginning.checkpoint.get());
    hash = copy.words[0];
    length = copy.words[1];
    for (const cache::HeldPtr& block : beginning.blocks) {
      blocks.push_back(std::static_pointer_cast<const Block>(block));
      ends.push_back(blocks.back()->hash);
    }
    // A wrong block or checkpoint shows in every row from here on.
    hash += length == blocks.size() * kBlock && hash == ends.back() ? 0 : 1;
  }
  void feed(std::uint64_t id) {
    hash = mix64(hash ^ id);
    if (++length % kBlock == 0) {
      ends.push_back(hash);
    }
  }
  std::size_t position() const override { return length; }
  Status reserve(std::size_t positions) override {
    const std::size_t own = std::max(positions, length) - blocks.size() * kBlock;
    if (*reserved - room + own > options.total_positions) {
      return Error{Errc::kResourceLimit, "fake: no memory now"};
    }
    *reserved += own - room;  // modulo 2^64
    room = own;
    return ok();
  }
  std::size_t held_positions() const override {
    const auto alone =
        std::ranges::count_if(blocks, [](const auto& block) { return block.use_count() == 1; });
    return room + static_cast<std::size_t>(alone) * kBlock;
  }
  cache::HeldPtr share_block(std::size_t index) override {
    while (blocks.size() <= index) {
      room -= kBlock;  // now the block's
      blocks.push_back(std::make_shared<const Block>(reserved, ends.at(blocks.size())));
    }
    return blocks[index];
  }
  void replace_block(std::size_t index, cache::HeldPtr block) override {
    auto other = std::static_pointer_cast<const Block>(block);
    hash += other->hash == blocks.at(index)->hash ? 0 : 1;  // must have the same bits
    blocks[index] = std::move(other);
  }
  std::vector<const void*> shared_blocks() const override {
    std::vector<const void*> out;
    for (const auto& block : blocks) {
      out.push_back(block.get());
    }
    return out;
  }
  Result<cache::HeldPtr> checkpoint() const override {
    if (observer->checkpoints == options.checkpoints || length % kBlock != 0) {
      return Error{Errc::kResourceLimit, "fake: no checkpoint now"};
    }
    return cache::HeldPtr(std::make_shared<const Copy>(observer, hash, length));
  }
  Status prepare_guesses() override {
    if (observer->before_guesses && !observer->before_guesses()) {
      return Error{Errc::kResourceLimit, "fake: no memory for guesses"};
    }
    guesses_prepared = true;
    return ok();
  }
  void accept(std::size_t count) override {
    hash += count <= guesses.size() ? 0 : 1;
    for (std::size_t i = 0; i < std::min(count, guesses.size()); ++i) {
      feed(guesses[i]);
    }
    guesses.clear();
  }
  std::vector<std::byte> save() const override {
    if (observer->before_save) {
      observer->before_save();
    }
    std::vector<std::uint64_t> words = {hash, length};
    words.insert(words.end(), ends.begin(), ends.end());
    const auto bytes = std::as_bytes(std::span(words));
    return {bytes.begin(), bytes.end()};
  }
  Status restore(std::span<const std::byte> bytes) override {
    std::vector<std::uint64_t> words(bytes.size() / sizeof(std::uint64_t));
    if (bytes.size() % sizeof(std::uint64_t) != 0 || words.size() < 2) {
      return Error{Errc::kCorrupt, "fake: wrong size of a saved state"};
    }
    std::memcpy(words.data(), bytes.data(), bytes.size());
    hash = words[0];
    length = words[1];
    ends.assign(words.begin() + 2, words.end());
    *reserved += blocks.size() * kBlock;  // what was shared is its own again
    room += blocks.size() * kBlock;
    blocks.clear();
    return ok();
  }

  FakeObserver* observer;
  Reserved reserved;
  std::size_t room;  // positions of its own
  FakeModelOptions options;
  std::size_t length = 0;
  std::uint64_t hash = 1;
  bool guesses_prepared = false;
  std::vector<TokenId> guesses;                      // fed, neither accepted nor refused
  std::vector<std::uint64_t> ends;                   // the hash at the end of each block
  std::vector<std::shared_ptr<const Block>> blocks;  // shared
};

}  // namespace daybreak::engine
