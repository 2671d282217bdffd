// SPDX-License-Identifier: Apache-2.0
// Determinism by equality: a sequence's logits depend on its ids alone, bit for bit.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/dispatch.h"
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
  static constexpr const char* kKey = "model_bits";
};
using ForwardBits = testing::BitsTest<BitsKey>;

// Between them: KDA and MLA, both gates, with and without AttnRes, latent, groups, odd sizes.
const std::vector<std::string> kCheckpoints = {"k3-all-on", "softplus-low-rank", "kimi-linear",
                                               "odd-sizes", "grouped-softmax"};

TEST_F(ForwardBits, DoNotDependOnWhereThePromptIsSplit) {
  for (const std::string& name : kCheckpoints) {
    SCOPED_TRACE(name);
    const auto model = load_checkpoint(name);
    Rig rig(*model);
    const Ids ids = random_ids(*model, 70, 1);
    const Logits expected = rig.run(ids);
    for (std::size_t split = 1; split < ids.size(); ++split) {
      const auto state = rig.fresh();
      Logits got = rig.append(*state, std::span(ids).first(split));
      const Logits rest = rig.append(*state, std::span(ids).subspan(split));
      got.insert(got.end(), rest.begin(), rest.end());
      ASSERT_TRUE(same_bits(got, expected)) << "split at " << split;
    }
  }
}

TEST_F(ForwardBits, AreThoseOfOneTokenAtATime) {
  for (const std::string& name : kCheckpoints) {
    SCOPED_TRACE(name);
    const auto model = load_checkpoint(name);
    Rig rig(*model);
    const Ids ids = random_ids(*model, 131, 2);
    const auto state = rig.fresh();
    Logits got;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const Logits row = rig.append(*state, std::span(ids).subspan(i, 1));
      got.insert(got.end(), row.begin(), row.end());
    }
    ASSERT_TRUE(same_bits(got, rig.run(ids)));
  }
}

TEST_F(ForwardBits, DoNotDependOnTheWorkspaceCapacity) {
  for (const std::string& name : kCheckpoints) {
    SCOPED_TRACE(name);
    const auto model = load_checkpoint(name);
    const Ids ids = random_ids(*model, 130, 3);
    const Logits expected = Rig(*model, 64).run(ids);
    for (const std::size_t capacity : {1u, 7u, 130u, 200u}) {
      ASSERT_TRUE(same_bits(Rig(*model, capacity).run(ids), expected)) << capacity;
    }
  }
}

TEST_F(ForwardBits, DoNotDependOnTheOtherSequencesOfABatch) {
  for (const std::string& name : kCheckpoints) {
    SCOPED_TRACE(name);
    const auto model = load_checkpoint(name);
    const std::size_t vocab = model->config().vocab_size;
    const std::vector<std::size_t> lengths = {1, 66, 3, 17, 40};
    std::vector<Ids> prompts;
    std::vector<Logits> expected;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      prompts.push_back(random_ids(*model, lengths[i] + 5, 10 + static_cast<unsigned>(i)));
      expected.push_back(Rig(*model).run(prompts.back()));
    }
    for (const std::size_t capacity : {5u, 16u, 64u}) {
      Rig rig(*model, capacity);
      std::vector<std::unique_ptr<SequenceState>> states;
      std::vector<Logits> got(lengths.size());
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        states.push_back(rig.fresh());
      }
      // One prefill of everybody, then five decode steps, in changing order.
      for (std::size_t step = 0; step <= 5; ++step) {
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
                            .logits = logits[i]});
        }
        ASSERT_TRUE(rig.forward(chunks));
        for (std::size_t i = 0; i < lengths.size(); ++i) {
          got[i].insert(got[i].end(), logits[i].begin(), logits[i].end());
        }
      }
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        ASSERT_TRUE(same_bits(got[i], expected[i]))
            << "sequence " << i << ", capacity " << capacity;
      }
    }
  }
}

TEST_F(ForwardBits, DoNotDependOnTheInstructionSet) {
  for (const std::string& name : kCheckpoints) {
    SCOPED_TRACE(name);
    const auto model = load_checkpoint(name);
    Rig rig(*model);
    const Ids ids = random_ids(*model, 80, 4);
    ASSERT_TRUE(kernels::use("scalar"));
    const Logits expected = rig.run(ids);
    for (const kernels::KernelTable* table : kernels::available()) {
      ASSERT_TRUE(kernels::use(table->isa));
      ASSERT_TRUE(same_bits(rig.run(ids), expected)) << table->isa;
    }
  }
}

