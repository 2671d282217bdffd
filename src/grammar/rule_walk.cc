// SPDX-License-Identifier: Apache-2.0
#include "grammar/rule_walk.h"

#include <utility>

#include "base/hash.h"
#include "grammar/mask_bits.h"

namespace daybreak::grammar {
namespace {

constexpr std::size_t kKeptStates = 64;

Threads step_all(Automaton& automaton, const Threads& threads, std::uint8_t byte) {
  Threads out;
  automaton.step_all(threads, byte, out);
  return out;
}

}  // namespace

void RuleWalk::run(Automaton& automaton, const Threads& threads, const TokenTrie& trie,
                   std::span<std::uint32_t> row) {
  entries_.clear();
  by_hash_.clear();
  kept_threads_ = 0;
  below(automaton, trie, TokenTrie::kRoot, intern(threads), row);
  if (entries_.capacity() > kKeptStates) {
    entries_ = {};  // a matcher may live long, and there are many
  }
}

// Returns kUnknown where no more states are kept.
RuleWalk::State RuleWalk::intern(Threads threads) {
  if (threads.empty()) {
    return kDead;
  }
  std::uint64_t hash = 0;
  for (const Thread& thread : threads) {
    hash += mix64(thread.hash());  // whatever their order
  }
  if (const auto known = by_hash_.find(hash); known != by_hash_.end()) {
    return known->second;
  }
  kept_threads_ += threads.size();
  if (entries_.size() == kMaxStates || kept_threads_ > kMaxKeptThreads) {
    stepped_ = std::move(threads);
    return kUnknown;
  }
  const auto state = static_cast<State>(entries_.size());
  by_hash_.emplace(hash, state);
  Entry& entry = entries_.emplace_back();
  entry.threads = std::move(threads);
  entry.next.fill(kUnknown);
  return state;
}

RuleWalk::State RuleWalk::next(Automaton& automaton, State state, std::uint8_t byte) {
  const auto index = static_cast<std::size_t>(state);
  if (const State known = entries_[index].next[byte]; known != kUnknown) {
    return known;
  }
  const State target = intern(step_all(automaton, entries_[index].threads, byte));
  entries_[index].next[byte] = target;
  return target;
}

void RuleWalk::below(Automaton& automaton, const TokenTrie& trie, TokenTrie::Node node, State state,
                     std::span<std::uint32_t> row) {
  for (TokenTrie::Node child = node + 1; child < trie.end(node); child = trie.end(child)) {
    const State target = next(automaton, state, trie.byte(child));
    if (target == kDead) {
      continue;
    }
    set_token(trie, child, row);
    if (target != kUnknown) {
      below(automaton, trie, child, target, row);
    } else {
      below_unkept(automaton, trie, child, std::exchange(stepped_, {}), row);
    }
  }
}

void RuleWalk::below_unkept(Automaton& automaton, const TokenTrie& trie, TokenTrie::Node node,
                            const Threads& threads, std::span<std::uint32_t> row) {
  for (TokenTrie::Node child = node + 1; child < trie.end(node); child = trie.end(child)) {
    const Threads after = step_all(automaton, threads, trie.byte(child));
    if (!after.empty()) {
      set_token(trie, child, row);
      below_unkept(automaton, trie, child, after, row);
    }
  }
}

}  // namespace daybreak::grammar
