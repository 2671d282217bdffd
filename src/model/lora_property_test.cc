// SPDX-License-Identifier: Apache-2.0
// Determinism with adapters: the bits of a sequence depend on its ids and its own adapter alone.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/dispatch.h"
#include "kernels/matmul.h"
#include "model/lora_loader.h"
#include "model/lora_step.h"
#include "model/model_test_run.h"

namespace daybreak::model {
namespace {

using testing::Ids;
using testing::load_checkpoint;
using testing::Logits;
using testing::random_ids;
using testing::Rig;
using testing::same_bits;

struct LoraBitsKey {
  static constexpr const char* kKey = "lora_bits";
};
using LoraBits = testing::BitsTest<LoraBitsKey>;

LoraAdapterPtr load_adapter(const Model& model, const std::string& name) {
  auto adapter = load_lora(model, daybreak::testing::source_path("testdata/lora/" + name), name);
  EXPECT_TRUE(adapter) << (adapter ? "" : adapter.error().message);
  return adapter ? *adapter : nullptr;
}

struct Pairing {
  const char* checkpoint;
  const char* adapter;
};
constexpr std::array<Pairing, 4> kPairings = {{{"k3-all-on", "k3-patterns"},
                                               {"softplus-low-rank", "low-rank-rslora"},
                                               {"kimi-linear", "kimi"},
                                               {"odd-sizes", "odd"}}};

Logits append(Rig& rig, const Model& model, SequenceState& state, std::span<const TokenId> ids,
              const LoraAdapter* adapter) {
  Logits logits(ids.size() * model.config().vocab_size);
  std::array chunks = {Chunk{
      .state = &state, .ids = ids, .rows = LogitRows::kAll, .logits = logits, .adapter = adapter}};
  const Status status = rig.forward(chunks);
  EXPECT_TRUE(status) << (status ? "" : status.error().message);
  return logits;
}

Logits run(Rig& rig, const Model& model, std::span<const TokenId> ids, const LoraAdapter* adapter) {
  return append(rig, model, *rig.fresh(), ids, adapter);
}

TEST_F(LoraBits, DoNotDependOnChunksThreadsOrCapacity) {
  for (const Pairing& pairing : kPairings) {
    SCOPED_TRACE(pairing.adapter);
    const auto model = load_checkpoint(pairing.checkpoint);
    const auto adapter = load_adapter(*model, pairing.adapter);
    Rig rig(*model);
    const Ids ids = random_ids(*model, 75, 1);
    const Logits expected = run(rig, *model, ids, adapter.get());
    EXPECT_FALSE(same_bits(run(rig, *model, ids, nullptr), expected));
    for (const std::size_t split : {1u, 5u, 31u, 63u, 64u, 65u, 74u}) {
      const auto state = rig.fresh();
      Logits got = append(rig, *model, *state, std::span(ids).first(split), adapter.get());
      const Logits rest = append(rig, *model, *state, std::span(ids).subspan(split), adapter.get());
      got.insert(got.end(), rest.begin(), rest.end());
      ASSERT_TRUE(same_bits(got, expected)) << "split at " << split;
    }
    for (const std::size_t threads : {2u, 3u, 5u}) {
      Rig team(*model, 64, threads);
      ASSERT_TRUE(same_bits(run(team, *model, ids, adapter.get()), expected)) << threads;
    }
    for (const std::size_t capacity : {1u, 7u, 9u, 200u}) {
      Rig other(*model, capacity, 2);
      ASSERT_TRUE(same_bits(run(other, *model, ids, adapter.get()), expected)) << capacity;
    }
  }
}

TEST_F(LoraBits, DoNotDependOnTheInstructionSet) {
  for (const Pairing& pairing : kPairings) {
    SCOPED_TRACE(pairing.adapter);
    const auto model = load_checkpoint(pairing.checkpoint);
    const auto adapter = load_adapter(*model, pairing.adapter);
    Rig rig(*model);
    const Ids ids = random_ids(*model, 70, 2);
    ASSERT_TRUE(kernels::use("scalar"));
    const Logits expected = run(rig, *model, ids, adapter.get());
    for (const kernels::KernelTable* table : kernels::available()) {
      ASSERT_TRUE(kernels::use(table->isa));
      ASSERT_TRUE(same_bits(run(rig, *model, ids, adapter.get()), expected)) << table->isa;
    }
  }
}

// Two adapters and none in one batch, two neighbours with the same one, in changing order.
TEST_F(LoraBits, DoNotDependOnTheAdaptersOfOthersInTheBatch) {
  const auto model = load_checkpoint("k3-all-on");
  const auto all = load_adapter(*model, "k3-patterns");
  const auto some = load_adapter(*model, "k3-attention");
  const std::size_t vocab = model->config().vocab_size;
  const std::vector<const LoraAdapter*> adapters = {nullptr,    all.get(), all.get(),
                                                    some.get(), nullptr,   all.get()};
  const std::vector<std::size_t> lengths = {3, 17, 1, 66, 40, 9};
  std::vector<Ids> prompts;
  std::vector<Logits> expected;
  Rig alone(*model);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    prompts.push_back(random_ids(*model, lengths[i] + 4, 20 + static_cast<unsigned>(i)));
    // Rig::run knows no adapters: what a model without any computes.
    expected.push_back(adapters[i] == nullptr ? alone.run(prompts[i])
                                              : run(alone, *model, prompts[i], adapters[i]));
  }
  for (const std::size_t capacity : {5u, 16u, 64u}) {
    for (const std::size_t threads : {1u, 3u}) {
      Rig rig(*model, capacity, threads);
      std::vector<std::unique_ptr<SequenceState>> states;
      std::vector<Logits> got(lengths.size());
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        states.push_back(rig.fresh());
      }
      for (std::size_t step = 0; step <= 4; ++step) {
        std::vector<Chunk> chunks;
        std::vector<Logits> logits(lengths.size());
        for (std::size_t j = 0; j < lengths.size(); ++j) {
          const std::size_t i = (j + step) % lengths.size();
          const std::size_t first = step == 0 ? 0 : lengths[i] + step - 1;
          const std::size_t count = step == 0 ? lengths[i] : 1;
          logits[i].resize(count * vocab);
          chunks.push_back({.state = states[i].get(),
                            .ids = std::span(prompts[i]).subspan(first, count),
                            .rows = LogitRows::kAll,
                            .logits = logits[i],
                            .adapter = adapters[i]});
        }
        ASSERT_TRUE(rig.forward(chunks));
        for (std::size_t i = 0; i < lengths.size(); ++i) {
          got[i].insert(got[i].end(), logits[i].begin(), logits[i].end());
        }
      }
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        ASSERT_TRUE(same_bits(got[i], expected[i]))
            << "sequence " << i << ", capacity " << capacity << ", threads " << threads;
      }
    }
  }
}

