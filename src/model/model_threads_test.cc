// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernels/float_environment.h"
#include "model/model_test_run.h"

namespace daybreak::model {
namespace {

using testing::Ids;
using testing::load_checkpoint;
using testing::Logits;
using testing::random_ids;
using testing::Rig;
using testing::same_bits;

struct BitsKey {
  static constexpr const char* kKey = "model_bits_threads";
};
using ForwardThreads = testing::BitsTest<BitsKey>;

TEST_F(ForwardThreads, BitsDoNotDependOnTheirNumber) {
  for (const char* name : {"k3-all-on", "softplus-low-rank", "odd-sizes"}) {
    SCOPED_TRACE(name);
    const auto model = load_checkpoint(name);
    const Ids ids = random_ids(*model, 70, 1);
    const Logits expected = Rig(*model, 64, 1).run(ids);
    for (const std::size_t threads : {2u, 3u, 7u}) {
      Rig rig(*model, 64, threads);
      ASSERT_TRUE(same_bits(rig.run(ids), expected)) << threads;
      const auto state = rig.fresh();
      Logits got;
      for (std::size_t i = 0; i < 20; ++i) {
        const Logits row = rig.append(*state, std::span(ids).subspan(i, 1));
        got.insert(got.end(), row.begin(), row.end());
      }
      ASSERT_TRUE(same_bits(got, std::span(expected).first(got.size()))) << threads;
    }
  }
}

#if defined(__x86_64__)
// New threads inherit the environment of the one that starts them, so the hook has to act on them,
// and forward() on its caller.
TEST_F(ForwardThreads, BitsDoNotDependOnTheCallersFloatEnvironment) {
  const auto model = load_checkpoint("k3-all-on");
  const Ids ids = random_ids(*model, 40, 3);
  const Logits expected = Rig(*model, 64, 1).run(ids);
  const unsigned before = _mm_getcsr();
  _mm_setcsr(0xffc0u);  // flush to zero, denormals are zero, round toward zero
  Rig rig(*model, 64, 3, kernels::set_float_environment);
  _mm_setcsr(0xffc0u);
  const Logits got = rig.run(ids);
  _mm_setcsr(before);
  EXPECT_TRUE(same_bits(got, expected));
}
#endif

TEST_F(ForwardThreads, OneModelServesSeveralAtOnce) {
  const auto model = load_checkpoint("k3-all-on");
  std::vector<Ids> prompts;
  std::vector<Logits> expected;
  for (unsigned i = 0; i < 3; ++i) {
    prompts.push_back(random_ids(*model, 20 + 10 * i, i));
    expected.push_back(Rig(*model).run(prompts.back()));
  }
  std::vector<Logits> got(prompts.size());
  {
    std::vector<std::jthread> users;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      users.emplace_back([&, i] { got[i] = Rig(*model, 8, 1 + i % 2).run(prompts[i]); });
    }
  }
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_TRUE(same_bits(got[i], expected[i])) << i;
  }
}

TEST(StatePoolThreads, ManyThreadsShareOnePool) {
  const auto model = load_checkpoint("k3-all-on");
  StatePool pool(model->config(), {.slots = 4, .max_positions = 64 * 8});
  {
    std::vector<std::jthread> users;
    for (std::size_t i = 0; i < 4; ++i) {
      users.emplace_back([&] {
        for (int round = 0; round < 50; ++round) {
          const auto state = *pool.acquire(64);
          ASSERT_TRUE(state->reserve(64));
          state->latent_tile(0, 0)[0] = 1.0f;
          (void)state->reserve(128);  // may or may not succeed
        }
      });
    }
  }
  EXPECT_EQ(pool.free_slots(), 4u);
  EXPECT_EQ(pool.free_positions(), 64u * 8);
}

}  // namespace
}  // namespace daybreak::model
