// SPDX-License-Identifier: Apache-2.0
#include "engine/slot_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/out_of_memory.h"

namespace daybreak::engine {
namespace {

bool goes_on_from(const GenerateRequest& request, const ProcessedSequence& kept) {
  return kept.sequence != nullptr && kept.isolation == request.isolation &&
         kept.ids.size() < request.prompt.size() &&
         std::equal(kept.ids.begin(), kept.ids.end(), request.prompt.begin());
}

}  // namespace

template <class Attempt>
auto SlotTable::evicting(std::size_t positions, const Attempt& attempt) {
  auto done = attempt();
  if (done || done.error().code != Errc::kResourceLimit || !can_free(positions)) {
    return done;  // with too few positions in all it would be for nothing
  }
  const auto is_short = [&] { return positions > model_.free_positions(); };
  const auto failed = [&] { return !done && done.error().code == Errc::kResourceLimit; };
  if (evict_blocks(positions, true)) {
    done = attempt();
  }
  bool helps = true;
  while (failed() && helps && evict()) {
    // With positions it fails for memory: if that of the one that went does not do, no other's
    // will.
    helps = is_short();
    done = attempt();
  }
  if (failed() && evict_blocks(positions, false)) {
    done = attempt();
  }
  return done;
}

bool SlotTable::evict_blocks(std::size_t positions, bool only_useless) {
  bool any = false;
  while (positions > model_.free_positions() && cache_.evict_block(only_useless)) {
    any = true;
  }
  return any;
}

SlotTable::SlotTable(StepModel& model, KeepOptions options)
    : model_(model),
      options_(std::move(options)),
      slots_(model.slots()),
      cache_(model, {.hasher = options_.hasher,
                     .interval = options_.checkpoint_interval,
                     .max_age = options_.max_age,
                     .clock = options_.clock}) {}

bool SlotTable::may_reuse(const GenerateRequest& request) const {
  // The rows that log-probabilities of the prompt come from are not kept.
  return options_.reuse == PrefixReuse::kOn && !request.prompt_logprobs.has_value();
}

Result<SlotTable::Place> SlotTable::take(Job& job) {
  const GenerateRequest& request = job.request();
  cache::PrefixTree::Match match;
  if (caches()) {
    cache_.name(job.trail, request.isolation, request.prompt);
    if (may_reuse(request)) {
      match = cache_.find(job.trail, request.prompt.size());
    }
  }
  const std::size_t known = match.pages.size() * cache::kBlockTokens;
  const auto found = find_prefix(request);
  Place place;
  if (found && slots_[*found].kept.ids.size() > known) {
    ProcessedSequence kept = std::exchange(slots_[*found].kept, {});
    if (Status room = make_room(*kept.sequence, job.positions()); !room) {
      slots_[*found].kept = std::move(kept);
      return std::move(room).error();
    }
    place = {*found, std::move(kept.sequence), kept.ids.size()};
  } else {
    DAYBREAK_TRY(place, start_from(match, job));
  }
  slots_[place.slot].job = &job;
  if (caches()) {
    cache_.start(job.trail, match, place.cached_tokens, request.prompt.size());
  }
  return place;
}

Result<SlotTable::Place> SlotTable::start_from(const cache::PrefixTree::Match& match,
                                               const Job& job) {
  Place place;
  if (match.checkpoint == nullptr) {
    DAYBREAK_TRY(place.sequence, acquire(job.positions()));
  } else {
    const std::size_t known = match.pages.size() * cache::kBlockTokens;
    DAYBREAK_TRY(place.sequence, evicting(job.positions() - known, [&] {
                   return model_.acquire_from({match.checkpoint, match.pages}, job.positions());
                 }));
    place.cached_tokens = known;
  }
  place.slot = empty_slot();
  return place;
}

void SlotTable::advanced(Job& job) {
  if (caches()) {
    cache_.advanced(job.trail, job.sequence(), job.reading(),
                    [&](std::size_t first) { return job.processed(first, cache::kBlockTokens); });
  }
}

void SlotTable::give_back(std::size_t slot, ProcessedSequence left) {
  slots_[slot].job = nullptr;
  if (!owner_valid(left.isolation)) {
    cache_.erase_if([&](std::string_view scope) { return scope == left.isolation; });
    return;
  }
  if (options_.reuse == PrefixReuse::kOff || left.ids.empty()) {
    return;
  }
  // What the answer did not need goes back now; to give back cannot fail.
  if (left.sequence->reserve(left.ids.size())) {
    slots_[slot].kept = std::move(left);
    slots_[slot].used = ++clock_;
    slots_[slot].since = options_.clock->now();
  }
}

std::optional<std::size_t> SlotTable::find_prefix(const GenerateRequest& request) const {
  std::optional<std::size_t> best;
  if (!may_reuse(request)) {
    return best;
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const ProcessedSequence& kept = slots_[i].kept;
    const bool longer = !best || kept.ids.size() > slots_[*best].kept.ids.size();
    if (longer && goes_on_from(request, kept)) {
      best = i;
    }
  }
  return best;
}

std::size_t SlotTable::empty_slot() const {
  const auto empty = std::ranges::find_if(slots_, [](const Slot& slot) {
    return slot.job == nullptr && slot.kept.sequence == nullptr;
  });
  return static_cast<std::size_t>(empty - slots_.begin());
}

bool SlotTable::evict() {
  Slot* oldest = nullptr;
  for (Slot& slot : slots_) {
    if (slot.kept.sequence != nullptr && (oldest == nullptr || slot.used < oldest->used)) {
      oldest = &slot;
    }
  }
  if (oldest == nullptr) {
    return false;
  }
  oldest->kept = {};
  return true;
}

bool SlotTable::erase_old() {
  const auto old = [&, now = options_.clock->now()](const Slot& slot) {
    return now - slot.since >= options_.max_age;
  };
  const std::size_t blocks = cache_.erase_old();
  return erase_if(old) + blocks > 0;
}

std::optional<Clock::TimePoint> SlotTable::next_end() const {
  std::optional<Clock::TimePoint> end = cache_.next_end();
  for (const Slot& slot : slots_) {
    if (slot.kept.sequence != nullptr) {
      const Clock::TimePoint its = slot.since + options_.max_age;
      end = end ? std::min(*end, its) : its;
    }
  }
  return end;
}

std::size_t SlotTable::erase_unwanted() {
  cache_.erase_if([&](std::string_view scope) { return !owner_valid(std::string(scope)); });
  return erase_if([&](const Slot& slot) { return !owner_valid(slot.kept.isolation); });
}

std::size_t SlotTable::erase_all() {
  cache_.erase_all();
  return erase_if([](const Slot&) { return true; });
}

template <class Predicate>
std::size_t SlotTable::erase_if(const Predicate& goes) {
  std::size_t count = 0;
  for (Slot& slot : slots_) {
    if (slot.kept.sequence != nullptr && goes(slot)) {
      slot.kept = {};
      ++count;
    }
  }
  return count;
}

bool SlotTable::can_free(std::size_t positions) const {
  const bool nobody_runs = std::ranges::all_of(slots_, &Slot::is_free);
  return nobody_runs ||
         positions <= model_.free_positions() + kept_positions() + cached_positions();
}

Status SlotTable::make_room(Sequence& sequence, std::size_t positions) {
  // What it holds already is not in the table at the moment.
  const std::size_t more = positions - std::min(positions, sequence.held_positions());
  return evicting(more, [&] { return sequence.reserve(positions); });
}

Result<std::unique_ptr<Sequence>> SlotTable::acquire(std::size_t positions) {
  return evicting(positions, [&] { return model_.acquire(positions); });
}

std::size_t SlotTable::kept_positions() const {
  std::size_t sum = 0;
  for (const Slot& slot : slots_) {
    sum += slot.kept.sequence == nullptr ? 0 : slot.kept.sequence->held_positions();
  }
  return sum;
}

std::size_t SlotTable::kept() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      slots_, [](const Slot& slot) { return slot.kept.sequence != nullptr; }));
}

