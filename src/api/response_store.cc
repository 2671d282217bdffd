// SPDX-License-Identifier: Apache-2.0
#include "api/response_store.h"

#include <iterator>
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
  for (Items* items : {&response.previous, &response.input, &response.output}) {
    for (ResponsesItemPtr& item : *items) {
      item = adopt(item);
    }
  }
  const std::size_t bytes = entry_cost(response);
  const std::string id = response.id;
  entries_.push_back({.response = std::make_shared<const Response>(std::move(response)),
                      .kept_at = options_.clock->now(),
                      .bytes = bytes});
  bytes_ += bytes;
  by_id_[id] = std::prev(entries_.end());
  drop_old();
  return true;
}

// Returns the item as the store holds it, with one more place that refers to it.
ResponsesItemPtr ResponseStore::adopt(const ResponsesItemPtr& item) {
  const auto known = items_.find(item->id);
  if (known != items_.end() && known->second.item->body == item->body) {
    ++known->second.places;
    return known->second.item;
  }
  ResponsesItemPtr held = item;
  if (!item->ours || known != items_.end()) {
    ResponsesItem copy = *item;
    copy.id = "item_" + chat::make_tool_call_id(random_).substr(5);
    copy.ours = true;
    held = std::make_shared<const ResponsesItem>(std::move(copy));
  }
  bytes_ += item_cost(*held);
  items_[held->id] = {.item = held, .places = 1};
  return held;
}

void ResponseStore::release(const ResponsesItemPtr& item) {
  const auto known = items_.find(item->id);
  if (--known->second.places == 0) {
    bytes_ -= item_cost(*item);
    items_.erase(known);
  }
}

void ResponseStore::drop(Entries::iterator entry) {
  const std::shared_ptr<const Response> response = entry->response;
  for (const Items* items : {&response->previous, &response->input, &response->output}) {
    for (const ResponsesItemPtr& item : *items) {
      release(item);
    }
  }
  bytes_ -= entry->bytes;
  by_id_.erase(response->id);
  entries_.erase(entry);
}

void ResponseStore::drop_old() {
  const Clock::TimePoint now = options_.clock->now();
  while (!entries_.empty() &&
         (now - entries_.front().kept_at >= options_.max_age ||
          entries_.size() > options_.max_responses || bytes_ > options_.max_bytes)) {
    drop(entries_.begin());
    ++evicted_;
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

Result<std::shared_ptr<const ResponseStore::Response>> ResponseStore::find(std::string_view id) {
  const std::lock_guard lock(mutex_);
  drop_old();
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) {
    return not_found("response", id);
  }
  return found->second->response;
}

Result<ResponseStore::Items> ResponseStore::conversation(std::string_view id) {
  DAYBREAK_TRY(const std::shared_ptr<const Response> response, find(id));
  Items items = response->previous;
  items.insert(items.end(), response->input.begin(), response->input.end());
  items.insert(items.end(), response->output.begin(), response->output.end());
  return items;
}

Result<ResponsesItemPtr> ResponseStore::find_item(std::string_view id) {
  const std::lock_guard lock(mutex_);
  drop_old();
  const auto found = items_.find(id);
  if (found == items_.end()) {
    return not_found("item", id);
  }
  return found->second.item;
}

Status ResponseStore::remove(std::string_view id) {
  const std::lock_guard lock(mutex_);
  drop_old();
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) {
    return not_found("response", id);
  }
  drop(found->second);
  return ok();
}

ResponseStore::Stats ResponseStore::stats() {
  const std::lock_guard lock(mutex_);
  drop_old();
  return {.responses = entries_.size(), .bytes = bytes_, .evicted = evicted_};
}

}  // namespace daybreak::api
