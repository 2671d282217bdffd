// SPDX-License-Identifier: Apache-2.0
#include "cache/scope.h"

#include <algorithm>

namespace daybreak::cache {
namespace {

// Before each part of an adapter. A digest never begins with it, so twice is an isolation that
// does.
constexpr char kMark = '\x1f';

}  // namespace

std::string make_scope(const ScopeParts& parts) {
  std::string scope;
  if (!parts.lora_digest.empty()) {
    scope += kMark;
    scope += parts.lora_digest;
    scope += kMark;
    scope += parts.lora_name;
    scope += kMark;
  } else if (parts.isolation.starts_with(kMark)) {
    scope += kMark;
  }
  scope += parts.isolation;
  return scope;
}

ScopeParts split_scope(std::string_view scope) {
  if (!scope.starts_with(kMark)) {
    return {.isolation = scope, .lora_name = {}, .lora_digest = {}};
  }
  scope.remove_prefix(1);
  if (scope.starts_with(kMark)) {
    return {.isolation = scope, .lora_name = {}, .lora_digest = {}};
  }
  const auto next = [&] {
    const std::size_t end = std::min(scope.find(kMark), scope.size());
    const std::string_view part = scope.substr(0, end);
    scope.remove_prefix(std::min(end + 1, scope.size()));
    return part;
  };
  const std::string_view digest = next();
  const std::string_view name = next();
  return {.isolation = scope, .lora_name = name, .lora_digest = digest};
}

}  // namespace daybreak::cache
