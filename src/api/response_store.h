// SPDX-License-Identifier: Apache-2.0
#pragma once

// ResponseStore: finished responses, in memory, for requests that build on them. It holds what
// clients wrote and models answered, so it is bounded in count, bytes and age, and never written
// anywhere: after a restart it is empty.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "chat/responses_item.h"

namespace daybreak::api {

struct ResponseStoreOptions {
  std::size_t max_bytes = std::size_t{64} << 20U;  // of all responses together; 0: keeps nothing
  std::size_t max_responses = 4'096;
  std::chrono::seconds max_age{3'600};
  const Clock* clock = &Clock::steady();  // must outlive the store
};

// Every function is thread-safe. What an owner (access::owner_of()) has put is found by him alone.
// When room is needed, whoever holds most loses his longest-kept response: nobody is pushed below
// an equal share of the room by others. Items that several responses of one conversation share are
// held, and counted, once. Items can be asked for by ids of ours alone, which nobody can guess: an
// item that comes with another id gets one.
class ResponseStore {
 public:
  using Items = std::vector<chat::ResponsesItemPtr>;

  struct Response {
    std::string owner;
    std::string id;
    std::string json;  // the response object
    Items previous;    // the conversation before
    Items input;
    Items output;
  };
  struct Stats {
    std::size_t responses = 0;
    std::size_t bytes = 0;
    std::uint64_t evicted = 0;  // for room or age
  };

  // `random` gives 64 uniform bits a call, for the ids of items that have none of ours.
  ResponseStore(ResponseStoreOptions options, std::function<std::uint64_t()> random);

  [[nodiscard]] bool keeps_anything() const { return options_.max_bytes > 0; }

  // Keeps a response, at the cost of older ones. Returns whether it is kept: one that is larger
  // than max_bytes with its whole conversation is not. REQUIRES: an id of ours, new each time.
  bool put(Response response);

  // Errors of these: kNotFound, saying what this server keeps.
  [[nodiscard]] Result<std::shared_ptr<const Response>> find(std::string_view owner,
                                                             std::string_view id);
  // Every item up to and with the response's output.
  [[nodiscard]] Result<Items> conversation(std::string_view owner, std::string_view id);
  [[nodiscard]] Result<chat::ResponsesItemPtr> find_item(std::string_view owner,
                                                         std::string_view id);
  Status remove(std::string_view owner, std::string_view id);

  [[nodiscard]] Stats stats();

 private:
  struct Entry {
    std::shared_ptr<const Response> response;
    Clock::TimePoint kept_at;
    std::size_t bytes = 0;  // without its items
  };
  using Entries = std::list<Entry>;  // of all owners

  // An item and how many places in the entries refer to it.
  struct Held {
    chat::ResponsesItemPtr item;
    std::size_t places = 0;
  };

  // What one owner has; never empty but while something is put.
  struct Shelf {
    std::map<std::string, Entries::iterator, std::less<>> by_id;
    std::map<std::string, Held, std::less<>> items;
    std::size_t bytes = 0;
  };
  using Shelves = std::map<std::string, Shelf, std::less<>>;

  [[nodiscard]] bool fits(const Response& response) const;
  chat::ResponsesItemPtr adopt(Shelf& shelf, const chat::ResponsesItemPtr& item, bool again);
  void release(Shelf& shelf, const chat::ResponsesItemPtr& item);
  [[nodiscard]] std::optional<Entries::iterator> look(std::string_view owner, std::string_view id);
  void drop(Entries::iterator entry);
  void drop_one_of(const Shelf& shelf);
  void drop_old();
  [[nodiscard]] Error not_found(std::string_view what, std::string_view id) const;

  const ResponseStoreOptions options_;
  const std::function<std::uint64_t()> random_;
  std::mutex mutex_;  // guards what follows
  Entries entries_;   // oldest first
  Shelves shelves_;   // by owner
  std::size_t bytes_ = 0;
  std::uint64_t evicted_ = 0;
};

}  // namespace daybreak::api
