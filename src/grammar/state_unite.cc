// SPDX-License-Identifier: Apache-2.0
// StateArena::unite: stacks of frames with what they share held once. A frame and its parent say
// "this symbol on any stack of the parent", so two frames with one symbol are exactly one frame on
// the union of their parents.
#include <algorithm>
#include <utility>

#include "grammar/state_arena.h"

namespace daybreak::grammar {
namespace {

// Frames below this one are not looked into: the result is as right, and less shared.
constexpr std::size_t kMaxDepth = 500;
constexpr std::size_t kMaxUnited = 4'096;  // results kept

std::uint64_t hash_of(std::span<const Frame* const> frames) {
  std::uint64_t hash = frames.size();
  for (const Frame* frame : frames) {
    hash = mix64(hash, frame->hash);
  }
  return hash;
}

void sort_and_remove_doubles(std::vector<const Frame*>& frames) {
  std::ranges::sort(frames, {}, &Frame::hash);
  const auto doubles = std::ranges::unique(frames, {}, &Frame::hash);
  frames.erase(doubles.begin(), doubles.end());
}

}  // namespace

const Frame* StateArena::unite(std::span<const Frame* const> frames, std::uint64_t& work) {
  return unite(std::vector(frames.begin(), frames.end()), 0, work);
}

const Frame* StateArena::unite(std::vector<const Frame*> frames, std::size_t depth,
                               std::uint64_t& work) {
  sort_and_remove_doubles(frames);
  work -= std::min<std::uint64_t>(work, frames.size());
  if (frames.size() == 1 || work == 0) {
    return frames.front();
  }
  const std::uint64_t key = hash_of(frames);
  if (const auto known = united_.find(key); known != united_.end()) {
    return known->second;
  }
  std::vector<const Frame*> parents;
  for (const Frame* frame : frames) {
    if (frame->kind == Frame::Kind::kJoin) {
      parents.insert(parents.end(), frame->parents.begin(), frame->parents.end());
    } else {
      parents.push_back(frame);
    }
  }
  work -= std::min<std::uint64_t>(work, parents.size());
  sort_and_remove_doubles(parents);
  if (depth < kMaxDepth) {
    parents = unite_alike(parents, depth, work);
  }
  const Frame* united = parents.size() == 1 ? parents.front() : join(std::move(parents));
  if (united_.size() == kMaxUnited) {
    united_.clear();
    united_order_.clear();
  }
  united_.emplace(key, united);
  united_order_.emplace_back(key, frames_.items.size());
  return united;
}

std::vector<const Frame*> StateArena::unite_alike(std::span<const Frame* const> frames,
                                                  std::size_t depth, std::uint64_t& work) {
  std::vector<const Frame*> by_symbol(frames.begin(), frames.end());
  std::ranges::sort(by_symbol, {}, &Frame::symbol);
  std::vector<const Frame*> out;
  for (std::size_t i = 0; i < by_symbol.size();) {
    std::size_t end = i + 1;
    while (end < by_symbol.size() && by_symbol[end]->symbol == by_symbol[i]->symbol) {
      ++end;
    }
    if (end == i + 1) {
      out.push_back(by_symbol[i]);
    } else {
      std::vector<const Frame*> below;
      for (std::size_t k = i; k < end; ++k) {
        below.push_back(by_symbol[k]->parent);
      }
      Frame one = *by_symbol[i];
      one.parent = unite(std::move(below), depth + 1, work);
      out.push_back(keep(one));
    }
    i = end;
  }
  std::ranges::sort(out, {}, &Frame::hash);
  return out;
}

const Frame* StateArena::join(std::vector<const Frame*> parents) {
  Frame frame;
  frame.kind = Frame::Kind::kJoin;
  frame.parents = joined_.add(std::move(parents));
  frame.symbol = static_cast<std::uint64_t>(frame.kind);
  for (const Frame* parent : frame.parents) {
    frame.symbol = mix64(frame.symbol, parent->hash);
  }
  frame.hash = mix64(frame.symbol, 0);
  return &frames_.add(frame);
}

}  // namespace daybreak::grammar
