// SPDX-License-Identifier: Apache-2.0
// Kernels against numbers made elsewhere: op fixtures recorded from a torch implementation (atol
// 1e-5, rtol 1e-4) and 64 rows of released MXFP4 weights (exact).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/attn_res.h"
#include "kernels/elementary.h"
#include "kernels/kernel_testing.h"
#include "testing/paths.h"

namespace daybreak::kernels {
namespace {

using Json = nlohmann::json;

class FixtureTest : public testing::PerTable {
 protected:
  static Json load(const std::string& name) {
    return Json::parse(daybreak::testing::read_file(daybreak::testing::shared_path(name)));
  }
  static std::vector<float> data(const Json& json, const char* name) {
    return json.at(name).at("data").get<std::vector<float>>();
  }
  static void expect_close(const std::vector<float>& got, const std::vector<float>& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const float tolerance = 1e-5f + 1e-4f * std::abs(expected[i]);
      ASSERT_NEAR(got[i], expected[i], tolerance) << "element " << i;
      worst_share_ = std::max(worst_share_, std::abs(got[i] - expected[i]) / tolerance);
    }
    ++arrays_;
  }
  static void TearDownTestSuite() {
    if (arrays_ > 0) {
      std::printf("PROOF ops_fixtures: %zu outputs, worst at %.2f of its tolerance\n", arrays_,
                  double{worst_share_});
    }
    if (exact_rows_ > 0) {
      std::printf("PROOF mxfp4_exact: %zu rows on %zu instruction sets, all exact\n", exact_rows_,
                  available().size());
    }
  }

  static inline std::size_t exact_rows_ = 0;  // of the last instruction set

