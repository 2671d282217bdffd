// SPDX-License-Identifier: Apache-2.0
#include "grammar/slice_rows.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

namespace daybreak::grammar {
namespace {

void set_bits(MaskRow& row, std::span<const TokenId> ids) {
  for (const TokenId id : ids) {
    row[id / 32] |= std::uint32_t{1} << (id % 32);
  }
}

void clear_bits(MaskRow& row, std::span<const TokenId> ids) {
  for (const TokenId id : ids) {
    row[id / 32] &= ~(std::uint32_t{1} << (id % 32));
  }
}

}  // namespace

SliceRows::SliceRows(const StringSlices& slices) : slices_(&slices) {
  for (const StringCoding coding : {StringCoding::kJson, StringCoding::kRaw}) {
    within_[static_cast<std::size_t>(coding)].resize(slices.of(coding).longest() + 1);
  }
}

BaseRow SliceRows::within(StringCoding coding, std::size_t chars) {
  const CodingSlices& slices = slices_->of(coding);
  auto& rows = within_[static_cast<std::size_t>(coding)];
  chars = std::min(chars, slices.longest());
  // Lengths that no token has have the row of the next smaller one.
  while (chars > 0 && slices.up_to[chars - 1] == slices.up_to[chars]) {
    --chars;
  }
  SharedRow all;
  {
    const std::scoped_lock lock(mutex_);
    if (rows[chars]) {
      return {rows[chars], true};
    }
    all = rows.back();
  }
  const std::span<const TokenId> ids(slices.ids);
  const std::size_t count = slices.up_to[chars];
  MaskRow made(slices_->words());
  if (all && count > ids.size() / 2) {
    made = *all;
    clear_bits(made, ids.subspan(count));
  } else {
    set_bits(made, ids.first(count));
  }
  SharedRow row = std::make_shared<const MaskRow>(std::move(made));
  const std::scoped_lock lock(mutex_);
  if (!rows[chars]) {
    rows[chars] = std::move(row);
  }
  return {rows[chars], true};
}

MaskRow SliceRows::make_group_row(StringCoding coding, GroupMask groups, std::size_t chars) {
  const CodingSlices& slices = slices_->of(coding);
  // Returns the ids of a class that belong to the row: the first so many.
  const auto wanted = [&](const TokenClass& tokens) -> std::size_t {
    return (tokens.alphabet & ~groups) == 0 ? tokens.up_to[std::min(chars, tokens.longest())] : 0;
  };
  std::size_t count = 0;
  for (const TokenClass* tokens : slices.classes) {
    count += wanted(*tokens);
  }
  if (count <= slices.ids.size() / 2) {
    MaskRow made(slices_->words());
    for (const TokenClass* tokens : slices.classes) {
      set_bits(made, std::span<const TokenId>(tokens->ids).first(wanted(*tokens)));
    }
    return made;
  }
  MaskRow made = *within(coding, slices.longest()).row;
  for (const TokenClass* tokens : slices.classes) {
    clear_bits(made, std::span<const TokenId>(tokens->ids).subspan(wanted(*tokens)));
  }
  for (const TailToken& tail : slices.tails) {
    made[tail.id / 32] &= ~(std::uint32_t{1} << (tail.id % 32));
  }
  return made;
}

BaseRow SliceRows::of_groups(StringCoding coding, GroupMask groups, std::size_t chars) {
  std::size_t longest = 0;
  for (const TokenClass* tokens : slices_->of(coding).classes) {
    if ((tokens->alphabet & ~groups) == 0) {
      longest = std::max(longest, tokens->longest());
    }
  }
  chars = std::min(chars, longest);
  const Key key(coding, groups, chars);
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = group_rows_.find(key); found != group_rows_.end()) {
      return {found->second, true};
    }
  }
  SharedRow row = std::make_shared<const MaskRow>(make_group_row(coding, groups, chars));
  const std::scoped_lock lock(mutex_);
  if (group_rows_.size() >= kMaxGroupRows) {
    std::erase_if(group_rows_, [](const auto& kept) { return kept.second.use_count() == 1; });
  }
  if (group_rows_.size() >= kMaxGroupRows) {
    return {std::move(row), false};
  }
  return {group_rows_.try_emplace(key, std::move(row)).first->second, true};
}

std::size_t SliceRows::bytes() const {
  const std::scoped_lock lock(mutex_);
  std::size_t rows = group_rows_.size();
  for (const auto& made : within_) {
    rows += static_cast<std::size_t>(
        std::ranges::count_if(made, [](const SharedRow& row) { return row != nullptr; }));
  }
  return rows * slices_->words() * sizeof(std::uint32_t);
}

}  // namespace daybreak::grammar