// Guesses that are refused leave no trace of the adapter's products either.
TEST_F(LoraBits, DoNotDependOnGuesses) {
  const auto model = load_checkpoint("k3-all-on");
  const auto adapter = load_adapter(*model, "k3-patterns");
  const std::size_t vocab = model->config().vocab_size;
  Rig rig(*model);
  const Ids ids = random_ids(*model, 30, 3);
  const Logits expected = run(rig, *model, ids, adapter.get());
  const auto state = rig.fresh();
  ASSERT_TRUE(state->prepare_drafts(4));
  (void)append(rig, *model, *state, std::span(ids).first(20), adapter.get());
  Ids guessed = {ids[20], ids[21], ids[22], (ids[23] + 1) % static_cast<TokenId>(vocab)};
  Logits rows(guessed.size() * vocab);
  std::array chunks = {Chunk{.state = state.get(),
                             .ids = guessed,
                             .rows = LogitRows::kAll,
                             .logits = rows,
                             .draft_ids = 3,
                             .adapter = adapter.get()}};
  ASSERT_TRUE(rig.forward(chunks));
  state->accept(2);
  const Logits rest = append(rig, *model, *state, std::span(ids).subspan(23), adapter.get());
  EXPECT_TRUE(same_bits(rest, std::span(expected).subspan(23 * vocab)));
}

TEST(LoraStep, AddsTheScaledProductByTheRule) {
  constexpr std::size_t kRank = 5;
  constexpr std::size_t kIn = 531;  // more than a chunk of the dot product
  constexpr std::size_t kOut = 300;
  constexpr std::size_t kTokens = 11;
  std::mt19937 rng(5);
  std::normal_distribution<float> normal;
  const auto values = [&](std::size_t n) {
    std::vector<float> out(n);
    std::ranges::generate(out, [&] { return normal(rng); });
    return out;
  };
  const auto view = [](const std::vector<float>& w, std::size_t rows, std::size_t cols) {
    return MatrixView{.format = kernels::WeightFormat::kF32,
                      .data = reinterpret_cast<const std::byte*>(w.data()),
                      .scales = nullptr,
                      .rows = rows,
                      .cols = cols};
  };
  const auto a = values(kRank * kIn);
  const auto b = values(kOut * kRank);
  const auto x = values(kTokens * kIn);
  const auto before = values(kTokens * kOut);
  constexpr float kScale = 0.3f;
  auto got = before;
  add_low_rank(view(a, kRank, kIn), view(b, kOut, kRank), kScale, x.data(), kIn, kTokens,
               got.data(), kOut);
  for (std::size_t t = 0; t < kTokens; ++t) {
    std::array<float, kRank> low{};
    for (std::size_t i = 0; i < kRank; ++i) {
      low[i] = kernels::dot(a.data() + i * kIn, x.data() + t * kIn, kIn);
    }
    for (std::size_t r = 0; r < kOut; ++r) {
      const float d = kernels::dot(b.data() + r * kRank, low.data(), kRank);
      ASSERT_EQ(got[t * kOut + r], std::fma(kScale, d, before[t * kOut + r])) << t << ", " << r;
    }
  }
}

TEST(LoraForward, RefusesAnAdapterOfAnotherModel) {
  const auto model = load_checkpoint("k3-all-on");
  const auto other = load_checkpoint("kimi-linear");
  const auto adapter = load_adapter(*other, "kimi");
  Rig rig(*model);
  const Ids ids = random_ids(*model, 3, 1);
  const auto state = rig.fresh();
  Logits logits(model->config().vocab_size);
  std::array chunks = {
      Chunk{.state = state.get(), .ids = ids, .logits = logits, .adapter = adapter.get()}};
  const Status status = rig.forward(chunks);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "chunk 0: its adapter 'kimi' was loaded for another model");
  EXPECT_EQ(state->position(), 0u);
}

}  // namespace
}  // namespace daybreak::model
