// SPDX-License-Identifier: Apache-2.0
#pragma once

// SlotTable: the slots of one engine and the sequences that stay in them when their requests have
// ended. A request whose prompt goes on from a kept sequence takes it over and computes the rest
// only. The state of a sequence cannot be cut back, so that the whole of it must be a prefix of the
// prompt, and a proper one: the logits after the last id are not kept. Where the prefix cache knows
// a longer beginning, the sequence starts from that.
//
// What is kept or cached never costs a request its place: whenever one needs a slot or positions,
// cached blocks that nothing can start from go, then kept sequences, those used longest ago first,
// then the rest of the cache, and nothing goes for a request that must wait all the same. It goes
// anyway when nobody has used it for a while, or nobody may any more.
// Used from the engine's thread only.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cache/scope.h"
#include "engine/job.h"
#include "engine/prefix_cache.h"
#include "engine/slots.h"
#include "engine/step_model.h"

namespace daybreak::engine {

enum class PrefixReuse : std::uint8_t { kOff, kOn };

// Whether the owner of requests with this GenerateRequest::isolation is still served: else those
// that wait do not start, and their sequences are not kept. Called on the engine's thread before
// the start and at the end of each request: must be quick and not throw.
using OwnerValidFn = std::function<bool(const std::string& isolation)>;

inline constexpr std::chrono::seconds kKeptAge{3600};

struct KeepOptions {
  PrefixReuse reuse = PrefixReuse::kOn;
  std::chrono::seconds max_age = kKeptAge;  // of a kept sequence that no request goes on from
  OwnerValidFn owner_valid = nullptr;       // null: every one is
  const Clock* clock = &Clock::steady();    // outlives the table
  std::size_t checkpoint_interval = kCheckpointInterval;  // see PrefixCacheOptions
  cache::BlockHasher hasher{cache::BlockHasher::Key{}};   // names what is cached
  cache::EventSink* events = nullptr;                     // see PrefixCacheOptions
  cache::DiskStore* disk = nullptr;                       // likewise
  std::size_t disk_min_tokens = 0;
};

class SlotTable final : public Slots {
 public:
  // `model` must outlive the table.
  SlotTable(StepModel& model, KeepOptions options);

  struct Place {
    std::size_t slot = 0;
    std::unique_ptr<Sequence> sequence;  // has processed the first cached_tokens ids of the text
    std::size_t cached_tokens = 0;
  };
  // Returns a place for `job`, with `positions` set aside, as many as its text has or more. It
  // holds the slot until give_back() and is started before info(). Errors: those of
  // StepModel::acquire; then nothing has changed, but without memory of the system what evicting()
  // says. A job that found no place is refused again without a look as long as nothing has happened
  // that might make one. REQUIRES: fewer jobs hold slots than there are.
  [[nodiscard]] Result<Place> take(Job& job, std::size_t positions);
  // Sets aside `positions` for a job that holds a slot, for which kept sequences and what is cached
  // may go. Errors: as Sequence::reserve; as for take(), none has gone for positions then.
  [[nodiscard]] Status grow(Job& job, std::size_t positions);

  // Has what the disk has of the job's prompt, and memory and kept sequences have not, loaded.
  // Returns whether the job waits for that: it is aside until collect_loads(). To be asked before
  // take().
  [[nodiscard]] bool fetch(Job& job);
  // Takes over what has been loaded, and lets those of `aside` go on that waited for it. Returns
  // the seconds of each load that has ended.
  std::vector<double> collect_loads(std::span<Job* const> aside);
  // Whether a request that found no place though nobody runs has to wait for the disk to let go of
  // memory; `holds_before`: holds() before it looked.
  [[nodiscard]] bool in_motion(std::uint64_t holds_before) const {
    return cache_.disk() != nullptr && cache_.disk()->in_motion(holds_before);
  }
  [[nodiscard]] std::uint64_t holds() const {
    return cache_.disk() == nullptr ? 0 : cache_.disk()->holds();
  }
  // Forgets all that is in memory, at the end.
  void end();

  // Returns how many of its next `count` ids `job` is to feed, so that the cache gets its part.
  [[nodiscard]] static std::size_t cut(const Job& job, std::size_t count) {
    return PrefixCache::cut(job.trail, job.position(), count);
  }
  // Takes over what `job` has processed since it started or was last told of.
  void advanced(Job& job);
  // Forgets what is cached of a job that has failed.
  void distrust(const Job& job) { cache_.distrust(job.trail); }

  // Ends a job's hold on its slot. `left`: what it has processed, to be kept; empty: nothing.
  void give_back(std::size_t slot, ProcessedSequence left);

