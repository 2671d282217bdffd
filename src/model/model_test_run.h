// SPDX-License-Identifier: Apache-2.0
#pragma once

// Running a small model in tests and comparing runs bit for bit. Test code only.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "model/model.h"
#include "testing/paths.h"

namespace daybreak::model::testing {

using Ids = std::vector<TokenId>;
using Logits = std::vector<float>;

inline std::unique_ptr<Model> load_checkpoint(const std::string& name) {
  auto model = Model::load(daybreak::testing::source_path("testdata/checkpoints/" + name));
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  return model ? *std::move(model) : nullptr;
}

inline Ids random_ids(const Model& model, std::size_t n, unsigned seed) {
  std::mt19937 rng(seed);
  Ids ids(n);
  for (TokenId& id : ids) {
    id = static_cast<TokenId>(rng() % model.config().vocab_size);
  }
  return ids;
}

// A model with the memory to run it. A `capacity` smaller than a prompt cuts it into several steps.
class Rig {
 public:
  explicit Rig(const Model& model, std::size_t capacity = 64, std::size_t threads = 1,
               ThreadTeam::StartHook on_start = nullptr)
      : model_(model),
        pool_(model.config(), {.slots = 8, .checkpoints = 8, .max_positions = 4096}),
        workspace_(model.config(), {.tokens = capacity}),
        team_(threads, on_start) {}

  [[nodiscard]] StatePool& pool() { return pool_; }
  [[nodiscard]] std::unique_ptr<SequenceState> fresh() { return *pool_.acquire(); }

  Status forward(std::span<Chunk> chunks) { return model_.forward(chunks, workspace_, team_); }

  // Appends `ids` to the state and returns the logits of all of them, [ids, vocab].
  Logits append(SequenceState& state, std::span<const TokenId> ids) {
    Logits logits(ids.size() * model_.config().vocab_size);
    std::array chunks = {
        Chunk{.state = &state, .ids = ids, .rows = LogitRows::kAll, .logits = logits}};
    const Status status = forward(chunks);
    EXPECT_TRUE(status) << (status ? "" : status.error().message);
    return logits;
  }

  // The same for a new sequence.
  Logits run(std::span<const TokenId> ids) { return append(*fresh(), ids); }

 private:
  const Model& model_;
  StatePool pool_;
  Workspace workspace_;
  ThreadTeam team_;
};

// Successful comparisons of same_bits in this process, for the figure that proofs print.
inline std::size_t equal_runs = 0;

// Compares bits, so that -0 and 0 differ, and stops at the first difference.
inline ::testing::AssertionResult same_bits(std::span<const float> got,
                                            std::span<const float> expected) {
  if (got.size() != expected.size()) {
    return ::testing::AssertionFailure() << got.size() << " values, expected " << expected.size();
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(got[i]) != std::bit_cast<std::uint32_t>(expected[i])) {
      return ::testing::AssertionFailure() << "value " << i << " of " << got.size() << ": "
                                           << got[i] << ", expected " << expected[i];
    }
  }
  ++equal_runs;
  return ::testing::AssertionSuccess();
}

// Test cases of determinism; the suite ends with the number of runs that were compared.
template <class Name>
class BitsTest : public ::testing::Test {
 protected:
  static void TearDownTestSuite() {
    if (equal_runs > 0) {
      std::printf("PROOF %s: %zu runs compared bit for bit, all equal\n", Name::kKey, equal_runs);
    }
  }
};

}  // namespace daybreak::model::testing
