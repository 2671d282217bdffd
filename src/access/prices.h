// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prices: what tokens cost, per model. Money is whole micro-dollars everywhere; a price is
// micro-dollars per million tokens, so $3.00 per million is 3,000,000 and one token of it costs
// three micro-dollars.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "access/usage.h"
#include "base/result.h"

namespace daybreak::access {

inline constexpr std::int64_t kMaxPrice = 1'000'000'000;  // $1000 per million tokens
inline constexpr std::size_t kMaxPricedModels = 1024;
inline constexpr std::size_t kMaxPricesBytes = std::size_t{1} << 20U;

// Micro-dollars per million tokens, each in [0, kMaxPrice].
struct Price {
  std::int64_t prompt = 0;  // of those not cached
  std::int64_t cached = 0;
  std::int64_t completion = 0;
  friend bool operator==(const Price&, const Price&) = default;
};

// Returns what `tokens` cost in micro-dollars: the exact sum, rounded once, halves up.
// REQUIRES: validate(tokens) and the price's range.
[[nodiscard]] std::int64_t cost_micro_usd(const Price& price, const TokenCounts& tokens);

// Reads dollars such as "3", "0.30" or "0.000001" as micro-dollars, exactly.
// Errors: kInvalidArgument for anything else, seven decimals included.
[[nodiscard]] Result<std::int64_t> parse_usd(std::string_view text);
// Returns "0.30" or "0.000001": at least two decimals, at most six.
[[nodiscard]] std::string format_usd(std::int64_t micro_usd);

class Prices {
 public:
  // No prices at all: everything costs nothing.
  Prices() = default;

  // Reads YAML or JSON (docs/access.md): `usd_per_million_tokens` maps models to prompt, cached (no
  // more than prompt) and
  // completion. All three must be given; unknown keys are refused. `name` stands for the file.
  // Errors: kInvalidArgument with name, line and what was expected; kTooLarge past a bound.
  [[nodiscard]] static Result<Prices> parse(const std::string& text, const std::string& name);
  // Errors: also kNotFound, kIo.
  [[nodiscard]] static Result<Prices> read(const std::filesystem::path& path);

  // Errors: kNotFound if there are prices, but none for `model`.
  [[nodiscard]] Result<Price> of(std::string_view model) const;

 private:
  std::map<std::string, Price, std::less<>> models_;
};

}  // namespace daybreak::access
