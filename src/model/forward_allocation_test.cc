// SPDX-License-Identifier: Apache-2.0
// Decoding allocates nothing: a step's memory is its workspace. Replaces the global allocation
// functions of this test binary by counting ones.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

#include "model/lora_loader.h"
#include "model/model_test_run.h"

namespace {

std::atomic<std::size_t> g_allocations{0};

}  // namespace

void* operator new(std::size_t size) {
  ++g_allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace daybreak::model {
namespace {

TEST(ForwardAllocations, ADecodeStepMakesNone) {
  for (const char* name : {"k3-all-on", "grouped-softmax", "kimi-linear"}) {
    SCOPED_TRACE(name);
    const auto model = testing::load_checkpoint(name);
    testing::Rig rig(*model, 16);
    const auto a = rig.fresh();
    const auto b = rig.fresh();
    // Room for what follows, so that no page is taken on the way.
    ASSERT_TRUE(a->reserve(64));
    ASSERT_TRUE(b->reserve(64));
    testing::Logits logits(2 * model->config().vocab_size);
    const testing::Ids ids = testing::random_ids(*model, 40, 1);
    const auto step = [&](std::size_t i) {
      std::array chunks = {
          Chunk{.state = a.get(),
                .ids = std::span(ids).subspan(i, 1),
                .logits = std::span(logits).first(model->config().vocab_size)},
          Chunk{.state = b.get(),
                .ids = std::span(ids).subspan(i, 1),
                .logits = std::span(logits).last(model->config().vocab_size)},
      };
      return rig.forward(chunks).has_value();
    };
    ASSERT_TRUE(step(0));
    const std::size_t before = g_allocations;
    ASSERT_GT(before, 0u) << "the counting functions are not in use";
    bool good = true;
    for (std::size_t i = 1; i < 40; ++i) {
      good = good && step(i);
    }
    EXPECT_EQ(g_allocations - before, 0u);
    EXPECT_TRUE(good);
  }
}

TEST(ForwardAllocations, NorDoesOneWithAnAdapter) {
  const auto model = testing::load_checkpoint("k3-all-on");
  const auto adapter =
      load_lora(*model, daybreak::testing::source_path("testdata/lora/k3-patterns"), "a");
  ASSERT_TRUE(adapter) << adapter.error().message;
  testing::Rig rig(*model, 16);
  const auto a = rig.fresh();
  ASSERT_TRUE(a->reserve(64));
  testing::Logits logits(model->config().vocab_size);
  const testing::Ids ids = testing::random_ids(*model, 40, 1);
  const auto step = [&](std::size_t i) {
    std::array chunks = {Chunk{.state = a.get(),
                               .ids = std::span(ids).subspan(i, 1),
                               .logits = logits,
                               .adapter = adapter->get()}};
    return rig.forward(chunks).has_value();
  };
  ASSERT_TRUE(step(0));
  const std::size_t before = g_allocations;
  bool good = true;
  for (std::size_t i = 1; i < 40; ++i) {
    good = good && step(i);
  }
  EXPECT_EQ(g_allocations - before, 0u);
  EXPECT_TRUE(good);
}

}  // namespace
}  // namespace daybreak::model
