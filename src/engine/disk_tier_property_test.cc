// SPDX-License-Identifier: Apache-2.0
// Whatever is stored, evicted, damaged, read back and outlives a restart: every answer of a real
// model has the bits it has from an engine that keeps nothing.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "base/rng.h"
#include "cache/disk_store_testing.h"
#include "engine/engine.h"
#include "engine/model_runner.h"
#include "testing/paths.h"

namespace daybreak::engine {
namespace {

using Ids = std::vector<TokenId>;
using cache::kBlockTokens;

// Ids and the bits of their log-probabilities.
struct BitsAndCached {
  std::vector<TokenLogprob> tokens;
  std::size_t cached = 0;
  bool done = false;
};

// Submits all and waits for all.
std::vector<BitsAndCached> ask_all(Engine& engine, const std::vector<GenerateRequest>& requests) {
  std::vector<BitsAndCached> answers(requests.size());
  std::mutex mutex;
  std::condition_variable changed;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_TRUE(engine.submit(requests[i], [&, i](const Update& update) {
      const std::lock_guard lock(mutex);
      for (const GeneratedToken& token : update.tokens) {
        answers[i].tokens.push_back({token.id, token.logprob});
      }
      answers[i].cached = update.usage.cached_tokens;
      answers[i].done = update.finish.has_value();
      changed.notify_all();
    }));
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return std::ranges::all_of(answers, &BitsAndCached::done); });
  return answers;
}

struct Totals {  // of all models
  std::size_t answers = 0;
  std::size_t loads = 0;
  std::size_t failed = 0;
  std::size_t damaged = 0;
};

class DiskTierBits : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr std::size_t kTurns = 5;

  void SetUp() override {
    auto loaded = model::Model::load(daybreak::testing::source_path(GetParam()));
    ASSERT_TRUE(loaded) << loaded.error().message;
    model_ = *std::move(loaded);
    auto runner = *ModelRunner::create(model_, {.max_sequences = 3, .max_positions = 3 * 512});
    plain_ = *Engine::start(std::move(runner), {.prefix_reuse = PrefixReuse::kOff});
  }
  // With too little memory for what it is asked, so that the disk is.
  std::unique_ptr<Engine> start(std::size_t step_tokens, std::uint64_t max_bytes) {
    auto runner = *ModelRunner::create(
        model_, {.threads = 1, .max_sequences = 2, .max_positions = 2 * 512, .max_checkpoints = 2});
    EngineOptions options;
    options.step_tokens = step_tokens;
    options.disk = DiskOptions{.directory = directory_.path(),
                               .max_bytes = max_bytes,
                               .keep = cache::Keep::kParts,
                               .min_tokens = kBlockTokens};
    return *Engine::start(std::move(runner), options);
  }
  std::uint64_t part_bytes() {
    auto runner = *ModelRunner::create(model_, {.max_positions = 64, .max_checkpoints = 1});
    return runner->part_sizes()->block + runner->part_sizes()->checkpoint;
  }
  // Damages about one file in six, somewhere.
  void damage(Rng& rng) {
    for (const auto& file : directory_.files()) {
      if (rng.below(6) != 0) {
        continue;
      }
      std::string bytes = daybreak::testing::read_file(file);
      const std::size_t at = rng.below(static_cast<std::uint32_t>(bytes.size()));
      if (rng.below(4) == 0) {
        bytes.resize(at);
      } else {
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
      }
      std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
      ++damaged_;
    }
  }
  GenerateRequest request(Rng& rng, const Ids& prompt) {
    GenerateRequest r;
    r.prompt = prompt;
    r.max_tokens = 1 + rng.below(40);
    r.sampling.seed = rng.below(1000);
    r.sampling.logprobs = 0;
    return r;
  }
  void append(Rng& rng, std::size_t count, Ids& ids) {
    for (std::size_t i = 0; i < count; ++i) {
      ids.push_back(rng.below(static_cast<std::uint32_t>(model_->config().vocab_size)));
    }
  }

  static void TearDownTestSuite() {
    std::printf(
        "PROOF disk_tier_bits: %zu answers equal, %zu loads, %zu failed, %zu damaged files\n",
        totals_.answers, totals_.loads, totals_.failed, totals_.damaged);
  }

  static inline Totals totals_;

  std::shared_ptr<const model::Model> model_;
  std::unique_ptr<Engine> plain_;
  cache::testing::TemporaryDirectory directory_;
  std::size_t damaged_ = 0;
};

