// SPDX-License-Identifier: Apache-2.0
#include "loadgen/slo.h"

#include <charconv>
#include <cmath>

namespace daybreak::loadgen {
namespace {

bool keeps(const std::optional<double>& limit_ms, double seconds) {
  constexpr double kMillisecondsPerSecond = 1e3;
  return !limit_ms || seconds * kMillisecondsPerSecond <= *limit_ms;
}

Error unreadable(const std::string& text) {
  return {Errc::kInvalidArgument,
          "--goodput: expected ttft:MS, tpot:MS or e2el:MS, each once, found '" + text + "'"};
}

}  // namespace

bool Slos::kept_by(const RequestTimes& times) const {
  return keeps(ttft_ms, times.ttft_seconds) && keeps(tpot_ms, times.tpot_seconds) &&
         keeps(e2el_ms, times.e2el_seconds);
}

Result<Slos> parse_slos(const std::vector<std::string>& texts) {
  Slos out;
  for (const std::string& text : texts) {
    const std::size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    std::optional<double>* const slot = name == "ttft"   ? &out.ttft_ms
                                        : name == "tpot" ? &out.tpot_ms
                                        : name == "e2el" ? &out.e2el_ms
                                                         : nullptr;
    if (slot == nullptr || slot->has_value() || colon == std::string::npos) {
      return unreadable(text);
    }
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, value);
    if (error != std::errc{} || rest != end || !std::isfinite(value) || value < 0) {
      return unreadable(text);
    }
    *slot = value;
  }
  return out;
}

}  // namespace daybreak::loadgen
