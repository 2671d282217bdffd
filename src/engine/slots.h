// SPDX-License-Identifier: Apache-2.0
#pragma once

// Slots: what an administrator may see of an engine's slots and do to the sequences kept in them.
// A slot is empty, answers a request, or keeps the sequence of one that ended, for a later request
// that goes on from there.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/token.h"

namespace daybreak::engine {

// Tasks that wait for the end of a step.
inline constexpr std::size_t kMaxSlotTasks = 64;

enum class SlotState : std::uint8_t { kEmpty, kBusy, kKept };

// Counts only: no content.
struct SlotInfo {
  std::size_t slot = 0;
  SlotState state = SlotState::kEmpty;
  std::size_t tokens = 0;            // processed; for a kept sequence, all it has
  std::uint64_t request = 0;         // RequestId; this and below of a busy slot
  std::size_t prompt_tokens = 0;     // of the request
  std::size_t cached_tokens = 0;     // of them, not recomputed
  std::size_t generated_tokens = 0;  // drawn so far
  std::size_t max_tokens = 0;
};

// A sequence as bytes.
struct SavedSequence {
  std::string text;          // of a slot: Job::scope() of those that may go on from it
  std::vector<TokenId> ids;  // what `state` has processed
  std::vector<std::byte> state;
};

// Slots are numbered from 0.
class Slots {
 public:
  Slots() = default;
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
  virtual ~Slots() = default;

  [[nodiscard]] virtual std::vector<SlotInfo> info() const = 0;

  // Returns a copy of the kept sequence. Errors: kNotFound (no such slot), kInvalidArgument (it
  // keeps none), kUnavailable (it answers a request, or there is no memory for the copy),
  // kPermission (it is of a request with zero retention).
  [[nodiscard]] virtual Result<SavedSequence> save(std::size_t slot) const = 0;

  // Keeps `saved` in the slot in place of what it keeps; sequences kept elsewhere may go to make
  // room. Errors: kNotFound (no such slot), kUnavailable (it answers a request), kUnsupported
  // (nothing is kept here), kPermission (nobody may go on from it here), kResourceLimit (no room
  // beside the requests that are answered), those of Sequence::restore; the slot keeps what it
  // kept. kCorrupt if there are not as many ids as positions; the slot may be empty then.
  virtual Status restore(std::size_t slot, SavedSequence saved) = 0;

  // Forgets what the slot keeps, but not what the prefix cache has of it. Returns how many tokens
  // that were, 0 if none.
  // Errors: kNotFound (no such slot), kUnavailable (it answers a request).
  virtual Result<std::size_t> erase(std::size_t slot) = 0;

  // Forgets every kept sequence and the prefix cache. Returns how many sequences there were.
  virtual std::size_t erase_all() = 0;

  // Forgets those whose owner is not served any more, as OwnerValidFn (slot_table.h) now says, and
  // what the prefix cache has of such owners.
  // Returns how many there were. Later ones are asked about at the end of their request.
  virtual std::size_t erase_unwanted() = 0;

  // Has `then` called, by any thread and soon, when what these forgot is gone from the disk too.
  virtual void when_gone(std::function<void()> then) { then(); }
};

class SlotControl {
 public:
  using Task = std::function<void(Slots&)>;

  SlotControl() = default;
  SlotControl(const SlotControl&) = delete;
  SlotControl& operator=(const SlotControl&) = delete;
  virtual ~SlotControl() = default;

  // Has `task` called once on the engine's thread, between two steps. It holds all answers up while
  // it runs, and must not throw or call drain() or stop(). Errors: kResourceLimit (kMaxSlotTasks
  // wait), kUnavailable (stopped). Thread-safe, returns at once.
  [[nodiscard]] virtual Status between_steps(Task task) = 0;
};

}  // namespace daybreak::engine
