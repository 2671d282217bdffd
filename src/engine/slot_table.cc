// SPDX-License-Identifier: Apache-2.0
#include "engine/slot_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/out_of_memory.h"

namespace daybreak::engine {
namespace {

bool goes_on_from(const Job& job, const ProcessedSequence& kept) {
  return kept.sequence != nullptr && kept.scope == job.scope() &&
         kept.ids.size() < job.text().size() &&
         std::equal(kept.ids.begin(), kept.ids.end(), job.text().begin());
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
                     .clock = options_.clock,
                     .events = options_.events,
                     .disk = options_.disk,
                     .disk_min_tokens = options_.disk_min_tokens}) {}

bool SlotTable::may_reuse(const GenerateRequest& request) const {
  // The rows that log-probabilities of the prompt come from are not kept.
  return options_.reuse == PrefixReuse::kOn && !request.prompt_logprobs.has_value();
}

Result<SlotTable::Place> SlotTable::take(Job& job, std::size_t positions) {
  if (job.refused_at == changes_) {
    return Error{Errc::kResourceLimit, "no place for the request as things stand"};
  }
  cache::PrefixTree::Match match = look_up(job);
  const std::size_t known = match.known;
  Result<Place> place = place_for(std::move(match), job, positions);
  if (!place) {
    cache_.release(job.trail);
    job.refused_at = changes_;
    return place;
  }
  slots_[place->slot].job = &job;
  job.reserved = positions;
  if (caches()) {
    cache_.start(job.trail, known, place->cached_tokens, job.text().size());
  }
  return place;
}

Status SlotTable::grow(Job& job, std::size_t positions) {
  DAYBREAK_CHECK_OK(make_room(job.sequence(), job.reserved, positions));
  job.reserved = positions;
  return ok();
}

cache::PrefixTree::Match SlotTable::look_up(Job& job) {
  const GenerateRequest& request = job.request();
  if (caches()) {
    job.trail.zero_retention = request.zero_retention;
    cache_.name(job.trail, job.scope(), job.text());
    if (may_reuse(request)) {
      return cache_.find(job.trail, job.text().size());
    }
  }
  return {};
}

Result<SlotTable::Place> SlotTable::place_for(cache::PrefixTree::Match match, Job& job,
                                              std::size_t positions) {
  const std::size_t known = match.pages.size() * cache::kBlockTokens;
  const auto found = find_prefix(job);
  if (found && slots_[*found].kept.ids.size() > known) {
    match = {};  // what it holds could not go
    return go_on_from(*found, job, positions);
  }
  return start_from(match, job, positions);
}

Result<SlotTable::Place> SlotTable::go_on_from(std::size_t slot, Job& job, std::size_t positions) {
  ProcessedSequence kept = std::exchange(slots_[slot].kept, {});
  if (caches()) {
    cache_.hold(job.trail, kept.sequence->shared_blocks());
  }
  if (Status room = make_room(*kept.sequence, kept.ids.size(), positions); !room) {
    slots_[slot].kept = std::move(kept);
    return std::move(room).error();
  }
  return Place{slot, std::move(kept.sequence), kept.ids.size()};
}

Result<SlotTable::Place> SlotTable::start_from(const cache::PrefixTree::Match& match, Job& job,
                                               std::size_t positions) {
  Place place;
  if (match.checkpoint == nullptr) {
    DAYBREAK_TRY(place.sequence, acquire(positions));
  } else {
    std::vector<const void*> pages;
    for (const cache::HeldPtr& page : match.pages) {
      pages.push_back(page.get());
    }
    cache_.hold(job.trail, std::move(pages));
    const std::size_t known = match.pages.size() * cache::kBlockTokens;
    DAYBREAK_TRY(place.sequence, evicting(positions - known, [&] {
                   return model_.acquire_from({match.checkpoint, match.pages}, positions);
                 }));
    place.cached_tokens = known;
  }
  place.slot = empty_slot();
  return place;
}

bool SlotTable::fetch(Job& job) {
  const GenerateRequest& request = job.request();
  DiskTier* const disk = cache_.disk();
  if (disk == nullptr || !caches() || !may_reuse(request) || request.zero_retention ||
      job.fetched || job.refused_at == changes_) {
    return false;
  }
  cache_.name(job.trail, job.scope(), job.text());
  const auto kept = find_prefix(job);
  const std::size_t here = std::max(cache_.usable(job.trail, job.text().size()),
                                    kept ? slots_[*kept].kept.ids.size() / cache::kBlockTokens : 0);
  const auto chain = cache_.loadable(job.trail, job.text().size(), here);
  if (chain.empty()) {
    job.fetched = true;
    return false;
  }
  if (!disk->loading(chain.back())) {
    if (disk->full()) {
      job.aside = true;
      job.awaited = std::nullopt;
      return true;
    }
    if (const Status begun = begin_load(job, chain); !begun) {
      // Without positions take() finds none either, and both are asked again.
      job.fetched = begun.error().code != Errc::kResourceLimit;
      return false;
    }
  }
  job.fetched = true;
  job.aside = true;
  job.awaited = chain.back();
  return true;
}

Status SlotTable::begin_load(const Job& job, std::span<const cache::BlockHash> chain) {
  // What is there of it stays while other things go.
  const std::vector<cache::HeldPtr> there = cache_.pages_of(chain);
  const std::size_t positions = (chain.size() - there.size()) * cache::kBlockTokens;
  if (!can_free(job.text().size() - there.size() * cache::kBlockTokens)) {
    return Error{Errc::kResourceLimit, "no place for the request as things stand"};
  }
  const std::span<const TokenId> text = job.text();
  return evicting(positions, [&] {
    std::vector<TokenId> ids;
    if (cache_.wants_ids()) {
      const auto read = text.first(chain.size() * cache::kBlockTokens);
      ids.assign(read.begin(), read.end());
    }
    return cache_.disk()->begin(chain, job.scope(), std::move(ids));
  });
}

std::vector<double> SlotTable::collect_loads(std::span<Job* const> aside) {
  DiskTier* const disk = cache_.disk();
  if (disk == nullptr) {
    return {};
  }
  const std::uint64_t holds_before = std::exchange(holds_, disk->holds());
  changes_ += holds_ == holds_before ? 0 : 1;
  std::vector<double> ended = disk->collect();
  if (!ended.empty()) {
    ++changes_;
    for (Job* job : aside) {
      job->aside = job->awaited && disk->loading(*job->awaited);
    }
  }
  return ended;
}

void SlotTable::advanced(Job& job) {
  if (caches() && cache_.advanced(job.trail, job.sequence(), job.reading(), [&](std::size_t first) {
        return job.processed(first, cache::kBlockTokens);
      })) {
    ++changes_;
  }
}

void SlotTable::give_back(std::size_t slot, ProcessedSequence left) {
  ++changes_;
  Job* const job = std::exchange(slots_[slot].job, nullptr);
  if (job != nullptr) {
    cache_.release(job->trail);
  }
  if (!owner_valid(left.scope)) {
    cache_.erase_if([&](std::string_view scope) { return scope == left.scope; });
    return;
  }
  if (job != nullptr && left.sequence != nullptr) {
    cache_.finished(job->trail);
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

std::optional<std::size_t> SlotTable::find_prefix(const Job& job) const {
  std::optional<std::size_t> best;
  if (!may_reuse(job.request())) {
    return best;
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const ProcessedSequence& kept = slots_[i].kept;
    const bool longer = !best || kept.ids.size() > slots_[*best].kept.ids.size();
    if (longer && goes_on_from(job, kept)) {
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
  const bool any = erase_if(old) + blocks > 0;
  changes_ += any ? 1 : 0;
  return any;
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
  ++changes_;
  cache_.erase_if([&](std::string_view scope) { return !owner_valid(scope); });
  return erase_if([&](const Slot& slot) { return !owner_valid(slot.kept.scope); });
}

void SlotTable::when_gone(std::function<void()> then) {
  if (cache_.disk() == nullptr) {
    then();
  } else {
    cache_.disk()->when_gone(std::move(then));
  }
}

void SlotTable::end() {
  cache_.end();
  erase_if([](const Slot&) { return true; });
}

std::size_t SlotTable::erase_all() {
  ++changes_;
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

Status SlotTable::make_room(Sequence& sequence, std::size_t reserved, std::size_t positions) {
  return evicting(positions - std::min(positions, reserved),
                  [&] { return sequence.reserve(positions); });
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
  if (kept.zero_retention) {
    return Error{Errc::kPermission,
                 fmt::format("slot {}: its sequence is of a key with zero retention", slot)};
  }
  return or_out_of_memory(Errc::kUnavailable, fmt::format("slot {}", slot), [&] {
    return Result(SavedSequence{kept.scope, kept.ids, kept.sequence->save()});
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
  ++changes_;
  // Out of the table, so that it does not go to make room for itself.
  ProcessedSequence old = std::exchange(slots_[slot].kept, {});
  Status done = ok();
  if (old.sequence != nullptr) {
    PrefixTrail its;  // nor what the cache has of it
    if (caches()) {
      cache_.name(its, old.scope, old.ids);
      cache_.hold(its, old.sequence->shared_blocks());
    }
    // What it shares it has to have for itself.
    done = make_room(*old.sequence, old.sequence->held_positions(),
                     std::max(positions, old.ids.size()));
    cache_.release(its);
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
  give_back(slot, {std::move(old.sequence), std::move(saved.ids), std::move(saved.text), false});
  return ok();
}

Result<std::size_t> SlotTable::erase(std::size_t slot) {
  DAYBREAK_CHECK_OK(check_not_busy(slot));
  ++changes_;
  return std::exchange(slots_[slot].kept, {}).ids.size();
}
}  // namespace daybreak::engine