std::size_t SlotTable::cached_positions() const {
  std::vector<const void*> kept;
  for (const Slot& slot : slots_) {
    if (caches() && slot.kept.sequence != nullptr) {
      const std::vector<const void*> blocks = slot.kept.sequence->shared_blocks();
      kept.insert(kept.end(), blocks.begin(), blocks.end());
    }
  }
  return cache_.reclaimable_blocks(kept) * cache::kBlockTokens;
}

std::vector<SlotInfo> SlotTable::info() const {
  std::vector<SlotInfo> out;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    SlotInfo one{.slot = i};
    if (slot.job != nullptr) {
      one = slot.job->slot_info();
    } else if (slot.kept.sequence != nullptr) {
      one.state = SlotState::kKept;
      one.tokens = slot.kept.ids.size();
    }
    out.push_back(one);
  }
  return out;
}

Status SlotTable::check_not_busy(std::size_t slot) const {
  if (slot >= slots_.size()) {
    return Error{Errc::kNotFound,
                 fmt::format("slot {}: expected one of 0 to {}", slot, slots_.size() - 1)};
  }
  if (slots_[slot].job != nullptr) {
    return Error{Errc::kUnavailable, fmt::format("slot {}: answers a request at the moment", slot)};
  }
  return ok();
}

Result<SavedSequence> SlotTable::save(std::size_t slot) const {
  DAYBREAK_CHECK_OK(check_not_busy(slot));
  const ProcessedSequence& kept = slots_[slot].kept;
  if (kept.sequence == nullptr) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("slot {}: expected a kept sequence, found none", slot)};
  }
  return or_out_of_memory(Errc::kUnavailable, fmt::format("slot {}", slot), [&] {
    return Result(SavedSequence{kept.isolation, kept.ids, kept.sequence->save()});
  });
}

