// SPDX-License-Identifier: Apache-2.0
#pragma once

// Random instances of a schema, built from it: types, bounds, required members and the like are
// met by construction; `not`, the branches of oneOf that must fail, maxContains and unevaluated*
// are left to luck. Whoever needs to know asks a validator.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/rng.h"
#include "grammar/schema.h"

namespace daybreak::grammar {

struct RandomInstanceOptions {
  enum class Text : std::uint8_t {
    kAny,    // free strings hold quotes, control characters, all of Unicode
    kWords,  // free strings are English words, as in benchmarks
  };
  enum class Order : std::uint8_t { kSchema, kRandom };  // of members
  Text text = Text::kAny;
  Order order = Order::kRandom;
  std::uint32_t optional_percent = 50;  // how often an optional member is there
  std::size_t max_depth = 12;           // deeper, only what must be there is; twice that: given up
};

// Returns a compact JSON text without duplicate keys that aims to satisfy the schema, or nothing
// when every attempt ran into a contradiction (or into a pattern too large to sample).
[[nodiscard]] std::optional<std::string> random_instance(const SchemaDocument& schema, Rng& rng,
                                                         const RandomInstanceOptions& options = {});

}  // namespace daybreak::grammar
