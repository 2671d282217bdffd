// SPDX-License-Identifier: Apache-2.0
#pragma once

// ReplayStore: generating calls under way and answers that are kept, for clients that ask again
// after a time-out: they get the answer that was being made for them instead of a second one.
// In memory alone, bounded in bytes and age, and in how many wait for one answer.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "access/api_key.h"
#include "access/crypto.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "http/message.h"

namespace daybreak::api {

struct ReplayOptions {
  // How long an answer goes on being made when its client has left and said that it may come again;
  // 0: not at all.
  std::chrono::milliseconds grace{2'000};
  // Of kept answers together, with all that is held for them; 0: none is kept. Past it whoever has
  // most loses his oldest, so that nobody's answers go for those of one who has more.
  std::size_t max_bytes = std::size_t{16} << 20U;
  std::chrono::seconds max_age{120};      // of a kept answer
  const Clock* clock = &Clock::steady();  // must outlive the store
};

// Requests that listen to one call at the same time, its first one included.
inline constexpr std::size_t kMaxListeners = 8;

// What makes two requests the same call.
struct ReplayKey {
  access::KeyId caller{};  // nobody is ever given another's answer
  std::string owner;       // access::owner_of() him, by whom kept answers are counted
  std::string path;        // with its query
  std::string name;        // the client's own name for the call; empty: the body tells
  access::Digest body{};   // of the body
};

// Thread-safe.
class ReplayStore {
 public:
  using Answer = std::shared_ptr<const http::Response>;  // shared by all who are given it

  class Call;
  using CallPtr = std::shared_ptr<Call>;

  // One call: made once, by its first request, for everybody who listens.
  class Call {
   public:
    explicit Call(ReplayKey key) : key_(std::move(key)) {}

   private:
    friend class ReplayStore;
    const ReplayKey key_;
    // Guarded by the store's mutex.
    std::size_t listeners_ = 1;
    bool over_ = false;
    Answer answer_;  // once it is over; null: there is none
    std::function<void()> on_silence_;
    std::uint64_t next_listener_ = 1;
    std::map<std::uint64_t, std::function<void()>> on_over_;  // by listener
    std::optional<std::uint64_t> kept_;  // the number of its answer, if that is kept
  };

  struct Claim {
    CallPtr call;                // null: the name stands for another body, or `crowded`
    std::uint64_t listener = 0;  // who of those that listen; 0: the maker, the call is new
    bool crowded = false;        // kMaxListeners listen to it
  };
  struct Stats {
    std::size_t waiting = 0;    // requests that wait for an answer being made for an earlier one
    std::size_t abandoned = 0;  // calls under way that nobody listens to
    std::size_t kept = 0;
    std::size_t bytes = 0;
    std::uint64_t replayed = 0;  // requests that were given an answer made for an earlier one
  };

  explicit ReplayStore(ReplayOptions options) : options_(options) {}

  [[nodiscard]] std::chrono::milliseconds grace() const { return options_.grace; }

  // Finds the call a request is, and listens to it. Named calls are joined whenever they are known.
  // Others only by a request that `is_retry`, and only if nobody listens: two clients that ask the
  // same thing get two answers.
  [[nodiscard]] Claim claim(const ReplayKey& key, bool is_retry);

  // For the maker.
  // Sets what to do each time the last listener leaves; called by the one that left, must be quick.
  void on_silence(const CallPtr& call, std::function<void()> callback);
  // Forgets the call unless it is over or somebody listens. Returns whether it did: then nobody
  // ever will.
  [[nodiscard]] bool give_up(const CallPtr& call);
  // Ends the call; null: without an answer, and whoever listens makes his own. Does nothing the
  // second time.
  void finish(const CallPtr& call, Answer answer);

  // For those who listen.
  // Calls `callback` once when the call is over, at once if it is; perhaps still after leave(), if
  // both come at the same time.
  void on_over(const CallPtr& call, std::uint64_t listener, std::function<void()> callback);
  // REQUIRES: it is over.
  [[nodiscard]] Answer answer(const CallPtr& call);
  // Ends listening. `heard`: the answer has been sent; an answer without a name is then forgotten.
  void leave(const CallPtr& call, std::uint64_t listener, bool heard);

  void count_replay();
  [[nodiscard]] Stats stats();

 private:
  struct Kept {
    CallPtr call;
    Clock::TimePoint since;
    std::size_t bytes = 0;
  };
  struct Owned {
    std::size_t bytes = 0;
    std::set<std::uint64_t> answers;  // their numbers in kept_
  };
  // Where a call is found: by its name if it has one, else by its body. The texts are the key's.
  using Place = std::tuple<access::KeyId, std::string_view, std::string_view, access::Digest>;
  [[nodiscard]] static Place place_of(const ReplayKey& key);

  void keep(const CallPtr& call);
  void forget(const CallPtr& call);
  void drop_old();
  // Forgets the oldest answer of whoever has most bytes here.
  void drop_one_of_the_heaviest();

  const ReplayOptions options_;
  std::mutex mutex_;                     // guards what follows, and calls
  std::multimap<Place, CallPtr> calls_;  // each in the place of its own key
  std::map<std::uint64_t, Kept> kept_;   // those with an answer, oldest first
  std::uint64_t next_kept_ = 1;          // the number of the next
  std::size_t bytes_ = 0;                // of kept_
  std::map<std::string, Owned> owned_;   // the same by owner; none: no entry
  std::uint64_t replayed_ = 0;
};

void report_replays(MetricsSink& sink, const ReplayStore::Stats& stats);

}  // namespace daybreak::api
