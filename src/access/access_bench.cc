// SPDX-License-Identifier: Apache-2.0
// What access control costs a request, and how many entries a second the ledger takes.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "access/access_policy.h"

namespace daybreak::access {
namespace {

struct Fixture {
  Fixture() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "daybreak_bench_XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
    const auto database = directory / "access.db";
    AccessOptions options;
    options.keys = *KeyStore::open(
        {.database = database, .pepper = {}, .missing = Database::Missing::kCreate});
    KeySettings settings;
    settings.name = "bench";
    settings.scopes = ScopeSet::all();
    settings.limits.requests_per_minute = kMaxRatePerMinute;
    settings.limits.tokens_per_minute = kMaxRatePerMinute;
    settings.limits.concurrency = 10;
    settings.limits.tokens_per_month = kMaxQuota;
    text = options.keys->create(settings)->text;
    options.ledger = *Ledger::open({.database = database});
    policy = *AccessPolicy::create(std::move(options));
    caller = *policy->authorize(text, Scope::kInference, "m");
  }
  ~Fixture() {
    policy.reset();
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  std::filesystem::path directory;
  std::string text;
  std::unique_ptr<AccessPolicy> policy;
  Caller caller;
};

void authorize(benchmark::State& state) {
  const Fixture fixture;
  for (auto _ : state) {
    benchmark::DoNotOptimize(fixture.policy->authorize(fixture.text, Scope::kInference, "m"));
  }
}
BENCHMARK(authorize);

void begin_and_give_back(benchmark::State& state) {
  const Fixture fixture;
  for (auto _ : state) {
    benchmark::DoNotOptimize(fixture.policy->begin(
        fixture.caller, {.request_id = "r", .model = "m", .prompt_tokens = 100}));
  }
}
BENCHMARK(begin_and_give_back);

// To the disk: the time of the last acknowledgement.
void ledger_entries(benchmark::State& state) {
  const Fixture fixture;
  std::int64_t id = 0;
  for (auto _ : state) {
    while (true) {
      auto permit = fixture.policy->begin(
          fixture.caller,
          {.request_id = fmt::format("r{}", id), .model = "m", .prompt_tokens = 100});
      if (std::get<Permit>(permit).finish({.prompt = 100}, Outcome::kStop, nullptr)) {
        ++id;
        break;
      }
      std::this_thread::yield();
    }
  }
  while (fixture.policy->ledger()->stats().queued > 0) {
    std::this_thread::yield();
  }
  state.SetItemsProcessed(id);
  state.counters["entries_per_commit"] =
      static_cast<double>(id) / static_cast<double>(fixture.policy->ledger()->stats().commits);
}
BENCHMARK(ledger_entries)->Iterations(100'000)->UseRealTime();

}  // namespace
}  // namespace daybreak::access
