// SPDX-License-Identifier: Apache-2.0
#pragma once

// The access policy of a server: its keys, prices and usage ledger, and changes of the keys while
// it runs.

#include <memory>
#include <string>

#include "access/access_policy.h"
#include "base/log.h"
#include "base/result.h"
#include "cli/server_config.h"

namespace daybreak::cli {

// Returns null without `access_db`. Errors: those of KeyStore and Ledger, naming the file, and of
// read_prices().
[[nodiscard]] Result<std::shared_ptr<access::AccessPolicy>> open_access(const ServerConfig& config,
                                                                        const std::string& model);

// Returns what tokens cost; without `prices` nothing costs anything. Errors: those of Prices naming
// the file; kInvalidArgument without `access_db`, kNotFound for prices without `model`.
[[nodiscard]] Result<access::Prices> read_prices(const ServerConfig& config,
                                                 const std::string& model);

// Takes over what was changed of the keys; says so. Failing is logged, and the keys stay as they
// were. Null: nothing.
void reload_keys(access::AccessPolicy* policy, Log& log);

}  // namespace daybreak::cli
