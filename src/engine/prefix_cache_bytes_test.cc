// SPDX-License-Identifier: Apache-2.0
// The bytes in the cache of a real model: complete when they are published, of the position they
// are published for, and never written again, whatever becomes of the sequence they come from.

#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/rng.h"
#include "engine/model_runner.h"
#include "engine/prefix_cache.h"
#include "model/shared_state.h"
#include "testing/paths.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;
using cache::kBlockTokens;

class PrefixCacheBytes : public ::testing::Test {
 protected:
  void SetUp() override {
    auto loaded = model::Model::load(testing::source_path("testdata/checkpoints/k3-all-on"));
    ASSERT_TRUE(loaded) << loaded.error().message;
    model_ = *std::move(loaded);
    runner_ = *ModelRunner::create(
        model_, {.max_sequences = 3, .max_positions = 2048, .max_checkpoints = 8});
    cache_ = std::make_unique<PrefixCache>(*runner_, PrefixCacheOptions{});
    Rng rng(7);
    for (std::size_t i = 0; i < 3 * kBlockTokens + 20; ++i) {
      ids_.push_back(rng.below(static_cast<std::uint32_t>(model_->config().vocab_size)));
    }
  }

  // A sequence that feeds ids_, and what it has in the cache.
  struct Donor {
    std::unique_ptr<Sequence> sequence;
    PrefixTrail trail;
    std::size_t prompt = 0;
  };
  Donor donor(std::size_t prompt) {
    Donor out{*runner_->acquire(ids_.size()), {}, prompt};
    cache_->name(out.trail, "", std::span(ids_).first(prompt));
    cache_->start(out.trail, 0, 0, prompt);
    return out;
  }
  void feed(Donor& donor, std::size_t until) {
    while (donor.sequence->position() < until) {
      const std::size_t at = donor.sequence->position();
      const std::size_t end = at < donor.prompt ? std::min(until, donor.prompt) : at + 1;
      const std::size_t count = PrefixCache::cut(donor.trail, at, end - at);
      ASSERT_TRUE(runner_->forward(
          std::vector<StepChunk>{{donor.sequence.get(), std::span(ids_).subspan(at, count), {}}}));
      cache_->advanced(donor.trail, *donor.sequence, at + count < donor.prompt,
                       [&](std::size_t first) {
                         return Ids(ids_.begin() + static_cast<std::ptrdiff_t>(first),
                                    ids_.begin() + static_cast<std::ptrdiff_t>(first) +
                                        static_cast<std::ptrdiff_t>(kBlockTokens));
                       });
    }
  }
  cache::PrefixTree::Match find() {
    PrefixTrail trail;
    cache_->name(trail, "", ids_);
    return cache_->find(trail, ids_.size());
  }
  static std::uint64_t hash_of(const cache::PrefixTree::Match& match) {
    const auto& state = *static_cast<const model::StateCheckpoint*>(match.checkpoint.get());
    std::uint64_t hash = fnv1a64(std::as_bytes(state.floats()));
    for (const cache::HeldPtr& held : match.pages) {
      const auto& page = *static_cast<const model::SharedPage*>(held.get());
      hash = fnv1a64(
          std::as_bytes(std::span(page.loan().data, page.arena()->layout().page_floats())), hash);
    }
    return hash;
  }
  // The row after all of ids_, of a sequence that goes on from `match` or from nothing.
  std::vector<float> row(const cache::PrefixTree::Match* match) {
    std::unique_ptr<Sequence> sequence =
        match == nullptr ? *runner_->acquire(ids_.size())
                         : *runner_->acquire_from({match->checkpoint, match->pages}, ids_.size());
    std::vector<float> out(model_->config().vocab_size);
    EXPECT_TRUE(runner_->forward(std::vector<StepChunk>{
        {sequence.get(), std::span(ids_).subspan(sequence->position()), out}}));
    return out;
  }

  std::shared_ptr<const model::Model> model_;
  std::unique_ptr<ModelRunner> runner_;
  std::unique_ptr<PrefixCache> cache_;
  Ids ids_;
};

TEST_F(PrefixCacheBytes, StayAsTheyAreWhileTheirDonorDecodesAndWhenItHasGone) {
  Donor one = donor(kBlockTokens + 10);
  feed(one, kBlockTokens + 10);
  const cache::PrefixTree::Match match = find();
  ASSERT_EQ(match.pages.size(), 1U);
  const std::uint64_t before = hash_of(match);
  for (std::size_t at = kBlockTokens + 11; at <= ids_.size(); ++at) {
    feed(one, at);
    ASSERT_EQ(hash_of(match), before) << "written at " << at;
  }
  EXPECT_EQ(row(&match), row(nullptr));
  one.sequence.reset();
  const Donor another = donor(10);  // has the memory that came back
  EXPECT_EQ(hash_of(match), before);
  const cache::PrefixTree::Match last = find();
  EXPECT_EQ(last.pages.size(), 3U) << "the checkpoint has moved with the answer";
  EXPECT_EQ(row(&last), row(nullptr));
}

TEST_F(PrefixCacheBytes, AreThoseOfTheirPositionWhereverTheDonorStops) {
  const std::vector<float> expected = row(nullptr);
  for (const std::size_t stops :
       {kBlockTokens - 1, kBlockTokens, kBlockTokens + 1, 2 * kBlockTokens - 1, 2 * kBlockTokens,
        2 * kBlockTokens + 1, 3 * kBlockTokens - 1, 3 * kBlockTokens, 3 * kBlockTokens + 1}) {
    SCOPED_TRACE(stops);
    cache_->erase_all();
    {
      Donor one = donor(10);  // the rest is its answer, token by token
      feed(one, stops);
    }  // is aborted
    EXPECT_EQ(cache_->stats().blocks, stops / kBlockTokens)
        << "none is there before it is complete";
    const cache::PrefixTree::Match match = find();
    ASSERT_EQ(match.pages.size(), stops / kBlockTokens);
    if (!match.pages.empty()) {
      const auto& state = *static_cast<const model::StateCheckpoint*>(match.checkpoint.get());
      EXPECT_EQ(state.position(), match.pages.size() * kBlockTokens);
      EXPECT_EQ(row(&match), expected);
    }
  }
}

}  // namespace
}  // namespace daybreak::engine
