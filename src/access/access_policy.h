// SPDX-License-Identifier: Apache-2.0
#pragma once

// AccessPolicy: the one thing a server asks. authorize() says who calls and whether he may;
// begin() whether he may now; Permit::finish() writes down what it took.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "access/api_key.h"
#include "access/key_store.h"
#include "access/ledger.h"
#include "access/prices.h"
#include "access/quota_book.h"
#include "access/rate_limiter.h"
#include "access/refusal.h"
#include "access/usage.h"
#include "base/clock.h"
#include "base/result.h"

namespace daybreak::access {

// Shared by everything a request does; a key that changes meanwhile does not change it.
using Caller = std::shared_ptr<const ApiKey>;

// Everybody on a server without keys; may do everything.
[[nodiscard]] const Caller& anonymous_caller();

struct RequestEstimate {
  std::string request_id;  // unique; a request that is tried again under its id is counted once
  std::string model;       // the name prices and the ledger know
  std::string base_model = {};  // whose price holds if there is none for `model`; empty: none
  std::int64_t prompt_tokens = 0;
  std::int64_t max_completion_tokens = 0;  // of all answers together
  std::int64_t sequences = 1;              // answers that run or wait at the same time, 1 or more
  bool stream = false;
};

struct AccessOptions {
  std::unique_ptr<KeyStore> keys;  // null: an open server, everybody is anonymous
  std::unique_ptr<Ledger> ledger;  // null: nothing is recorded; REQUIRED with keys
  std::vector<KeyQuotaSums> used;  // of the ledger's database: quota_sums() at the start
  Prices prices;                   // at first
  // Both must outlive the policy and its permits.
  const Clock* clock = &Clock::steady();
  const UtcClock* utc = &UtcClock::system();
};

class AccessPolicy;

// A request that may run. Movable; used by one thread at a time. Must not outlive its policy.
class Permit {
 public:
  Permit(Permit&&) noexcept = default;
  Permit& operator=(Permit&&) noexcept = default;
  // Without finish(): the request did not happen. All that was reserved comes back, and the ledger
  // does not know of it.
  ~Permit() = default;

  // Ends the request: settles what it used against rates and quotas, and queues its entry; `done`
  // as in Ledger::append(), called at once with kNew if there is no ledger. A cancelled or failed
  // request is finished too, with what it used until then. REQUIRES: at most once.
  // Errors, after which `done` is not called: kInvalidArgument (counts that cannot be; nothing is
  // settled).
  [[nodiscard]] Status finish(const TokenCounts& tokens, Outcome outcome, Ledger::Done done);

  [[nodiscard]] const RateStatuses& rates() const { return lease_.rates(); }
  [[nodiscard]] const Caller& caller() const { return caller_; }

 private:
  friend class AccessPolicy;
  Permit(const AccessPolicy& policy, Caller caller, RequestEstimate request, const Price& price,
         Lease lease, QuotaHold hold, Ledger::Place place)
      : policy_(&policy),
        caller_(std::move(caller)),
        request_(std::move(request)),
        price_(price),
        lease_(std::move(lease)),
        hold_(std::move(hold)),
        place_(std::move(place)) {}

  const AccessPolicy* policy_;
  Caller caller_;
  RequestEstimate request_;
  Price price_;  // of the time it began
  Lease lease_;
  QuotaHold hold_;
  Ledger::Place place_;  // for its entry
};

// Thread-safe.
class AccessPolicy {
 public:
  // Errors: kInvalidArgument for keys without a ledger, whose quotas would be forgotten.
  [[nodiscard]] static Result<std::unique_ptr<AccessPolicy>> create(AccessOptions options);

  // Returns the caller whose key is `key_text` (empty: none was given) if the key has `scope` and
  // may use `model` (empty: no model is asked for). An open server returns the anonymous caller,
  // who may do everything, whatever the text.
  // Errors: kUnauthenticated, kPermission. No message holds a part of the text.
  [[nodiscard]] Result<Caller> authorize(std::string_view key_text, Scope scope,
                                         std::string_view model) const;

  // The same for a request that this process makes for a caller it has known before, such as one of
  // a batch. Errors: also kUnauthenticated for kAnonymousId where there are keys, and for any other
  // where there are none.
  [[nodiscard]] Result<Caller> authorize(KeyId key, Scope scope) const;

  // Whether anybody who is `owner` (owner_of()) may call at the moment.
  [[nodiscard]] bool has_owner(std::string_view owner) const;

  // See KeyStore::seal(); "" on an open server.
  [[nodiscard]] Result<std::string> seal(std::string_view text) const;

  // Reserves what `request` may use, or changes nothing. Estimates outside [0, kMaxRequestTokens],
  // a bad request id, and a model without a price are refused as kServer with that error; so is, as
  // kUnavailable, one whose entry would find no room in the ledger's queue.
  [[nodiscard]] std::variant<Permit, Refusal> begin(const Caller& caller, RequestEstimate request);

  // Reserves one request of the key's minute, for an answer that generates nothing: it takes no
  // tokens, no quota and no place. The lease is to be settled with 0 tokens.
  [[nodiscard]] std::variant<Lease, Refusal> begin_request(const Caller& caller);

  // Returns the caller's rates as they are now.
  [[nodiscard]] RateStatuses rates(const Caller& caller) const;

  // Returns what a key has left of its month, in micro-dollars, not below 0; what requests in
  // progress may still take is not subtracted. Nothing for a key without such a quota.
  [[nodiscard]] std::optional<std::int64_t> money_left(const ApiKey& key) const;

  // From now on requests that begin cost this; those that have begun keep their price.
  void set_prices(Prices prices);

  // See KeyStore::reload(); false on an open server.
  [[nodiscard]] Result<bool> reload_keys();
  // See KeyStore::note_expiries(); false on an open server.
  [[nodiscard]] bool note_expiries() { return options_.keys && options_.keys->note_expiries(); }

  [[nodiscard]] bool open_to_all() const { return options_.keys == nullptr; }
  // See Ledger::finish(); nothing without a ledger.
  [[nodiscard]] std::vector<Usage> finish_ledger(std::chrono::steady_clock::time_point deadline) {
    return options_.ledger ? options_.ledger->finish(deadline) : std::vector<Usage>();
  }
  // Null if there is none. Lives as long as the policy.
  [[nodiscard]] const Ledger* ledger() const { return options_.ledger.get(); }

 private:
  friend class Permit;
  explicit AccessPolicy(AccessOptions options);
  [[nodiscard]] std::shared_ptr<const Prices> prices() const;
  [[nodiscard]] Status record(Ledger::Place place, Usage usage, Ledger::Done done) const;

  mutable std::mutex prices_mutex_;
  std::shared_ptr<const Prices> prices_;  // shared with requests that begin right now
  RateLimiter limiter_;
  std::shared_ptr<QuotaBook> quotas_;  // shared with entries on their way to the ledger
  AccessOptions options_;              // last: its ledger writes what waits before the others go
};

}  // namespace daybreak::access
