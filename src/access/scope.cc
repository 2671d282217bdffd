// SPDX-License-Identifier: Apache-2.0
#include "access/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/json_document.h"

namespace daybreak::access {
namespace {

constexpr std::array<std::string_view, kScopes> kNames = {"inference", "batch", "files", "admin",
                                                          "metrics"};

}  // namespace

std::string_view to_string(Scope scope) { return kNames[static_cast<std::size_t>(scope)]; }

ScopeSet ScopeSet::all() {
  ScopeSet out;
  for (std::size_t i = 0; i < kScopes; ++i) {
    out.add(static_cast<Scope>(i));
  }
  return out;
}

std::string to_string(ScopeSet scopes) {
  std::string out;
  for (std::size_t i = 0; i < kScopes; ++i) {
    if (scopes.contains(static_cast<Scope>(i))) {
      out += (out.empty() ? "" : ",") + std::string(kNames[i]);
    }
  }
  return out;
}

Result<ScopeSet> parse_scopes(std::string_view text) {
  ScopeSet out;
  for (bool last = false; !last;) {
    const std::size_t comma = text.find(',');
    last = comma == std::string_view::npos;
    const std::string_view name = text.substr(0, comma);
    const auto* const found = std::ranges::find(kNames, name);
    if (found == kNames.end()) {
      return Error{Errc::kInvalidArgument, fmt::format("scope: expected {}, found '{}'",
                                                       fmt::join(kNames, ", "), printable(name))};
    }
    out.add(static_cast<Scope>(found - kNames.begin()));
    text.remove_prefix(last ? text.size() : comma + 1);
  }
  return out;
}

}  // namespace daybreak::access