 private:
  static inline std::size_t arrays_ = 0;
  static inline float worst_share_ = 0.0f;
};
DAYBREAK_PER_TABLE(FixtureTest);

#define LOAD_OR_SKIP(json, name)                                 \
  DAYBREAK_SHARED_OR_SKIP(daybreak::testing::shared_path(name)); \
  const Json json = load(name)

TEST_P(FixtureTest, RmsNorm) {
  LOAD_OR_SKIP(json, "fixtures/ops/rmsnorm.json");
  const std::vector<float> in = data(json, "in");
  const std::vector<float> weight = data(json, "weight");
  std::vector<float> out(in.size());
  for (std::size_t i = 0; i < in.size(); i += weight.size()) {
    table().rms_norm(in.data() + i, weight.data(), json.at("eps").get<float>(), weight.size(),
                     out.data() + i);
  }
  expect_close(out, data(json, "out"));
}

TEST_P(FixtureTest, SituGlu) {
  LOAD_OR_SKIP(json, "fixtures/ops/situ_glu.json");
  const std::vector<float> in = data(json, "in");  // [rows, gate | up]
  const std::vector<float> expected = data(json, "out");
  const std::size_t rows = json.at("in").at("shape").at(0).get<std::size_t>();
  const std::size_t width = expected.size() / rows;
  const float linear_beta = json.at("linear_beta").get<float>();
  std::vector<float> out(expected.size());
  for (std::size_t r = 0; r < rows; ++r) {
    const float* gate = in.data() + r * 2 * width;
    table().situ_mul(gate, gate + width, json.at("beta").get<float>(), &linear_beta,
                     out.data() + r * width, width);
  }
  expect_close(out, expected);
}

TEST_P(FixtureTest, ShortConvolution) {
  LOAD_OR_SKIP(json, "fixtures/ops/shortconv.json");
  const std::size_t channels = json.at("channels").get<std::size_t>();
  const std::size_t taps_count = json.at("kernel").get<std::size_t>();
  const std::vector<float> weight = data(json, "weight");
  const std::vector<float> next = data(json, "in_next");
  std::vector<float> inputs((taps_count - 1) * channels, 0.0f);  // zeros before the sequence
  const std::vector<float> in = data(json, "in");
  inputs.insert(inputs.end(), in.begin(), in.end());
  inputs.insert(inputs.end(), next.begin(), next.end());
  const std::size_t tokens = in.size() / channels + 1;
  std::vector<float> out(tokens * channels);
  for (std::size_t t = 0; t < tokens; ++t) {
    std::vector<const float*> taps;
    for (std::size_t j = 0; j < taps_count; ++j) {
      taps.push_back(inputs.data() + (t + j) * channels);
    }
    table().conv_silu(taps.data(), taps_count, weight.data(), 0, channels,
                      out.data() + t * channels);
  }
  std::vector<float> expected = data(json, "out");
  const std::vector<float> out_next = data(json, "out_next");
  expected.insert(expected.end(), out_next.begin(), out_next.end());
  expect_close(out, expected);
}

TEST_P(FixtureTest, KdaDecay) {
  LOAD_OR_SKIP(json, "fixtures/ops/kda_decay.json");
  const std::vector<float> z = data(json, "z");
  const std::vector<float> a_log = data(json, "A_log");
  const std::vector<float> dt_bias = data(json, "dt_bias");
  const float bound = json.at("lower_bound").get<float>();
  const std::size_t width = dt_bias.size() / a_log.size();
  std::vector<float> decay(z.size());
  for (std::size_t i = 0; i < z.size(); i += width) {
    const std::size_t head = i / width % a_log.size();
    table().kda_gate(z.data() + i, a_log[head], dt_bias.data() + head * width, &bound, width,
                     decay.data() + i);
  }
  expect_close(decay, data(json, "alpha"));
}

void check_recurrence(const KernelTable& table, const Json& json, std::vector<float>& out,
                      std::vector<float>& state) {
  const auto size = [&](const char* name) { return json.at(name).get<std::size_t>(); };
  const auto values = [&](const char* name) {
    return json.at(name).at("data").get<std::vector<float>>();
  };
  const std::size_t dk = size("d_k");
  const std::size_t dv = size("d_v");
  const std::size_t heads = size("H");
  std::vector<float> q = values("q");
  for (float& x : q) {
    x *= json.at("q_scale").get<float>();
  }
  const std::vector<float> k = values("k");
  const std::vector<float> v = values("v");
  const std::vector<float> alpha = values("alpha");
  const std::vector<float> beta = values("beta");
  state.assign(heads * dk * dv, 0.0f);
  out.resize(v.size());
  for (std::size_t i = 0; i < size("T") * heads; ++i) {
    const KdaInputs in = {.q = q.data() + i * dk,
                          .k = k.data() + i * dk,
                          .decay = alpha.data() + i * dk,
                          .v = v.data() + i * dv,
                          .beta = beta[i]};
    table.kda_step(state.data() + i % heads * dk * dv, in, dk, dv, out.data() + i * dv, nullptr);
  }
}

TEST_P(FixtureTest, KdaRecurrence) {
  for (const char* name : {"fixtures/ops/kda_recur1.json", "fixtures/ops/kda_recur8.json"}) {
    LOAD_OR_SKIP(json, name);
    std::vector<float> out;
    std::vector<float> state;
    check_recurrence(table(), json, out, state);
    expect_close(out, data(json, "out"));
    expect_close(state, data(json, "state_out"));
  }
}

TEST_P(FixtureTest, AttentionResiduals) {
  LOAD_OR_SKIP(json, "fixtures/ops/attnres.json");
  const std::vector<float> stream = data(json, "prefix_sum");
  const std::vector<float> blocks = data(json, "block_residual");  // [tokens, saved blocks, width]
  std::vector<float> weight = data(json, "norm_weight");
  const std::vector<float> projection = data(json, "proj_weight");
  for (std::size_t i = 0; i < weight.size(); ++i) {
    weight[i] *= projection[i];
  }
  const std::size_t width = weight.size();
  const std::size_t tokens = stream.size() / width;
  const std::size_t saved = blocks.size() / stream.size();
  std::vector<float> out(stream.size());
  for (std::size_t t = 0; t < tokens; ++t) {
    std::vector<const float*> sources;
    for (std::size_t j = 0; j < saved; ++j) {
      sources.push_back(blocks.data() + (t * saved + j) * width);
    }
    sources.push_back(stream.data() + t * width);
    table().attn_res_mix(sources.data(), sources.size(), weight.data(), json.at("eps").get<float>(),
                         width, out.data() + t * width);
  }
  expect_close(out, data(json, "out"));
}

TEST_P(FixtureTest, ReleasedMxfp4RowsDecodeExactly) {
  LOAD_OR_SKIP(json, "fixtures/mxfp4.json");
  const auto packed = json.at("packed").at("data").get<std::vector<std::uint8_t>>();
  const auto scales = json.at("scales").at("data").get<std::vector<std::uint8_t>>();
  const std::vector<float> expected = data(json, "expected");
  const std::size_t rows = json.at("rows").get<std::size_t>();
  const std::size_t cols = json.at("logical_width").get<std::size_t>();
  ASSERT_EQ(packed.size(), rows * cols / 2);
  ASSERT_EQ(expected.size(), rows * cols);
  const MatrixView w = {WeightFormat::kMxfp4, reinterpret_cast<const std::byte*>(packed.data()),
                        scales.data(), rows, cols};
  std::vector<float> row(cols);
  for (std::size_t r = 0; r < rows; ++r) {
    table().dequantise_row(w, r, row.data());
    for (std::size_t k = 0; k < cols; ++k) {
      ASSERT_EQ(row[k], expected[r * cols + k]) << "row " << r << " column " << k;
    }
  }
  // One-hot vectors through the product, two tokens for the other path.
  std::vector<float> x(2 * cols);
  std::vector<float> y(2 * rows);
  for (std::size_t k = 0; k < cols; k += 37) {
    std::fill(x.begin(), x.end(), 0.0f);
    x[k] = 1.0f;
    x[cols + k] = 1.0f;
    for (const std::size_t tokens : {1u, 2u}) {
      table().matmul(w, 0, rows, x.data(), cols, tokens, y.data(), rows);
      for (std::size_t r = 0; r < rows * tokens; ++r) {
        ASSERT_EQ(y[r], expected[r % rows * cols + k]) << "row " << r << " column " << k;
      }
    }
  }
  exact_rows_ = rows;
}

}  // namespace
}  // namespace daybreak::kernels
