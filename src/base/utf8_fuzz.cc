// SPDX-License-Identifier: Apache-2.0
// Any bytes as UTF-8: repair gives valid text, keeps valid parts, and does not depend on how the
// bytes arrive. The first byte of the input chooses the cuts.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/utf8.h"

namespace {

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using daybreak::Utf8Step;
  if (size == 0) {
    return 0;
  }
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string repaired = daybreak::repair_utf8(bytes);
  require(daybreak::is_valid_utf8(repaired));
  require(daybreak::repair_utf8(repaired) == repaired);
  require(daybreak::is_valid_utf8(bytes) == (bytes == repaired));

  std::string stepped;
  for (std::size_t at = 0; at < bytes.size();) {
    const Utf8Step step = daybreak::utf8_step(bytes, at);
    require(step.length >= 1 && step.length <= bytes.size() - at);
    if (step.kind == Utf8Step::Kind::kValid) {
      daybreak::append_utf8(step.code_point, stepped);
    } else {
      stepped += daybreak::kReplacementCharacter;
    }
    at += step.length;
  }
  require(stepped == repaired);

  daybreak::Utf8Repairer repairer;
  std::string joined;
  std::uint32_t state = data[0];
  for (std::size_t at = 0; at < bytes.size();) {
    state = state * 1664525 + 1013904223;
    const std::size_t length = (state >> 24) % 7;
    repairer.push(std::string_view(bytes).substr(at, length), joined);
    require(daybreak::is_valid_utf8(joined));
    at += length;
  }
  repairer.finish(joined);
  require(joined == repaired);
  return 0;
}
