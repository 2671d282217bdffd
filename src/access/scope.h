// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scope: what a key may be used for.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace daybreak::access {

enum class Scope : std::uint8_t { kInference, kBatch, kFiles, kAdmin, kMetrics };
inline constexpr std::size_t kScopes = 5;

// Returns "inference", "batch", "files", "admin" or "metrics".
[[nodiscard]] std::string_view to_string(Scope scope);

class ScopeSet {
 public:
  [[nodiscard]] static ScopeSet all();
  void add(Scope scope) { bits_ |= bit(scope); }
  [[nodiscard]] bool contains(Scope scope) const { return (bits_ & bit(scope)) != 0; }
  [[nodiscard]] bool empty() const { return bits_ == 0; }
  friend bool operator==(const ScopeSet&, const ScopeSet&) = default;

 private:
  [[nodiscard]] static unsigned bit(Scope scope) { return 1U << static_cast<unsigned>(scope); }
  unsigned bits_ = 0;
};

// Returns the names in the order of Scope, separated by commas; parse_scopes() reads them in any
// order. Errors: kInvalidArgument for an unknown or empty name.
[[nodiscard]] std::string to_string(ScopeSet scopes);
[[nodiscard]] Result<ScopeSet> parse_scopes(std::string_view text);

}  // namespace daybreak::access
