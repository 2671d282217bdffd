// SPDX-License-Identifier: Apache-2.0
#pragma once

// Clocks that are set by hand, and values for tests. Test code only.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>

#include "access/api_key.h"
#include "access/usage.h"
#include "base/clock.h"
#include "testing/temporary_directory.h"

namespace daybreak::access {

class ManualClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(std::chrono::microseconds(us_.load())); }
  void advance_us(std::int64_t us) { us_ += us; }

 private:
  std::atomic<std::int64_t> us_ = 1'000'000'007;
};

class ManualUtc final : public UtcClock {
 public:
  explicit ManualUtc(const char* text = "2026-11-30T12:00:00Z") : us_(*parse_utc(text)) {}
  UtcMicros now() const override { return us_; }
  void set(const char* text) { us_ = *parse_utc(text); }
  void advance_us(std::int64_t us) { us_ += us; }

 private:
  std::atomic<UtcMicros> us_;
};

using testing::TemporaryDirectory;

inline KeySettings test_settings(std::string name = "test") {
  KeySettings out;
  out.name = std::move(name);
  out.scopes.add(Scope::kInference);
  return out;
}

inline Usage test_usage(std::string request_id, UtcMicros time = *parse_utc("2026-11-30")) {
  Usage out;
  out.time = time;
  out.request_id = std::move(request_id);
  out.key = KeyId{1};
  out.model = "k3";
  out.tokens = {.prompt = 100, .cached = 40, .completion = 20, .reasoning = 5};
  out.cost_micro_usd = 492;
  return out;
}

}  // namespace daybreak::access
