// SPDX-License-Identifier: Apache-2.0
#pragma once

// The access policy of a server: its keys, prices and usage ledger, and taking over changes of the
// keys while it runs.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "access/access_policy.h"
#include "base/log.h"
#include "base/result.h"
#include "cli/server_config.h"

namespace daybreak::cli {

// Returns null without `access_db`. Errors: those of KeyStore, Ledger and Prices, naming the file;
// kInvalidArgument for `prices` without `access_db`, kNotFound for prices without `model`.
[[nodiscard]] Result<std::shared_ptr<access::AccessPolicy>> open_access(const ServerConfig& config,
                                                                        const std::string& model);

// Looks every second whether keys were changed. Failing is logged; the keys stay as they were.
class KeyReloader {
 public:
  // `policy` may be null: then there is nothing to do. Both outlive this.
  KeyReloader(access::AccessPolicy* policy, Log& log);
  ~KeyReloader();
  KeyReloader(const KeyReloader&) = delete;
  KeyReloader& operator=(const KeyReloader&) = delete;

 private:
  void run();

  access::AccessPolicy* const policy_;
  Log& log_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace daybreak::cli