TEST_P(DiskTierBits, AnswersAreTheSameWithDiskDamageAndRestarts) {
  std::uint64_t loads = 0;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    Rng rng(seed);
    const std::uint64_t bytes = part_bytes() * (seed == 0 ? 200 : 7) + 65'536;
    auto engine = start(seed == 0 ? 33 : 64, bytes);
    std::array<Ids, 4> conversations;
    append(rng, 70, conversations[0]);
    conversations[1] = conversations[0];  // a beginning in common
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      if (turn > 1) {
        loads += engine->stats().disk->loads;
        failed += engine->stats().disk->failed_loads;
        engine.reset();
        if (turn > 2) {
          damage(rng);
        }
        engine = start(seed == 0 ? 64 : 7, bytes);
      }
      std::vector<GenerateRequest> requests;
      for (Ids& prompt : conversations) {
        append(rng, 10 + rng.below(50), prompt);
        requests.push_back(request(rng, prompt));
      }
      const auto got = ask_all(*engine, requests);
      const auto expected = ask_all(*plain_, requests);
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].tokens, expected[i].tokens) << "seed " << seed << " turn " << turn;
        ++totals_.answers;
        for (const TokenLogprob& token : got[i].tokens) {
          conversations[i].push_back(token.id);
        }
      }
      EXPECT_LE(engine->stats().disk->bytes, bytes);
    }
    loads += engine->stats().disk->loads;
    failed += engine->stats().disk->failed_loads;
    engine.reset();
    std::filesystem::remove_all(directory_.path() / "prefix-cache");
  }
  EXPECT_GT(loads, 5U);
  EXPECT_GT(damaged_, 3U);
  totals_.loads += loads;
  totals_.failed += failed;
  totals_.damaged += damaged_;
}

// One place at a time, so that it is known which part a load meets.
TEST_P(DiskTierBits, ADamagedFileIsNeverAnAnswer) {
  Rng rng(3);
  Ids prompt;
  append(rng, 2 * kBlockTokens + 9, prompt);
  const GenerateRequest asked = request(rng, prompt);
  const auto expected = ask_all(*plain_, {asked});
  {
    const auto engine = start(64, 1 << 30);
    ask_all(*engine, {asked});
  }
  std::vector<std::string> good;
  const auto files = directory_.files();
  ASSERT_EQ(files.size(), 3U);
  for (const auto& file : files) {
    good.push_back(daybreak::testing::read_file(file));
  }
  const std::string key =
      daybreak::testing::read_file(directory_.path() / "prefix-cache" / "store");
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (int place = 0; place < 6; ++place) {
      std::filesystem::remove_all(directory_.path() / "prefix-cache");
      std::filesystem::create_directory(directory_.path() / "prefix-cache");
      std::filesystem::permissions(directory_.path() / "prefix-cache",
                                   std::filesystem::perms{0700});
      const auto store = directory_.path() / "prefix-cache" / "store";
      std::ofstream(store) << key;
      std::filesystem::permissions(store, std::filesystem::perms{0600});
      for (std::size_t j = 0; j < files.size(); ++j) {
        std::string bytes = good[j];
        if (j == i) {
          const std::size_t at =
              place == 0 ? bytes.size() - 1 : rng.below(static_cast<std::uint32_t>(bytes.size()));
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
        }
        std::ofstream(files[j], std::ios::binary) << bytes;
      }
      const auto engine = start(64, 1 << 30);
      const auto got = ask_all(*engine, {asked});
      EXPECT_EQ(got[0].tokens, expected[0].tokens) << files[i] << " " << place;
      EXPECT_EQ(engine->stats().disk->damaged, 1U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, DiskTierBits,
                         ::testing::Values("models/nano", "testdata/checkpoints/k3-all-on",
                                           "testdata/checkpoints/all-kda-bf16",
                                           "testdata/checkpoints/all-mla"));

}  // namespace
}  // namespace daybreak::engine
