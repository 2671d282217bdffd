// SPDX-License-Identifier: Apache-2.0
#include "cache/prefix_tree.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace daybreak::cache {
namespace {

bool only_the_tree_has(const HeldPtr& held) { return held.use_count() == 1; }

double seconds_between(Clock::TimePoint from, Clock::TimePoint to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

bool PrefixTree::Rank::operator<(const Rank& other) const {
  return std::tuple(has_checkpoint, value, node->number) <
         std::tuple(other.has_checkpoint, other.value, other.node->number);
}

PrefixTree::Rank PrefixTree::as_leaf(Node& node) {
  return node.checkpoint == nullptr ? Rank{false, node.used, &node} : as_checkpoint(node);
}

PrefixTree::Node* PrefixTree::node_of(const BlockHash& hash) {
  const auto found = nodes_.find(hash);
  return found == nodes_.end() ? nullptr : &found->second;
}

template <class Change>
void PrefixTree::reorder(Node& node, const Change& change) {
  if (node.children == 0) {
    leaves_.erase(as_leaf(node));
  }
  if (node.checkpoint != nullptr) {
    checkpoints_.erase(as_checkpoint(node));
  }
  change();
  if (node.children == 0) {
    leaves_.insert(as_leaf(node));
  }
  if (node.checkpoint != nullptr) {
    checkpoints_.insert(as_checkpoint(node));
  }
  stats_.checkpoints = checkpoints_.size();
}

std::size_t PrefixTree::blocks_to_compute(const Node& node) const {
  const Node* above = node.parent;
  while (above != nullptr && above->checkpoint == nullptr) {
    above = above->parent;
  }
  return node.depth - (above == nullptr ? 0 : above->depth);
}

std::vector<PrefixTree::Node*> PrefixTree::path_of(std::span<const BlockHash> chain) {
  std::vector<Node*> path;
  for (const BlockHash& hash : chain) {
    Node* node = node_of(hash);
    if (node == nullptr) {
      break;
    }
    path.push_back(node);
  }
  return path;
}

std::size_t PrefixTree::usable_of(std::span<Node* const> path) {
  std::size_t usable = path.size();
  while (usable > 0 && path[usable - 1]->checkpoint == nullptr) {
    --usable;
  }
  return usable;
}

PrefixTree::Match PrefixTree::find(std::span<const BlockHash> chain) {
  ++stats_.finds;
  const std::vector<Node*> path = path_of(chain);
  const std::size_t usable = usable_of(path);
  Match match{.known = path.size(), .pages = {}, .checkpoint = nullptr};
  for (std::size_t i = 0; i < usable; ++i) {
    match.pages.push_back(path[i]->page);
  }
  match.checkpoint = usable == 0 ? nullptr : path[usable - 1]->checkpoint;
  return match;
}

std::vector<HeldPtr> PrefixTree::pages_of(std::span<const BlockHash> chain) {
  std::vector<HeldPtr> pages;
  for (const Node* node : path_of(chain)) {
    pages.push_back(node->page);
  }
  return pages;
}

void PrefixTree::use(std::span<const BlockHash> chain) {
  const std::vector<Node*> path = path_of(chain);
  const std::size_t usable = usable_of(path);
  const std::uint64_t use = next_++;
  const Clock::TimePoint now = clock_.now();
  for (Node* node : path) {
    reorder(*node, [&] {
      node->used = use;
      stats_.times.reuse_gap.observe(seconds_between(node->used_at, now));
      node->used_at = now;
      if (node->depth == usable) {
        node->value = floor_ + blocks_to_compute(*node);
      }
    });
  }
}

bool PrefixTree::has_page(const BlockHash& at, const void* page) const {
  const auto found = nodes_.find(at);
  return found != nodes_.end() && found->second.page.get() == page;
}

void PrefixTree::hold(const BlockHash& at, const void* page) {
  if (++holders_[page] == 1 && has_page(at, page)) {
    ++busy_nodes_;
  }
}

void PrefixTree::release(const BlockHash& at, const void* page) {
  if (const auto held = holders_.find(page); --held->second == 0) {
    holders_.erase(held);
    busy_nodes_ -= has_page(at, page) ? 1 : 0;
  }
}

void PrefixTree::tell_stored(Part part, const Node& node) const {
  if (tells_of(node)) {
    events_->stored(
        {.part = part,
         .hash = node.hash,
         .parent = node.parent == nullptr ? std::nullopt : std::optional(node.parent->hash),
         .ids = node.ids,
         .scope = node.scope});
  }
}

void PrefixTree::tell_removed(Part part, const Node& node) const {
  if (tells_of(node)) {
    events_->removed(part, node.hash, node.scope);
  }
}

HeldPtr PrefixTree::publish(std::span<const BlockHash> chain, std::size_t index, HeldPtr page,
                            std::string_view scope, std::vector<TokenId> ids) {
  if (Node* known = node_of(chain[index]); known != nullptr) {
    return known->page;
  }
  if (nodes_.size() >= max_blocks_ && !evict_page()) {
    return nullptr;
  }
  // After the eviction, which may have taken it.
  Node* parent = index == 0 ? nullptr : node_of(chain[index - 1]);
  if (index > 0 && parent == nullptr) {
    return nullptr;
  }
  const auto counted = scopes_.try_emplace(std::string(scope), 0).first;
  Node& node = nodes_[chain[index]];
  node.hash = chain[index];
  node.parent = parent;
  node.first = parent == nullptr ? &node : parent->first;
  node.depth = index + 1;
  node.page = std::move(page);
  busy_nodes_ += holders_.contains(node.page.get()) ? 1 : 0;
  node.number = next_;
  node.used = next_++;
  node.made_at = node.used_at = clock_.now();
  node.scope = counted->first;
  node.ids = wants_ids() ? std::move(ids) : std::vector<TokenId>();
  ++counted->second;
  if (parent != nullptr && parent->children++ == 0) {
    leaves_.erase(as_leaf(*parent));
  }
  leaves_.insert(as_leaf(node));
  stats_.blocks = nodes_.size();
  tell_stored(Part::kBlock, node);
  return node.page;
}

bool PrefixTree::has_checkpoint(const BlockHash& at) const {
  const auto found = nodes_.find(at);
  return found != nodes_.end() && found->second.checkpoint != nullptr;
}

HeldPtr PrefixTree::checkpoint_at(const BlockHash& at) {
  const Node* node = node_of(at);
  return node == nullptr ? nullptr : node->checkpoint;
}

void PrefixTree::add_checkpoint(const BlockHash& at, HeldPtr checkpoint) {
  Node* node = node_of(at);
  if (node == nullptr || node->checkpoint != nullptr) {
    return;
  }
  reorder(*node, [&] {
    node->checkpoint = std::move(checkpoint);
    node->value = floor_ + blocks_to_compute(*node);
  });
  tell_stored(Part::kCheckpoint, *node);
}

void PrefixTree::drop_checkpoint(const BlockHash& at) {
  if (Node* node = node_of(at); node != nullptr && node->checkpoint != nullptr) {
    reorder(*node, [&] { node->checkpoint = nullptr; });
    tell_removed(Part::kCheckpoint, *node);
  }
}

bool PrefixTree::evict_leaf(bool only_useless) {
  for (const Rank& rank : leaves_) {
    if (only_useless && rank.has_checkpoint) {
      return false;
    }
    Node& node = *rank.node;
    const bool freed = only_the_tree_has(node.page) &&
                       (node.checkpoint == nullptr || only_the_tree_has(node.checkpoint));
    if (freed) {
      if (node.checkpoint != nullptr) {
        floor_ = node.value;
        ++stats_.evicted_checkpoints;
      }
      ++stats_.evicted_blocks;
      const Clock::TimePoint now = clock_.now();
      stats_.times.lifetime.observe(seconds_between(node.made_at, now));
      stats_.times.idle_before_eviction.observe(seconds_between(node.used_at, now));
      forget(node);
      return true;
    }
  }
  return false;
}

bool PrefixTree::evict_checkpoint() {
  for (const Rank& rank : checkpoints_) {
    Node& node = *rank.node;
    if (only_the_tree_has(node.checkpoint)) {
      floor_ = node.value;
      ++stats_.evicted_checkpoints;
      reorder(node, [&] { node.checkpoint = nullptr; });
      tell_removed(Part::kCheckpoint, node);
      return true;
    }
  }
  return false;
}

void PrefixTree::forget(Node& leaf) {
  leaves_.erase(as_leaf(leaf));
  if (leaf.checkpoint != nullptr) {
    checkpoints_.erase(as_checkpoint(leaf));
    tell_removed(Part::kCheckpoint, leaf);
  }
  tell_removed(Part::kBlock, leaf);
  const auto scope = scopes_.find(leaf.scope);
  if (--scope->second == 0) {
    scopes_.erase(scope);
  }
  busy_nodes_ -= holders_.contains(leaf.page.get()) ? 1 : 0;
  Node* parent = leaf.parent;
  nodes_.erase(BlockHash(leaf.hash));
  if (parent != nullptr && --parent->children == 0) {
    leaves_.insert(as_leaf(*parent));
  }
  stats_.blocks = nodes_.size();
  stats_.checkpoints = checkpoints_.size();
}

template <class Goes>
std::size_t PrefixTree::erase_branches(const Goes& goes) {
  std::vector<Node*> going;
  for (auto& [hash, node] : nodes_) {
    if (goes(node)) {
      going.push_back(&node);
    }
  }
  // From the leaves up: what lies above something that stays, stays.
  std::ranges::sort(going, std::greater(), &Node::depth);
  std::size_t count = 0;
  for (Node* node : going) {
    if (node->children == 0) {
      forget(*node);
      ++count;
    }
  }
  return count;
}

void PrefixTree::erase_branch(const BlockHash& first) {
  if (const Node* top = node_of(first); top != nullptr) {
    erase_branches([top](const Node& node) { return node.first == top; });
  }
}

void PrefixTree::erase_below(const BlockHash& at) {
  if (const Node* top = node_of(at); top != nullptr) {
    erase_branches([top](const Node& node) {
      const Node* above = &node;
      while (above != nullptr && above->depth > top->depth) {
        above = above->parent;
      }
      return above == top;
    });
  }
}

std::size_t PrefixTree::erase_old(std::chrono::seconds age) {
  const Clock::TimePoint now = clock_.now();
  return erase_branches([&](const Node& node) { return now - node.used_at >= age; });
}

std::optional<Clock::TimePoint> PrefixTree::oldest_use() const {
  std::optional<Clock::TimePoint> oldest;
  for (const auto& [hash, node] : nodes_) {
    oldest = oldest ? std::min(*oldest, node.used_at) : node.used_at;
  }
  return oldest;
}

std::size_t PrefixTree::erase_all() {
  EventSink* const events = std::exchange(events_, nullptr);
  const std::size_t count = erase_branches([](const Node&) { return true; });
  events_ = events;
  if (events_ != nullptr) {
    events_->cleared();
  }
  return count;
}

std::size_t PrefixTree::erase_if(const std::function<bool(std::string_view scope)>& goes) {
  std::vector<std::string_view> going;
  for (const auto& [scope, blocks] : scopes_) {
    if (goes(scope)) {
      going.push_back(scope);
    }
  }
  return erase_branches(
      [&](const Node& node) { return std::ranges::find(going, node.scope) != going.end(); });
}

}  // namespace daybreak::cache
