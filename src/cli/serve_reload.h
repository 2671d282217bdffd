// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the configuration becomes options of the HTTP server, at the start and on a reload.

#include "access/access_policy.h"
#include "api/service.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "cli/reload.h"
#include "cli/server_config.h"
#include "http/server.h"

namespace daybreak::cli {

// Reads the TLS files too. Errors: those of TlsContext::load(), kInvalidArgument (a key without a
// certificate, or the reverse).
[[nodiscard]] Result<http::ServerOptions> http_options(const ServerConfig& config);

// Counts failed handshakes and writes one line for each.
void attach_handshake_report(http::ServerOptions& options, Log& log, Metrics& metrics);

// Raises the soft limit of open files as far as allowed.
void raise_descriptor_limit(std::size_t connections, Log& log);

// Lets `reloader` change the server, the names of the model and the log level. All outlive it.
// `names` is what the model is called when the configuration does not say.
void attach_reload(Reloader& reloader, http::Server& server, api::Service& service,
                   std::vector<std::string> names, Log& log);

// Lets `reloader` change what `model` costs. `policy` outlives it; null: there are no prices.
void attach_price_reload(Reloader& reloader, access::AccessPolicy* policy, std::string model);

}  // namespace daybreak::cli
