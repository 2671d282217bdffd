// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reading golden cases and checking a model against them. Test code only.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/lora_loader.h"
#include "model/model.h"

namespace daybreak::model::testing {

// A prompt, the reference's logits after it, and what the reference says greedily next.
struct GoldenCase {
  std::vector<TokenId> ids;
  std::vector<double> last_logits;
  std::vector<TokenId> greedy;
  double margin = 1;  // smallest gap between the two best logits on the way; 1 where not given
};

// Reads {"cases":[...]}. A case has "ids", or "n" for tiny-k3's formula (i * 7919 + 13) % 512.
inline std::vector<GoldenCase> read_golden_cases(const std::filesystem::path& path) {
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.load(path.string());
  std::vector<GoldenCase> cases;
  for (const auto item : root["cases"].get_array()) {
    GoldenCase golden;
    std::uint64_t n = 0;
    if (item["n"].get(n) == simdjson::SUCCESS) {
      for (std::uint64_t i = 0; i < n; ++i) {
        golden.ids.push_back(static_cast<TokenId>((i * 7919 + 13) % 512));
      }
    } else {
      for (const auto id : item["ids"].get_array()) {
        golden.ids.push_back(static_cast<TokenId>(id.get_uint64().value()));
      }
    }
    for (const auto value : item["last_logits"].get_array()) {
      golden.last_logits.push_back(value.get_double().value());
    }
    for (const auto id : item["greedy"].get_array()) {
      golden.greedy.push_back(static_cast<TokenId>(id.get_uint64().value()));
    }
    if (double margin = 0; item["margin"].get(margin) == simdjson::SUCCESS) {
      golden.margin = margin;
    }
    cases.push_back(std::move(golden));
  }
  return cases;
}

// Returns |got - expected| / |expected|, both as root mean squares.
inline double relative_rms(std::span<const float> got, std::span<const double> expected) {
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = double{got[i]} - expected[i];
    error += difference * difference;
    norm += expected[i] * expected[i];
  }
  return std::sqrt(error / norm);
}

inline TokenId argmax(std::span<const float> logits) {
  return static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin());
}

// The promise of issue "first token": last logits within 2e-5, and the greedy ids equal wherever
// the reference is sure of them.
inline constexpr double kMaxRelativeRms = 2e-5;
inline constexpr double kSureMargin = 1e-3;

// What the checks of one or several checkpoints came to.
struct GoldenTotals {
  double worst_rms = 0;
  std::size_t checkpoints = 0;
  std::size_t prompts = 0;
  std::size_t ids_equal = 0;
  std::size_t ids_compared = 0;

  [[nodiscard]] std::string rms_figure() const {
    std::array<char, 128> text{};
    std::snprintf(text.data(), text.size(), "max %.2g over %zu prompts of %zu checkpoints",
                  worst_rms, prompts, checkpoints);
    return text.data();
  }
  [[nodiscard]] std::string ids_figure() const {
    return std::to_string(ids_equal) + " of " + std::to_string(ids_compared) + " ids equal";
  }
};

// Checks every case against the checkpoint in `dir`, with the adapter in `lora` unless that is
// empty, and adds what it saw to `totals`.
inline void check_golden_cases(const std::filesystem::path& dir,
                               const std::vector<GoldenCase>& cases, GoldenTotals& totals,
                               const std::filesystem::path& lora = {}) {
  auto loaded = Model::load(dir);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Model& model = **loaded;
  LoraAdapterPtr adapter;
  if (!lora.empty()) {
    auto read = load_lora(model, lora, "golden");
    ASSERT_TRUE(read) << read.error().message;
    adapter = *std::move(read);
  }
  EXPECT_FALSE(cases.empty());
  StatePool pool(model.config(), {.slots = 1, .max_positions = 1024});
  Workspace workspace(model.config());
  ThreadTeam team(1);
  std::vector<float> logits(model.config().vocab_size);
  ++totals.checkpoints;
  for (const GoldenCase& golden : cases) {
    SCOPED_TRACE(::testing::Message() << dir << ", prompt of " << golden.ids.size());
    auto state = *pool.acquire();
    const auto run = [&](std::span<const TokenId> ids) {
      std::array chunks = {
          Chunk{.state = state.get(), .ids = ids, .logits = logits, .adapter = adapter.get()}};
      const Status status = model.forward(chunks, workspace, team);
      EXPECT_TRUE(status) << (status ? "" : status.error().message);
    };
    run(golden.ids);
    const double rms = relative_rms(logits, golden.last_logits);
    EXPECT_LT(rms, kMaxRelativeRms);
    totals.worst_rms = std::max(totals.worst_rms, rms);
    ++totals.prompts;
    if (golden.margin > kSureMargin) {
      std::vector<TokenId> greedy = {argmax(logits)};
      while (greedy.size() < golden.greedy.size()) {
        run(std::span(greedy).last(1));
        greedy.push_back(argmax(logits));
      }
      EXPECT_EQ(greedy, golden.greedy);
      totals.ids_compared += golden.greedy.size();
      for (std::size_t i = 0; i < golden.greedy.size(); ++i) {
        totals.ids_equal += greedy[i] == golden.greedy[i] ? 1 : 0;
      }
    }
  }
}

}  // namespace daybreak::model::testing
