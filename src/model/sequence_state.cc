// SPDX-License-Identifier: Apache-2.0
#include "model/sequence_state.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "base/out_of_memory.h"
#include "model/state_codec.h"

namespace daybreak::model {
namespace {

Error too_long(std::size_t positions, std::size_t limit) {
  return {Errc::kTooLarge, "a sequence of " + std::to_string(positions) +
                               " tokens exceeds the limit of " + std::to_string(limit)};
}

}  // namespace

SequenceState::SequenceState(std::shared_ptr<StateArena> arena, Loan slot,
                             std::size_t reserved_pages)
    : arena_(std::move(arena)),
      slot_(slot),
      reserved_pages_(reserved_pages),
      guaranteed_pages_(reserved_pages) {}

SequenceState::SequenceState(std::shared_ptr<StateArena> arena, Loan slot,
                             std::size_t reserved_pages, const StateCheckpoint& checkpoint,
                             std::span<const SharedPagePtr> beginning)
    : arena_(std::move(arena)),
      slot_(slot),
      shared_(beginning.begin(), beginning.end()),
      reserved_pages_(reserved_pages),
      guaranteed_pages_(beginning.size() + reserved_pages),
      position_(checkpoint.position()) {
  assert(pages_for(position_) == shared_.size() && position_ % kPagePositions == 0);
  std::ranges::copy(checkpoint.floats(), slot_.data);
  pages_.reserve(shared_.size());
  for (const SharedPagePtr& page : shared_) {
    pages_.push_back(page->loan());
  }
}

SequenceState::~SequenceState() {
  arena_->give_back_pages(pages_, shared_.size(), 0);
  arena_->release_reserved(reserved_pages_);
  arena_->give_back_slot(slot_);
}

std::size_t SequenceState::max_positions() const {
  // A model without MLA layers needs no pages; the pool's bound holds all the same, so that
  // `max_positions` means one thing for every model.
  return std::min(layout().max_positions, arena_->pages() * kPagePositions);
}

Status SequenceState::reserve(std::size_t positions) {
  if (positions > max_positions()) {
    return too_long(positions, max_positions());
  }
  const std::size_t pages = pages_for(positions);
  return pages > pages_.size() ? resize_pages(pages) : ok();
}

Status SequenceState::guarantee(std::size_t positions) {
  if (positions > max_positions()) {
    return too_long(positions, max_positions());
  }
  const std::size_t pages = pages_for(std::max(positions, position_));
  const std::size_t held = pages_.size() + reserved_pages_;
  if (pages > held) {
    DAYBREAK_CHECK_OK(arena_->set_aside(pages - held));
  } else {
    const std::size_t unused = std::min(held - pages, reserved_pages_);
    arena_->release_reserved(unused);
    reserved_pages_ -= unused;
    // A shared page is complete, so that it lies below position_.
    arena_->give_back_pages(pages_, std::min(pages_.size(), pages), 0);
  }
  reserved_pages_ = pages - pages_.size();
  guaranteed_pages_ = pages;
  return ok();
}

Status SequenceState::resize_pages(std::size_t count) {
  if (count < pages_.size()) {
    // What acquire() guaranteed stays guaranteed.
    const std::size_t keep = std::min(pages_.size(), guaranteed_pages_);
    const std::size_t back_to_reserve = keep > count ? keep - count : 0;
    arena_->give_back_pages(pages_, count, back_to_reserve);
    reserved_pages_ += back_to_reserve;
    return ok();
  }
  const std::size_t more = count - pages_.size();
  const std::size_t from_reserve = std::min(more, reserved_pages_);
  DAYBREAK_CHECK_OK(arena_->take_pages(more, from_reserve, pages_));
  reserved_pages_ -= from_reserve;
  return ok();
}

Status SequenceState::part_from_shared(std::size_t count) {
  if (shared_.empty()) {
    return ok();
  }
  std::vector<Loan> own(pages_.begin() + static_cast<std::ptrdiff_t>(shared_.size()), pages_.end());
  const std::size_t more = count - std::min(count, own.size());
  const std::size_t from_reserve = std::min(more, reserved_pages_);
  DAYBREAK_CHECK_OK(arena_->take_pages(more, from_reserve, own));
  reserved_pages_ -= from_reserve;
  guaranteed_pages_ = own.size() + reserved_pages_;
  pages_ = std::move(own);
  shared_.clear();
  return ok();
}

std::size_t SequenceState::held_positions() const {
  const auto others = std::ranges::count_if(
      shared_, [](const SharedPagePtr& page) { return page.use_count() > 1; });
  return (pages_.size() + reserved_pages_ - static_cast<std::size_t>(others)) * kPagePositions;
}

std::span<const SharedPagePtr> SequenceState::share(std::size_t first, std::size_t last) {
  assert(first <= last && last <= position_ / kPagePositions);
  if (shared_.capacity() < last) {  // so that no page gets lost below
    shared_.reserve(std::max(last, 2 * shared_.capacity()));
  }
  while (shared_.size() < last) {
    shared_.push_back(std::make_shared<const SharedPage>(arena_, pages_[shared_.size()]));
  }
  return std::span(shared_).subspan(first, last - first);
}

Result<std::shared_ptr<const StateCheckpoint>> SequenceState::checkpoint() const {
  assert(position_ % kPagePositions == 0 && open_drafts_ == 0);
  replay_all();
  DAYBREAK_TRY(const Loan copy, arena_->take_checkpoint(slot_));
  return std::make_shared<const StateCheckpoint>(arena_, copy, position_);
}

Status SequenceState::prepare_drafts(std::size_t tokens) {
  if (tokens <= max_drafts()) {
    return ok();
  }
  replay_all();
  return or_out_of_memory(Errc::kResourceLimit, "drafted tokens", [&] {
    drafts_ = std::make_unique<DraftReplay>(layout(), tokens);
    return ok();
  });
}

void SequenceState::accept(std::size_t count) {
  assert(count <= open_drafts_);
  if (open_drafts_ == 0) {
    return;  // what was accepted before is still to be replayed
  }
  position_ += count;
  open_drafts_ = 0;
  if (drafts_ != nullptr) {
    drafts_->accept(count);
  }
}

// What is due is part of the state already; here it gets its place in memory.
void SequenceState::replay_all() const {
  if (drafts_ == nullptr || drafts_->accepted() == 0) {
    return;
  }
  for (std::size_t layer = 0; layer < layout().kda_layers; ++layer) {
    for (std::size_t head = 0; head < layout().kda_heads; ++head) {
      replay_head(layer, head);
    }
  }
  drafts_->accept(0);
}

std::vector<std::byte> SequenceState::save() const {
  replay_all();
  return encode_state(layout(), position_, slot_, pages_);
}

Status SequenceState::restore(std::span<const std::byte> bytes) {
  DAYBREAK_TRY(const StateImage image, decode_state(layout(), max_positions(), bytes));
  DAYBREAK_CHECK_OK(part_from_shared(pages_for(image.position)));
  DAYBREAK_CHECK_OK(resize_pages(pages_for(image.position)));
  image.copy_to(layout(), slot_, pages_);
  open_drafts_ = 0;
  if (drafts_ != nullptr) {
    drafts_->accept(0);
  }
  position_ = image.position;
  return ok();
}

}  // namespace daybreak::model