TEST_F(ForwardBits, DoNotDependOnWhatASlotHeldBefore) {
  for (const std::string& name : kCheckpoints) {
    SCOPED_TRACE(name);
    const auto model = load_checkpoint(name);
    const Ids ids = random_ids(*model, 67, 5);
    const Logits expected = Rig(*model).run(ids);
    StatePool pool(model->config(), {.slots = 1, .max_positions = 192});
    Workspace workspace(model->config());
    ThreadTeam team(1);
    for (unsigned round = 0; round < 3; ++round) {
      // The one slot and its pages come back poisoned from the previous round.
      const auto state = *pool.acquire();
      Logits logits(ids.size() * model->config().vocab_size);
      std::array chunks = {
          Chunk{.state = state.get(), .ids = ids, .rows = LogitRows::kAll, .logits = logits}};
      ASSERT_TRUE(model->forward(chunks, workspace, team));
      ASSERT_TRUE(same_bits(logits, expected)) << "round " << round;
      const Ids more = random_ids(*model, 100, round);
      Logits row(model->config().vocab_size);
      std::array next = {Chunk{.state = state.get(), .ids = more, .logits = row}};
      ASSERT_TRUE(model->forward(next, workspace, team));
    }
  }
}

TEST_F(ForwardBits, DoNotDependOnSavingAndRestoring) {
  for (const std::string& name : kCheckpoints) {
    SCOPED_TRACE(name);
    const auto model = load_checkpoint(name);
    Rig rig(*model);
    Rig elsewhere(*model, 9);
    const Ids ids = random_ids(*model, 140, 6);
    const std::size_t vocab = model->config().vocab_size;
    const Logits expected = rig.run(ids);
    for (const std::size_t cut : {1u, 2u, 3u, 63u, 64u, 65u, 128u, 139u}) {
      const auto state = rig.fresh();
      (void)rig.append(*state, std::span(ids).first(cut));
      const auto restored = elsewhere.fresh();
      ASSERT_TRUE(restored->restore(state->save()));
      ASSERT_EQ(restored->position(), cut);
      const Logits rest = elsewhere.append(*restored, std::span(ids).subspan(cut));
      ASSERT_TRUE(same_bits(rest, std::span(expected).subspan(cut * vocab))) << "cut at " << cut;
    }
  }
}

TEST_F(ForwardBits, OfTheLastRowAreThoseOfAllRows) {
  const auto model = load_checkpoint("k3-all-on");
  const std::size_t vocab = model->config().vocab_size;
  Rig rig(*model, 7);
  const Ids ids = random_ids(*model, 23, 7);
  const Logits expected = rig.run(ids);
  const auto state = rig.fresh();
  std::array none = {
      Chunk{.state = state.get(), .ids = std::span(ids).first(9), .rows = LogitRows::kNone}};
  ASSERT_TRUE(rig.forward(none));
  Logits last(vocab);
  std::array chunks = {
      Chunk{.state = state.get(), .ids = std::span(ids).subspan(9), .logits = last}};
  ASSERT_TRUE(rig.forward(chunks));
  EXPECT_TRUE(same_bits(last, std::span(expected).last(vocab)));
}

// Later tokens of a prompt must not reach earlier ones, through no buffer.
TEST_F(ForwardBits, DoNotDependOnLaterTokens) {
  const auto model = load_checkpoint("k3-all-on");
  const std::size_t vocab = model->config().vocab_size;
  Rig rig(*model);
  const Ids ids = random_ids(*model, 90, 8);
  const Logits expected = rig.run(ids);
  Ids changed = ids;
  for (std::size_t i = 45; i < changed.size(); ++i) {
    changed[i] = (changed[i] + 1) % static_cast<TokenId>(vocab);
  }
  const Logits got = rig.run(changed);
  EXPECT_TRUE(same_bits(std::span(got).first(45 * vocab), std::span(expected).first(45 * vocab)));
  EXPECT_FALSE(same_bits(std::span(got).last(vocab), std::span(expected).last(vocab)));
}

// Several super-tiles of 4,096 positions: decoding across the boundary equals one long prefill.
TEST_F(ForwardBits, HoldAcrossSuperTiles) {
  const auto model = load_checkpoint("all-mla");
  const std::size_t vocab = model->config().vocab_size;
  const Ids ids = random_ids(*model, 4096 + 70, 9);
  const auto run = [&](std::size_t capacity, std::size_t first_chunk) {
    StatePool pool(model->config(), {.slots = 1, .max_positions = 8192});
    Workspace workspace(model->config(), {.tokens = capacity});
    ThreadTeam team(1);
    const auto state = *pool.acquire();
    std::array prefill = {Chunk{
        .state = state.get(), .ids = std::span(ids).first(first_chunk), .rows = LogitRows::kNone}};
    EXPECT_TRUE(model->forward(prefill, workspace, team));
    Logits last(vocab);
    std::array rest = {
        Chunk{.state = state.get(), .ids = std::span(ids).subspan(first_chunk), .logits = last}};
    EXPECT_TRUE(model->forward(rest, workspace, team));
    return last;
  };
  const Logits expected = run(64, 1);
  EXPECT_TRUE(same_bits(run(64, 4095), expected));
  EXPECT_TRUE(same_bits(run(31, 4097), expected));
}

}  // namespace
}  // namespace daybreak::model
