// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

namespace daybreak {
namespace {

class SteadyClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }
};

}  // namespace

const Clock& Clock::steady() {
  static const SteadyClock clock;
  return clock;
}

}  // namespace daybreak
