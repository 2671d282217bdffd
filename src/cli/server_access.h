// SPDX-License-Identifier: Apache-2.0
#pragma once

// The access policy of a server: its keys, prices and usage ledger, and changes of the keys while
// it runs.

#include <functional>
#include <memory>
#include <string>

#include "access/access_policy.h"
#include "base/log.h"
#include "base/result.h"
#include "cli/server_config.h"
#include "engine/slot_table.h"
#include "engine/slots.h"

namespace daybreak::cli {

// Returns null without `access_db`. Errors: those of KeyStore and Ledger, naming the file, and of
// read_prices().
[[nodiscard]] Result<std::shared_ptr<access::AccessPolicy>> open_access(const ServerConfig& config,
                                                                        const std::string& model);

// Returns what tokens cost; without `prices` nothing costs anything. Errors: those of Prices naming
// the file; kInvalidArgument without `access_db`, kNotFound for prices without `model`.
[[nodiscard]] Result<access::Prices> read_prices(const ServerConfig& config,
                                                 const std::string& model);

// Warns of a server that everybody may use who reaches a port that other machines reach: without
// keys and without certificates of clients. `loopback`: they do not.
void warn_if_open(const ServerConfig& config, bool loopback, Log& log);

// Returns whom the engine serves: owners with a valid key. Null, for every one, without a policy.
[[nodiscard]] engine::OwnerValidFn owner_valid(std::shared_ptr<const access::AccessPolicy> policy);

// Returns what to do at every poll: take over what was changed of the keys, say so, and, then or
// when a key has expired, have `slots` forget what may not be kept any more. Failing is logged, and
// the keys stay as they were. All outlive it. Without a policy it does nothing.
[[nodiscard]] std::function<void()> key_poll(access::AccessPolicy* policy,
                                             engine::SlotControl& slots, Log& log);

}  // namespace daybreak::cli
