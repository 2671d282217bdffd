// SPDX-License-Identifier: Apache-2.0
// What keeps the threads few: doubles go, and threads that read the same are joined.
#include <algorithm>
#include <array>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "grammar/automaton.h"

namespace daybreak::grammar {
namespace {

// Few threads are the rule: searching a list beats sorting.
constexpr std::size_t kFew = 32;

// Whether what the thread reads before it leaves its frame does not depend on the frame. With
// uniqueItems it does: what was there must not come again.
bool reads_alone(const Thread& thread) {
  const bool unique = thread.frame->kind == Frame::Kind::kArray && thread.frame->array->unique;
  switch (thread.leaf) {
    case Leaf::kNode:
    case Leaf::kText:
    case Leaf::kValue:
    case Leaf::kLiteral:
    case Leaf::kNumber:
    case Leaf::kString:
      return !unique;
    default:
      return false;
  }
}

// What tells threads apart.
struct Keys {
  std::uint64_t whole;  // equal: doubles
  std::uint64_t alike;  // equal: can become one
};

Keys keys_of(const Thread& thread) {
  const std::uint64_t content = thread.content_hash();
  return {mix64(content, thread.frame->hash),
          reads_alone(thread) ? content : mix64(content, thread.frame->symbol)};
}

}  // namespace

void Automaton::settle(Threads& threads) {
  if (threads.size() < 2) {
    return;
  }
  if (threads.size() > kFew) {
    return settle_many(threads);
  }
  std::array<Keys, kFew> keys;
  std::size_t kept = 0;
  bool alike = false;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const Keys key = keys_of(threads[i]);
    const auto known = std::span(keys).first(kept);
    if (std::ranges::find(known, key.whole, &Keys::whole) != known.end()) {
      continue;
    }
    alike = alike || std::ranges::find(known, key.alike, &Keys::alike) != known.end();
    keys[kept] = key;
    if (kept != i) {
      threads[kept] = threads[i];
    }
    ++kept;
  }
  threads.resize(kept);
  if (alike) {
    unite_frames(threads);
  }
}

void Automaton::settle_many(Threads& threads) {
  std::unordered_set<std::uint64_t> known;
  std::erase_if(threads,
                [&](const Thread& thread) { return !known.insert(keys_of(thread).whole).second; });
  unite_frames(threads);
  threads.resize(std::min(threads.size(), kMaxThreads));
}

void Automaton::unite_frames(Threads& threads) {
  // The threads that can become one, in order: the first of them is the one that stays.
  std::vector<std::pair<std::uint64_t, std::size_t>> alike;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    alike.emplace_back(keys_of(threads[i]).alike, i);
  }
  std::ranges::sort(alike);
  std::vector<const Frame*> frames;
  for (std::size_t i = 0; i < alike.size();) {
    frames.clear();
    const std::size_t first = i;
    for (; i < alike.size() && alike[i].first == alike[first].first; ++i) {
      frames.push_back(std::exchange(threads[alike[i].second].frame, nullptr));
    }
    threads[alike[first].second].frame = arena_.unite(frames, work_);
  }
  std::erase_if(threads, [](const Thread& thread) { return thread.frame == nullptr; });
}

}  // namespace daybreak::grammar
