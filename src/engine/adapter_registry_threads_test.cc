// SPDX-License-Identifier: Apache-2.0
// Adapters come and go while requests run with them: each answer is that of the adapter it started
// with, and nothing is left in memory.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "engine/adapter_registry.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_adapter.h"
#include "engine/fake_model.h"

namespace daybreak::engine {
namespace {

constexpr std::size_t kVersions = 4;
constexpr std::size_t kAsked = 60;  // of each thread

GenerateRequest adapter_request(const AdapterPtr& adapter) {
  GenerateRequest r;
  r.prompt.assign(70, 3);
  r.max_tokens = 8;
  r.adapter = adapter;
  return r;
}

TEST(AdapterRegistryThreads, LoadingAndUnloadingUnderLoad) {
  std::atomic<std::size_t> versions{0};
  AdapterRegistry registry(
      [&](const std::filesystem::path&, const std::string& name) -> Result<AdapterPtr> {
        return fake_adapter(name, std::to_string(versions++ % kVersions));
      },
      64);
  std::map<std::string, std::vector<TokenId>> expected;
  {
    FakeObserver observer;
    const auto engine = *Engine::start(std::make_unique<FakeModel>(FakeModelOptions{}, observer),
                                       {.prefix_reuse = PrefixReuse::kOff});
    for (std::size_t version = 0; version < kVersions; ++version) {
      AnswerCollector answer;
      const std::string digest = std::to_string(version);
      ASSERT_TRUE(engine->submit(adapter_request(fake_adapter("x", digest)), answer.fn()));
      answer.wait();
      expected[digest] = answer.ids();
    }
  }
  FakeObserver observer;
  const auto engine = *Engine::start(
      std::make_unique<FakeModel>(FakeModelOptions{.checkpoints = 4}, observer), EngineOptions{});
  std::atomic<bool> over{false};
  std::thread loader([&] {
    while (!over) {
      (void)registry.load("a", "p", 0, AdapterRegistry::IfLoaded::kReplace);
      (void)registry.load("b", "p", 0);
      (void)registry.unload("b");
      (void)engine->stats();
    }
  });
  std::vector<std::thread> clients;
  for (const char* name : {"a", "b", "a"}) {
    clients.emplace_back([&, name] {
      for (std::size_t n = 0; n < kAsked; ++n) {
        const AdapterPtr adapter = registry.find(name);
        if (adapter == nullptr) {
          std::this_thread::yield();
          continue;
        }
        AnswerCollector answer;
        ASSERT_TRUE(engine->submit(adapter_request(adapter), answer.fn()));
        answer.wait();
        EXPECT_EQ(answer.ids(), expected[adapter->digest()]);
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  over = true;
  loader.join();
  const std::weak_ptr<const model::LoraAdapter> last = registry.find("a");
  (void)registry.unload("a");
  engine->stop(std::chrono::seconds(60));
  EXPECT_TRUE(last.expired());
}

}  // namespace
}  // namespace daybreak::engine
