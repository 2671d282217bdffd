// SPDX-License-Identifier: Apache-2.0
#include "cli/server_access.h"

#include <utility>

#include "api/isolation.h"

namespace daybreak::cli {

Result<access::Prices> read_prices(const ServerConfig& config, const std::string& model) {
  if (config.prices.empty()) {
    return access::Prices();
  }
  if (config.access_db.empty()) {
    return Error{Errc::kInvalidArgument,
                 "prices: expected access_db beside it, for the ledger, found none"};
  }
  auto prices = access::Prices::read(config.prices);
  if (!prices) {
    return std::move(prices).error().in("prices");
  }
  if (const auto price = prices->of(model); !price) {
    return Error(price.error()).in("prices: " + config.prices);
  }
  return *std::move(prices);
}

Result<std::shared_ptr<access::AccessPolicy>> open_access(const ServerConfig& config,
                                                          const std::string& model) {
  access::AccessOptions options;
  DAYBREAK_TRY(options.prices, read_prices(config, model));
  if (config.access_db.empty()) {
    return std::shared_ptr<access::AccessPolicy>();
  }
  DAYBREAK_TRY(options.keys, access::KeyStore::open(
                                 {.database = config.access_db, .pepper = config.access_pepper}));
  {
    DAYBREAK_TRY(
        access::Database database,
        access::open_access_database(config.access_db, access::Database::Missing::kRefuse));
    DAYBREAK_TRY(options.used, access::quota_sums(database, options.utc->now()));
  }
  DAYBREAK_TRY(options.ledger, access::Ledger::open({.database = config.access_db}));
  DAYBREAK_TRY(std::shared_ptr<access::AccessPolicy> policy,
               access::AccessPolicy::create(std::move(options)));
  return policy;
}

void warn_if_open(const ServerConfig& config, bool loopback, Log& log) {
  if (loopback || !config.access_db.empty() || !config.tls_client_ca.empty()) {
    return;
  }
  log.warning("no API keys: whoever reaches this address may use the server",
              {{"host", std::string_view(config.host)},
               {"settings",
                "access_db for keys, tls_client_ca for certificates of clients, or "
                "host: 127.0.0.1"}});
}

engine::OwnerValidFn owner_valid(std::shared_ptr<const access::AccessPolicy> policy) {
  if (policy == nullptr) {
    return nullptr;
  }
  return [policy = std::move(policy)](const std::string& isolation) {
    return policy->has_owner(api::owner_in(isolation));
  };
}

std::function<void()> key_poll(access::AccessPolicy* policy, engine::SlotControl& slots, Log& log) {
  if (policy == nullptr) {
    return [] {};
  }
  return [policy, &slots, &log, unwanted = false]() mutable {
    const Result<bool> changed = policy->reload_keys();
    if (!changed) {
      log.warning("keys not reloaded", {{"error", changed.error().message}});
    } else if (*changed) {
      log.info("keys reloaded");
      unwanted = true;
    }
    unwanted = policy->note_expiries() || unwanted;
    // An engine that has too much to do between steps is asked at the next poll.
    if (unwanted && slots.between_steps([](engine::Slots& all) { all.erase_unwanted(); })) {
      unwanted = false;
    }
  };
}

}  // namespace daybreak::cli
