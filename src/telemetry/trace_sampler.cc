// SPDX-License-Identifier: Apache-2.0
#include "telemetry/trace_sampler.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace daybreak::telemetry {
namespace {

Result<double> parse_ratio(std::string_view text) {
  if (text.empty()) {
    return 1.0;
  }
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0.0 && value <= 1.0)) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, found '{}'",
                             text.substr(0, 100))};
  }
  return value;
}

}  // namespace

bool TraceSampler::samples(const TraceId& id, std::optional<bool> parent_sampled) const {
  if (parent_based && parent_sampled) {
    return *parent_sampled;
  }
  // The last eight bytes are the random ones; 63 bits of them, as other implementations do.
  std::uint64_t value = 0;
  for (std::size_t i = 8; i < id.size(); ++i) {
    value = value << 8U | id[i];
  }
  return ratio >= 1.0 || static_cast<double>(value >> 1U) < std::ldexp(ratio, 63);
}

Result<TraceSampler> parse_sampler(std::string_view name, std::string_view argument) {
  constexpr std::string_view kParentBased = "parentbased_";
  TraceSampler sampler;
  std::string_view root = name.empty() ? "parentbased_always_on" : name;
  sampler.parent_based = root.starts_with(kParentBased);
  if (sampler.parent_based) {
    root.remove_prefix(kParentBased.size());
  }
  if (root == "always_on" || root == "always_off") {
    sampler.ratio = root == "always_on" ? 1.0 : 0.0;
    return sampler;
  }
  if (root == "traceidratio") {
    DAYBREAK_TRY(sampler.ratio, parse_ratio(argument));
    return sampler;
  }
  return Error{Errc::kInvalidArgument,
               fmt::format("OTEL_TRACES_SAMPLER: expected always_on, always_off or traceidratio, "
                           "with or without parentbased_ before it, found '{}'",
                           name.substr(0, 100))};
}

}  // namespace daybreak::telemetry
