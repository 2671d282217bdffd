// SPDX-License-Identifier: Apache-2.0
#include "api/route_scope.h"

#include <algorithm>
#include <array>

namespace daybreak::api {
namespace {

// What a load balancer, a monitor or a curious client may ask without a key.
constexpr std::array<std::string_view, 6> kOpenRoutes = {"/health",  "/ready",   "/ping",
                                                         "/metrics", "/version", "/openapi.json"};

}  // namespace

std::optional<access::Scope> scope_of(std::string_view pattern) {
  if (std::ranges::find(kOpenRoutes, pattern) != kOpenRoutes.end()) {
    return std::nullopt;
  }
  if (pattern.starts_with("/v1/files")) {
    return access::Scope::kFiles;
  }
  if (pattern.starts_with("/v1/batches")) {
    return access::Scope::kBatch;
  }
  // What shows or changes the state of the server, not that of one caller.
  const bool admin = pattern.starts_with("/slots") || pattern.starts_with("/debug/") ||
                     pattern == "/reset_prefix_cache" || pattern == "/v1/load_lora_adapter" ||
                     pattern == "/v1/unload_lora_adapter";
  return admin ? access::Scope::kAdmin : access::Scope::kInference;
}

bool is_anthropic(std::string_view path) {
  return path.starts_with("/anthropic/") || path == "/v1/messages" ||
         path.starts_with("/v1/messages/");
}

bool speaks_anthropic(const http::Request& request) {
  return is_anthropic(request.path) ||
         (request.path.starts_with("/v1/models") && !request.header("anthropic-version").empty());
}

}  // namespace daybreak::api
