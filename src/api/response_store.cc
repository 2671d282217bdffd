// SPDX-License-Identifier: Apache-2.0
#include "api/response_store.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "base/json_document.h"
#include "chat/tool_call_id.h"

namespace daybreak::api {
namespace {

using chat::ResponsesItem;
using chat::ResponsesItemPtr;

// What an entry and an item cost beside their text: nodes of the indexes and allocations.
constexpr std::size_t kEntryOverhead = 512;
constexpr std::size_t kItemOverhead = 256;

std::size_t item_cost(const ResponsesItem& item) {
  return item.body.size() + (2 * item.id.size()) + kItemOverhead;
}

std::size_t entry_cost(const ResponseStore::Response& response) {
  const std::size_t items =
      response.previous.size() + response.input.size() + response.output.size();
  return response.json.size() + (2 * response.id.size()) + (items * sizeof(ResponsesItemPtr)) +
         kEntryOverhead;
}

}  // namespace

ResponseStore::ResponseStore(ResponseStoreOptions options, std::function<std::uint64_t()> random)
    : options_(options), random_(std::move(random)) {}

bool ResponseStore::fits(const Response& response) const {
  std::size_t bytes = entry_cost(response);
  for (const Items* items : {&response.previous, &response.input, &response.output}) {
    for (const ResponsesItemPtr& item : *items) {
      bytes += item_cost(*item) + chat::kToolCallIdBytes;  // an id may have to be made
    }
  }
  return bytes <= options_.max_bytes;
}

bool ResponseStore::put(Response response) {
  if (!fits(response)) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  Shelf& shelf = shelves_[response.owner];
  for (Items* items : {&response.previous, &response.input, &response.output}) {
    std::set<std::string, std::less<>> seen;
    for (ResponsesItemPtr& item : *items) {
      item = adopt(shelf, item, seen.contains(item->id));
      seen.insert(item->id);
    }
  }
  const std::size_t bytes = entry_cost(response);
  const std::string id = response.id;
  entries_.push_back({.response = std::make_shared<const Response>(std::move(response)),
                      .kept_at = options_.clock->now(),
                      .bytes = bytes});
  bytes_ += bytes;
  shelf.bytes += bytes;
  shelf.by_id[id] = std::prev(entries_.end());
  drop_old();
  return true;
}

// Returns the item as the store holds it, with one more place that refers to it. One that comes
// again in the same list gets an id of its own: pages of the list begin after an id.
ResponsesItemPtr ResponseStore::adopt(Shelf& shelf, const ResponsesItemPtr& item, bool again) {
  const auto known = shelf.items.find(item->id);
  if (!again && known != shelf.items.end() && known->second.item->body == item->body) {
    ++known->second.places;
    return known->second.item;
  }
  ResponsesItemPtr held = item;
  if (!item->ours || known != shelf.items.end()) {
    ResponsesItem copy = *item;
    copy.id = "item_" + chat::make_tool_call_id(random_).substr(5);
    copy.ours = true;
    held = std::make_shared<const ResponsesItem>(std::move(copy));
  }
  bytes_ += item_cost(*held);
  shelf.bytes += item_cost(*held);
  shelf.items[held->id] = {.item = held, .places = 1};
  return held;
}

void ResponseStore::release(Shelf& shelf, const ResponsesItemPtr& item) {
  const auto known = shelf.items.find(item->id);
  if (--known->second.places == 0) {
    bytes_ -= item_cost(*item);
    shelf.bytes -= item_cost(*item);
    shelf.items.erase(known);
  }
}

void ResponseStore::drop(Entries::iterator entry) {
  const std::shared_ptr<const Response> response = entry->response;
  const auto owner = shelves_.find(response->owner);
  Shelf& shelf = owner->second;
  for (const Items* items : {&response->previous, &response->input, &response->output}) {
    for (const ResponsesItemPtr& item : *items) {
      release(shelf, item);
    }
  }
  bytes_ -= entry->bytes;
  shelf.bytes -= entry->bytes;
  shelf.by_id.erase(response->id);
  if (shelf.by_id.empty()) {
    shelves_.erase(owner);
  }
  entries_.erase(entry);
}

void ResponseStore::drop_one_of(const Shelf& shelf) {
  const auto oldest = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return &shelves_.find(entry.response->owner)->second == &shelf;
  });
  drop(oldest);
  ++evicted_;
}

void ResponseStore::drop_old() {
  const Clock::TimePoint now = options_.clock->now();
  while (!entries_.empty() && now - entries_.front().kept_at >= options_.max_age) {
    drop(entries_.begin());
    ++evicted_;
  }
  while (bytes_ > options_.max_bytes) {
    drop_one_of(std::ranges::max_element(shelves_, {}, [](const auto& one) {
                  return one.second.bytes;
                })->second);
  }
  while (entries_.size() > options_.max_responses) {
    drop_one_of(std::ranges::max_element(shelves_, {}, [](const auto& one) {
                  return one.second.by_id.size();
                })->second);
  }
}

Error ResponseStore::not_found(std::string_view what, std::string_view id) const {
  std::string message = "no " + std::string(what) + " '" + printable(id) + "' here";
  message += keeps_anything() ? ": responses made with \"store\": true are kept for at most " +
                                    std::to_string(options_.max_age.count()) +
                                    " seconds, fewer when others need the room"
                              : ": this server keeps no responses (response_store_mb is 0)";
  return {Errc::kNotFound, std::move(message)};
}

std::optional<ResponseStore::Entries::iterator> ResponseStore::look(std::string_view owner,
                                                                    std::string_view id) {
  drop_old();
  const auto shelf = shelves_.find(owner);
  if (shelf == shelves_.end()) {
    return std::nullopt;
  }
  const auto found = shelf->second.by_id.find(id);
  return found == shelf->second.by_id.end() ? std::nullopt : std::optional(found->second);
}

Result<std::shared_ptr<const ResponseStore::Response>> ResponseStore::find(std::string_view owner,
                                                                           std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto entry = look(owner, id);
  if (!entry) {
    return not_found("response", id);
  }
  return (*entry)->response;
}

Result<ResponseStore::Items> ResponseStore::conversation(std::string_view owner,
                                                         std::string_view id) {
  DAYBREAK_TRY(const std::shared_ptr<const Response> response, find(owner, id));
  Items items = response->previous;
  items.insert(items.end(), response->input.begin(), response->input.end());
  items.insert(items.end(), response->output.begin(), response->output.end());
  return items;
}

Result<ResponsesItemPtr> ResponseStore::find_item(std::string_view owner, std::string_view id) {
  const std::lock_guard lock(mutex_);
  drop_old();
  const auto shelf = shelves_.find(owner);
  if (shelf != shelves_.end()) {
    if (const auto found = shelf->second.items.find(id); found != shelf->second.items.end()) {
      return found->second.item;
    }
  }
  return not_found("item", id);
}

Status ResponseStore::remove(std::string_view owner, std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto entry = look(owner, id);
  if (!entry) {
    return not_found("response", id);
  }
  drop(*entry);
  return ok();
}

ResponseStore::Stats ResponseStore::stats() {
  const std::lock_guard lock(mutex_);
  drop_old();
  return {.responses = entries_.size(), .bytes = bytes_, .evicted = evicted_};
}

}  // namespace daybreak::api
