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

bool SlotTable::may_reuse(const GenerateRequest& request) const {
  // The rows that log-probabilities of the prompt come from are not kept.
  return options_.reuse == PrefixReuse::kOn && !request.prompt_logprobs.has_value();
}

Result<SlotTable::Place> SlotTable::take(const Job& job) {
  const GenerateRequest& request = job.request();
  Place place;
  const auto found = find_prefix(request);
  if (found) {
    ProcessedSequence kept = std::exchange(slots_[*found].kept, {});
    if (Status room = make_room(*kept.sequence, job.positions()); !room) {
      slots_[*found].kept = std::move(kept);
      return std::move(room).error();
    }
    place = {*found, std::move(kept.sequence), kept.ids.size()};
  } else {
    DAYBREAK_TRY(place.sequence, acquire(job.positions()));
    place.slot = empty_slot();
  }
  slots_[place.slot].job = &job;
  return place;
}

void SlotTable::give_back(std::size_t slot, ProcessedSequence left) {
  slots_[slot].job = nullptr;
  if (options_.reuse == PrefixReuse::kOff || left.ids.empty() || !owner_valid(left.isolation)) {
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
  return erase_if(old) > 0;
}

std::optional<Clock::TimePoint> SlotTable::next_end() const {
  std::optional<Clock::TimePoint> end;
  for (const Slot& slot : slots_) {
    if (slot.kept.sequence != nullptr) {
      const Clock::TimePoint its = slot.since + options_.max_age;
      end = end ? std::min(*end, its) : its;
    }
  }
  return end;
}

std::size_t SlotTable::erase_unwanted() {
  return erase_if([&](const Slot& slot) { return !owner_valid(slot.kept.isolation); });
}

std::size_t SlotTable::erase_all() {
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

template <class Attempt>
auto SlotTable::evicting(std::size_t positions, const Attempt& attempt) {
  // With too few positions in all it would be for nothing.
  bool helps = positions <= model_.free_positions() + kept_positions();
  auto done = attempt();
  while (!done && done.error().code == Errc::kResourceLimit && helps && evict()) {
    // With positions it fails for memory: if that of the one that went does not do, no other's
    // will.
    helps = positions > model_.free_positions();
    done = attempt();
  }
  return done;
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
