// SPDX-License-Identifier: Apache-2.0
#include "cli/serve_reload.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "cli/server_access.h"

namespace daybreak::cli {
namespace {

// Descriptors beside connections: the model, the terminal, the event loop, what libraries open.
constexpr rlim_t kOtherDescriptors = 128;

std::chrono::milliseconds seconds(std::size_t count) { return std::chrono::seconds(count); }

// It becomes a header: nothing that could end one.
Status check_deploy_id(std::string_view id) {
  constexpr std::size_t kMaxBytes = 128;
  const auto visible = [](char c) { return c > ' ' && c <= '~'; };
  return id.size() <= kMaxBytes && std::ranges::all_of(id, visible)
             ? ok()
             : Status(Error{Errc::kInvalidArgument,
                            "deploy_id: expected at most 128 visible ASCII characters"});
}

}  // namespace

Result<http::ServerOptions> http_options(const ServerConfig& config) {
  http::ServerOptions options;
  options.host = config.host;
  options.port = static_cast<std::uint16_t>(config.port);
  options.threads = config.http_threads;
  options.max_connections = config.max_connections;
  options.limits = {.head_bytes = config.max_header_bytes, .body_bytes = config.max_request_bytes};
  options.header_timeout = seconds(config.header_timeout);
  options.body_timeout = seconds(config.body_timeout);
  options.idle_timeout = seconds(config.idle_timeout);
  options.write_timeout = seconds(config.write_timeout);
  options.cors_origin = config.cors_origin;
  // A key is what no web page has.
  options.guard_browsers = config.access_db.empty() || !config.allowed_hosts.empty();
  options.allowed_hosts = config.allowed_hosts;
  if (!config.deploy_id.empty()) {
    DAYBREAK_CHECK_OK(check_deploy_id(config.deploy_id));
    options.headers.push_back({"X-Msh-ProviderDeployId", config.deploy_id});
  }
  if (config.tls_certificate.empty() != config.tls_key.empty()) {
    return Error{Errc::kInvalidArgument, "tls_certificate and tls_key: expected both or none"};
  }
  if (config.tls_certificate.empty() && !config.tls_client_ca.empty()) {
    return Error{Errc::kInvalidArgument, "tls_client_ca: expected tls_certificate beside it"};
  }
  if (!config.tls_certificate.empty()) {
    DAYBREAK_TRY(options.tls, http::TlsContext::load({.certificate = config.tls_certificate,
                                                      .key = config.tls_key,
                                                      .client_ca = config.tls_client_ca}));
  }
  return options;
}

void raise_descriptor_limit(std::size_t connections, Log& log) {
  rlimit limit{};
  const rlim_t wanted = connections + kOtherDescriptors;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) {
    return;
  }
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < wanted) {
    log.warning("few file descriptors",
                {{"max_connections", static_cast<std::int64_t>(connections)},
                 {"descriptors", static_cast<std::int64_t>(limit.rlim_cur)}});
  }
}

void attach_handshake_report(http::ServerOptions& options, Log& log, Metrics& metrics) {
  options.on_handshake_failed = [&log, &metrics](std::string_view reason) {
    metrics
        .counter("daybreak_tls_handshake_failures_total", "Connections closed in their handshake",
                 {{"reason", std::string(reason)}})
        .add();
    log.info("tls handshake failed", {{"reason", reason}});
  };
}

void attach_reload(Reloader& reloader, http::Server& server, api::Service& service,
                   std::vector<std::string> names, Log& log) {
  reloader.on_reload([&log](const ServerConfig& next) -> Result<Reloader::Commit> {
    DAYBREAK_TRY(const LogLevel level, parse_log_level(next.log_level));
    return Reloader::Commit([&log, level] { log.set_level(level); });
  });
  reloader.on_reload(
      [&service, names = std::move(names)](const ServerConfig& next) -> Result<Reloader::Commit> {
        const auto& wanted = next.served_model_name.empty() ? names : next.served_model_name;
        DAYBREAK_CHECK_OK(service.check_model_names(wanted));
        return Reloader::Commit([&service, wanted] { service.set_model_names(wanted); });
      });
  reloader.on_reload([&server, &log](const ServerConfig& next) -> Result<Reloader::Commit> {
    DAYBREAK_TRY(http::ServerOptions options, http_options(next));
    DAYBREAK_CHECK_OK(server.check_reconfigure(options));
    return Reloader::Commit(
        [&server, &log, options = std::move(options), connections = next.max_connections] {
          raise_descriptor_limit(connections, log);
          server.reconfigure(options);
          if (options.tls) {
            log.info("certificate", {{"sha256", std::string_view(options.tls->fingerprint())},
                                     {"not_after", std::string_view(options.tls->not_after())}});
          }
        });
  });
}

void attach_price_reload(Reloader& reloader, access::AccessPolicy* policy, std::string model) {
  reloader.on_reload(
      [policy, model = std::move(model)](const ServerConfig& next) -> Result<Reloader::Commit> {
        DAYBREAK_TRY(access::Prices prices, read_prices(next, model));
        return Reloader::Commit([policy, prices = std::move(prices)] {
          if (policy != nullptr) {
            policy->set_prices(prices);
          }
        });
      });
}

}  // namespace daybreak::cli