Status SlotTable::restore(std::size_t slot, SavedSequence saved) {
  DAYBREAK_CHECK_OK(check_not_busy(slot));
  if (options_.reuse == PrefixReuse::kOff) {
    return Error{Errc::kUnsupported, "this engine keeps no sequences"};
  }
  if (saved.ids.empty()) {
    return Error{Errc::kCorrupt, "saved slot: expected one id or more, found none"};
  }
  if (!owner_valid(saved.text)) {
    return Error{Errc::kPermission, "saved slot: nobody who has a key here may go on from it"};
  }
  const std::size_t positions = saved.ids.size();
  // Out of the table, so that it does not go to make room for itself.
  ProcessedSequence old = std::exchange(slots_[slot].kept, {});
  Status done = ok();
  if (old.sequence != nullptr) {
    done = make_room(*old.sequence, std::max(positions, old.ids.size()));
  } else if (auto fresh = acquire(positions)) {
    old.sequence = *std::move(fresh);
  } else {
    return std::move(fresh).error();
  }
  done = done ? old.sequence->restore(saved.state) : std::move(done);
  if (!done) {
    give_back(slot, std::move(old));
    return done;
  }
  if (old.sequence->position() != positions) {
    return Error{Errc::kCorrupt,
                 fmt::format("saved slot: expected {} positions, one per id, found {}", positions,
                             old.sequence->position())};
  }
  give_back(slot, {std::move(old.sequence), std::move(saved.ids), std::move(saved.text)});
  return ok();
}

Result<std::size_t> SlotTable::erase(std::size_t slot) {
  DAYBREAK_CHECK_OK(check_not_busy(slot));
  return std::exchange(slots_[slot].kept, {}).ids.size();
}
}  // namespace daybreak::engine