  // What OwnerValidFn says of the owner in a Job::scope().
  [[nodiscard]] bool owner_valid(std::string_view scope) const {
    return !options_.owner_valid ||
           options_.owner_valid(std::string(cache::split_scope(scope).isolation));
  }
  // Whether a request like this may go on from a kept sequence at all.
  [[nodiscard]] bool may_reuse(const GenerateRequest& request) const;

  // Forgets what has been kept or cached for max_age. Returns whether there was any.
  bool erase_old();
  // When erase_old() will have something to do; nothing: never as things stand.
  [[nodiscard]] std::optional<Clock::TimePoint> next_end() const;

  // Positions that kept sequences hold, and how many sequences there are.
  [[nodiscard]] std::size_t kept_positions() const;
  [[nodiscard]] std::size_t kept() const;
  // Positions of which only the cache and kept sequences have hold, not counted above.
  [[nodiscard]] std::size_t cached_positions() const {
    return cache_.idle_blocks() * cache::kBlockTokens;
  }
  [[nodiscard]] const cache::PrefixTree::Stats& cache_stats() const { return cache_.stats(); }

  [[nodiscard]] std::vector<SlotInfo> info() const override;
  [[nodiscard]] Result<SavedSequence> save(std::size_t slot) const override;
  Status restore(std::size_t slot, SavedSequence saved) override;
  Result<std::size_t> erase(std::size_t slot) override;
  std::size_t erase_all() override;
  std::size_t erase_unwanted() override;
  void when_gone(std::function<void()> then) override;

 private:
  struct Slot {
    [[nodiscard]] bool is_free() const { return job == nullptr; }
    Job* job = nullptr;        // who holds it
    ProcessedSequence kept;    // without a sequence: none
    std::uint64_t used = 0;    // when, in calls of give_back() and restore()
    Clock::TimePoint since{};  // when, for max_age
  };

  // Returns the slot of the longest kept sequence that `job` goes on from.
  [[nodiscard]] std::optional<std::size_t> find_prefix(const Job& job) const;
  [[nodiscard]] std::size_t empty_slot() const;
  // Forgets the sequence used longest ago. Returns false if none is kept.
  bool evict();
  // Forgets the kept sequences of which goes(slot). Returns how many there were.
  template <class Predicate>
  std::size_t erase_if(const Predicate& goes);
  // Returns what attempt() does, which takes `positions`; kept sequences go as long as that helps.
  // Errors: those of `attempt`. Then none has gone for positions; if the system has no memory, one
  // beside those whose positions were needed, because its memory might have done.
  template <class Attempt>
  auto evicting(std::size_t positions, const Attempt& attempt);
  // Reserves for a sequence that is out of the table and has `reserved` positions, for which kept
  // ones may go. Errors: as Sequence::reserve, see evicting().
  [[nodiscard]] Status make_room(Sequence& sequence, std::size_t reserved, std::size_t positions);
  // Returns a new sequence, for which kept ones may go. Errors: as StepModel::acquire, see
  // evicting().
  [[nodiscard]] Result<std::unique_ptr<Sequence>> acquire(std::size_t positions);
  // What the cache knows of the job's text; nothing if it may not start from it.
  [[nodiscard]] cache::PrefixTree::Match look_up(Job& job);
  // Returns a place that goes on from a kept sequence or starts from `match`, whichever is longer,
  // and has the cache count what it holds, on error too. Errors: likewise.
  [[nodiscard]] Result<Place> place_for(cache::PrefixTree::Match match, Job& job,
                                        std::size_t positions);
  [[nodiscard]] Result<Place> go_on_from(std::size_t slot, Job& job, std::size_t positions);
  [[nodiscard]] Result<Place> start_from(const cache::PrefixTree::Match& match, Job& job,
                                         std::size_t positions);
  // Begins to load `chain`, for which kept and cached things may go. Errors: as DiskTier::begin.
  [[nodiscard]] Status begin_load(const Job& job, std::span<const cache::BlockHash> chain);
  [[nodiscard]] bool caches() const {
    return options_.reuse == PrefixReuse::kOn && cache_.enabled();
  }
  // Whether giving up all that is kept and cached would make `positions` free.
  [[nodiscard]] bool can_free(std::size_t positions) const;
  // Gives up cached blocks, for `positions`, as few as will do. Returns whether any went.
  bool evict_blocks(std::size_t positions, bool only_useless);
  // Errors: kNotFound, kUnavailable.
  [[nodiscard]] Status check_not_busy(std::size_t slot) const;

  StepModel& model_;
  const KeepOptions options_;
  std::vector<Slot> slots_;
  PrefixCache cache_;
  std::uint64_t clock_ = 0;
  std::uint64_t changes_ = 0;  // that might make a place for a job that found none
  std::uint64_t holds_ = 0;    // of the disk, as of the last look
};

}  // namespace daybreak::engine
