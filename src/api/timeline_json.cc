// SPDX-License-Identifier: Apache-2.0
#include "api/timeline_json.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <iterator>
#include <set>
#include <string_view>

namespace daybreak::api {
namespace {

using engine::StepRecord;
using TimePoint = Clock::TimePoint;

constexpr std::array<std::string_view, engine::kStepPhases> kPhaseNames = {
    "plan", "forward", "sample", "mask wait", "sample late"};
constexpr std::uint32_t kEngineTrack = 0;  // slots follow

std::int64_t ns(Clock::TimePoint::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

// Writes events one after the other; every number is an integer or has three decimals.
class Writer {
 public:
  explicit Writer(TimePoint origin) : origin_(origin) {}

  void span(std::string_view name, std::uint32_t track, TimePoint begin, TimePoint end,
            std::string_view args) {
    event(fmt::format(R"("ph":"X","name":"{}","tid":{},"ts":{},"dur":{},"args":{{{}}})", name,
                      track, micros(begin - origin_), micros(end - begin), args));
  }
  void counter(std::string_view name, TimePoint at, std::string_view args) {
    event(fmt::format(R"("ph":"C","name":"{}","tid":{},"ts":{},"args":{{{}}})", name, kEngineTrack,
                      micros(at - origin_), args));
  }
  void name(std::string_view what, std::uint32_t track, std::string_view name) {
    event(
        fmt::format(R"("ph":"M","name":"{}","tid":{},"args":{{"name":"{}"}})", what, track, name));
  }
  // Perfetto sorts tracks by this, not by their names.
  void sort_index(std::uint32_t track) {
    event(fmt::format(
        R"("ph":"M","name":"thread_sort_index","tid":{0},"args":{{"sort_index":{0}}})", track));
  }
  [[nodiscard]] std::string take() && {
    return R"({"displayTimeUnit":"ms","traceEvents":[)" + events_ + "]}";
  }

 private:
  static std::string micros(TimePoint::duration time) {
    return fmt::format("{}.{:03}", ns(time) / 1000, ns(time) % 1000);
  }
  void event(std::string_view fields) {
    fmt::format_to(std::back_inserter(events_), R"({}{{"pid":1,{}}})", events_.empty() ? "" : ",\n",
                   fields);
  }

  const TimePoint origin_;
  std::string events_;
};

void add_phases(const StepRecord& step, Writer& out) {
  TimePoint begin = step.began;
  for (std::size_t i = 0; i < engine::kStepPhases; ++i) {
    if (ns(step.ends[i] - begin) >= 1000) {
      out.span(kPhaseNames[i], kEngineTrack, begin, step.ends[i], "");
    }
    begin = step.ends[i];
  }
}

void add_step(const StepRecord& step, Writer& out) {
  std::size_t prefill = 0;
  std::size_t decode = 0;
  for (const engine::StepFeed& feed : step.feeds) {
    (feed.prefill ? prefill : decode) += feed.tokens;
  }
  const std::string tokens =
      fmt::format(R"("prefill_tokens":{},"decode_tokens":{})", prefill, decode);
  out.span("step", kEngineTrack, step.began, step.ends.back(),
           fmt::format(R"("step":{},{},"running":{},"sat_out":{})", step.number, tokens,
                       step.running, step.sat_out));
  add_phases(step, out);
  out.counter("tokens", step.began, tokens);
  // Of the model alone: what a request fed is computed together with what the others did.
  const auto forward = static_cast<std::size_t>(engine::StepPhase::kForward);
  for (const engine::StepFeed& feed : step.feeds) {
    out.span(feed.prefill ? "prefill" : "decode", feed.slot + 1, step.ends[forward - 1],
             step.ends[forward],
             fmt::format(R"("request":{},"tokens":{},"step":{})", feed.request, feed.tokens,
                         step.number));
  }
}

}  // namespace

std::string timeline_json(std::span<const StepRecord> steps) {
  Writer out(steps.empty() ? TimePoint() : steps.front().began);
  out.name("process_name", kEngineTrack, "daybreak");
  out.name("thread_name", kEngineTrack, "engine");
  out.sort_index(kEngineTrack);
  std::set<std::uint32_t> slots;
  for (const StepRecord& step : steps) {
    for (const engine::StepFeed& feed : step.feeds) {
      slots.insert(feed.slot);
    }
  }
  for (const std::uint32_t slot : slots) {
    out.name("thread_name", slot + 1, fmt::format("slot {}", slot));
    out.sort_index(slot + 1);
  }
  for (const StepRecord& step : steps) {
    add_step(step, out);
  }
  return std::move(out).take();
}

}  // namespace daybreak::api
