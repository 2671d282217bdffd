// SPDX-License-Identifier: Apache-2.0
// Layers against the public op fixtures: weights, inputs and outputs of each layer type from an
// independent implementation, atol 1e-5 + rtol 1e-4. Those fixtures use eps 1e-5 in the low-rank
// norms.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/forward_pass.h"
#include "testing/paths.h"

namespace daybreak::model {
namespace {

constexpr float kFixtureEps = 1e-5f;

// A fixture's tensors by name, kept alive for the views into them.
class Fixture {
 public:
  explicit Fixture(const std::string& name) {
    path_ = testing::shared_path("fixtures/ops/" + name + ".json");
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  void load() {
    root_ = parser_.load(path_.string());
    for (const auto field : root_.get_object()) {
      simdjson::dom::array data;
      if (field.value.is_object() && field.value["data"].get(data) == simdjson::SUCCESS) {
        std::vector<float>& values = tensors_[std::string(field.key)];
        for (const auto number : data) {
          values.push_back(static_cast<float>(number.get_double().value()));
        }
      }
    }
  }

  const std::vector<float>& tensor(const std::string& name) { return tensors_.at(name); }
  MatrixView matrix(const std::string& name, std::size_t rows, std::size_t cols) {
    const std::vector<float>& values = tensor(name);
    EXPECT_EQ(values.size(), rows * cols) << name;
    return {.format = kernels::WeightFormat::kF32,
            .data = reinterpret_cast<const std::byte*>(values.data()),
            .scales = nullptr,
            .rows = rows,
            .cols = cols};
  }

 private:
  std::filesystem::path path_;
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
  std::map<std::string, std::vector<float>> tensors_;
};

// Prints how near the fixtures' tolerance any output came, after all tests of the process.
class LayerProof : public ::testing::Environment {
 public:
  void TearDown() override {
    if (arrays > 0) {
      std::printf("PROOF layer_fixtures: %zu outputs, worst at %.2f of its tolerance\n", arrays,
                  worst_share);
    }
  }
  static inline std::size_t arrays = 0;
  static inline double worst_share = 0;
};
const auto* const kLayerProof =
    ::testing::AddGlobalTestEnvironment(std::make_unique<LayerProof>().release());

void expect_close(const std::vector<float>& expected, const float* got) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double tolerance = 1e-5 + 1e-4 * std::abs(expected[i]);
    ASSERT_NEAR(got[i], expected[i], tolerance) << "at " << i;
    const double error = std::abs(double{got[i]} - double{expected[i]});
    LayerProof::worst_share = std::max(LayerProof::worst_share, error / tolerance);
  }
  ++LayerProof::arrays;
}

// The dimensions of the fixtures' MANIFEST.json. `layers` are made all KDA or all MLA.
ModelConfig fixture_config(std::size_t layers, bool kda) {
  ModelConfig c;
  c.vocab_size = 256;
  c.hidden_size = 128;
  c.layers = layers;
  c.intermediate_size = 96;
  c.rms_norm_eps = 1e-5f;
  c.activation = Activation::kSitu;
  c.situ_beta = 4.0f;
  c.situ_linear_beta = 25.0f;
  c.attn_res_block_size = 3;
  c.kda_layers.assign(layers, kda ? 1 : 0);
  c.kda = {.heads = 4,
           .head_dim = 16,
           .conv_kernel = 4,
           .gate_lower_bound = -5.0f,
           .full_rank_gate = true};
  c.mla = {.heads = 4,
           .q_lora_rank = 64,
           .kv_lora_rank = 32,
           .qk_nope_head_dim = 24,
           .qk_rope_head_dim = 8,
           .v_head_dim = 16,
           .output_gate = true};
  c.moe = MoeConfig{.experts = 8,
                    .experts_per_token = 2,
                    .shared_experts = 2,
                    .intermediate_size = 48,
                    .latent_size = 64,
                    .latent_norm = true,
                    .first_dense_layers = 0};
  return c;
}

// The names differ between fixtures: "f_a" alone, "self_attn_f_a_proj_weight" in a whole layer.
KdaWeights kda_weights(Fixture& f, const std::string& prefix, const std::string& low_suffix,
                       const std::string& suffix) {
  KdaWeights w;
  w.q = f.matrix(prefix + "q_proj" + suffix, 64, 128);
  w.k = f.matrix(prefix + "k_proj" + suffix, 64, 128);
  w.v = f.matrix(prefix + "v_proj" + suffix, 64, 128);
  w.f_a = f.matrix(prefix + "f_a" + low_suffix, 16, 128);
  w.f_b = f.matrix(prefix + "f_b" + low_suffix, 64, 16);
  w.beta = f.matrix(prefix + "b_proj" + suffix, 4, 128);
  w.gate = FullRankGate{f.matrix(prefix + "g_proj" + suffix, 64, 128)};
  w.o = f.matrix(prefix + "o_proj" + suffix, 128, 64);
  const std::string conv = suffix.empty() ? "_conv" : "_conv1d_weight";
  w.q_conv = f.tensor(prefix + "q" + conv);
  w.k_conv = f.tensor(prefix + "k" + conv);
  w.v_conv = f.tensor(prefix + "v" + conv);
  w.a_log = f.tensor(prefix + "A_log");
  w.dt_bias = f.tensor(prefix + "dt_bias");
  w.o_norm = f.tensor(prefix + "o_norm" + suffix);
  return w;
}

MlaWeights mla_weights(Fixture& f, const std::string& prefix) {
  MlaWeights w;
  w.q_low_rank = LowRankQuery{f.matrix(prefix + "q_a_proj_weight", 64, 128),
                              f.tensor(prefix + "q_a_layernorm_weight")};
  w.q = f.matrix(prefix + "q_b_proj_weight", 128, 64);
  w.kv_a = f.matrix(prefix + "kv_a_proj_with_mqa_weight", 40, 128);
  w.kv_norm = f.tensor(prefix + "kv_a_layernorm_weight");
  w.kv_b = f.matrix(prefix + "kv_b_proj_weight", 160, 32);
  transpose_k_up(w, 4, 24, 16);
  w.gate = f.matrix(prefix + "g_proj_weight", 64, 128);
  w.o = f.matrix(prefix + "o_proj_weight", 128, 64);
  return w;
}

MoeWeights moe_weights(Fixture& f, const std::string& prefix) {
  MoeWeights w;
  w.router = f.matrix(prefix + "gate_weight", 8, 128);
  w.bias = f.tensor(prefix + "e_score_correction_bias");
  w.latent_down = f.matrix(prefix + "down_weight", 64, 128);
  w.latent_up = f.matrix(prefix + "up_weight", 128, 64);
  w.latent_norm = f.tensor(prefix + "norm_weight");
  for (int e = 0; e < 8; ++e) {
    const std::string expert = prefix + "experts_" + std::to_string(e) + "_";
    w.experts.push_back({.gate = f.matrix(expert + "w1_weight", 48, 64),
                         .up = f.matrix(expert + "w3_weight", 48, 64),
                         .down = f.matrix(expert + "w2_weight", 64, 48)});
  }
  w.shared = MlpWeights{.gate = f.matrix(prefix + "shared_w1_weight", 96, 128),
                        .up = f.matrix(prefix + "shared_w3_weight", 96, 128),
                        .down = f.matrix(prefix + "shared_w2_weight", 128, 96)};
  return w;
}

AttnResSite folded(Fixture& f, const std::string& stem) {
  AttnResSite site = f.tensor(stem + "_norm_weight");
  const std::vector<float>& proj = f.tensor(stem + "_proj_weight");
  for (std::size_t i = 0; i < site.size(); ++i) {
    site[i] *= proj[i];
  }
  return site;
}

// One fresh sequence of `tokens` tokens.
struct OneSequence {
  OneSequence(const ModelConfig& config, std::size_t tokens)
      : pool(config, {.slots = 1, .max_positions = 64}), state(*pool.acquire(tokens)) {
    EXPECT_TRUE(state->reserve(tokens));
    segment = {.state = state.get(), .first_token = 0, .tokens = tokens, .position = 0};
  }
  [[nodiscard]] Step step() const { return {std::span(&segment, 1), segment.tokens}; }

  StatePool pool;
  std::unique_ptr<SequenceState> state;
  Segment segment;
  ThreadTeam team{1};
};

void check_kda_layer(const std::string& name, std::size_t tokens) {
  Fixture f(name);
  DAYBREAK_SHARED_OR_SKIP(f.path());
  f.load();
  const ModelConfig config = fixture_config(1, true);
  const KdaWeights weights = kda_weights(f, "", "", "");
  OneSequence sequence(config, tokens);
  KdaScratch scratch(config.kda, tokens);
  std::vector<float> y(tokens * 128);
  run_kda({.weights = weights, .config = config.kda, .hidden = 128, .norm_eps = kFixtureEps},
          sequence.step(), f.tensor("in").data(), y.data(), scratch, sequence.team);
  expect_close(f.tensor("out"), y.data());
  expect_close(f.tensor("state_out"), sequence.state->kda_state(0, 0));
}

TEST(KdaLayerFixture, OneTokenAgrees) { check_kda_layer("kda_layer1", 1); }
TEST(KdaLayerFixture, EightTokensAgree) { check_kda_layer("kda_layer8", 8); }

TEST(MlaLayerFixture, SixTokensAgreeAndTheirLatentsAreCached) {
  Fixture f("mla");
  DAYBREAK_SHARED_OR_SKIP(f.path());
  f.load();
  const ModelConfig config = fixture_config(1, false);
  const MlaWeights weights = mla_weights(f, "");
  OneSequence sequence(config, 6);
  MlaScratch scratch(config.mla, 6);
  std::vector<float> y(6 * 128);
  run_mla(
      {.weights = weights, .config = config.mla, .hidden = 128, .low_rank_norm_eps = kFixtureEps},
      sequence.step(), f.tensor("in").data(), y.data(), scratch, sequence.team);
  expect_close(f.tensor("out"), y.data());
  for (std::size_t t = 0; t < 6; ++t) {
    const float* row = sequence.state->latent_tile(0, 0) + t * 40;
    for (std::size_t i = 0; i < 40; ++i) {
      const float expected =
          i < 32 ? f.tensor("kv_latent")[t * 32 + i] : f.tensor("k_rope")[t * 8 + i - 32];
      ASSERT_NEAR(row[i], expected, 1e-5 + 1e-4 * std::abs(expected)) << t << ", " << i;
    }
  }
}

TEST(MoeLayerFixture, LatentExpertsAndSharedBranchAgree) {
  Fixture f("moe");
  DAYBREAK_SHARED_OR_SKIP(f.path());
  f.load();
  const ModelConfig config = fixture_config(1, true);
  const MoeWeights weights = moe_weights(f, "");
  MoeScratch scratch(*config.moe, 128, 3);
  std::vector<float> y(f.tensor("out").size());
  ThreadTeam team(1);
  run_moe({.weights = weights,
           .config = *config.moe,
           .activation = GatedActivation::from(config),
           .hidden = 128,
           .norm_eps = kFixtureEps},
          3, f.tensor("in").data(), y.data(), scratch, team);
  expect_close(f.tensor("out"), y.data());
}

TEST(RouterFixture, ChoosesByBiasedScoresAndWeighsByUnbiasedOnes) {
  Fixture f("router");
  DAYBREAK_SHARED_OR_SKIP(f.path());
  f.load();
  MoeConfig config;
  config.experts = 8;
  config.experts_per_token = 2;
  const MatrixView gate = f.matrix("gate_weight", 8, 128);
  RouterScratch scratch(config);
  ThreadTeam team(1);
  for (std::size_t t = 0; t < 6; ++t) {
    SCOPED_TRACE(t);
    std::vector<float> logits(8);
    const std::array jobs = {
        LinearJob{gate, f.tensor("in").data() + t * 128, 128, logits.data(), 8, 1}};
    run_linears(team, jobs);
    std::array<Choice, 2> choices;
    route(config, logits, f.tensor("bias"), scratch, choices);
    EXPECT_LT(choices[0].expert, choices[1].expert);
    std::map<int, float> expected;
    for (std::size_t j = 0; j < 2; ++j) {
      expected[static_cast<int>(f.tensor("topk_idx")[t * 2 + j])] =
          f.tensor("topk_weight")[t * 2 + j];
    }
    std::size_t i = 0;
    for (const auto& [expert, weight] : expected) {
      EXPECT_EQ(static_cast<int>(choices[i].expert), expert);
      EXPECT_NEAR(choices[i].weight, weight, 1e-5 + 1e-4 * weight);
      ++i;
    }
  }
}

void check_whole_layer(const std::string& name, bool kda, std::size_t index,
                       std::size_t blocks_after) {
  constexpr std::size_t kTokens = 4;
  constexpr std::size_t kHidden = 128;
  Fixture f(name);
  DAYBREAK_SHARED_OR_SKIP(f.path());
  f.load();
  const ModelConfig config = fixture_config(13, kda);
  ModelWeights weights;
  weights.layers.resize(config.layers);
  LayerWeights& layer = weights.layers[index];
  layer.input_norm = f.tensor("input_layernorm_weight");
  layer.post_attention_norm = f.tensor("post_attention_layernorm_weight");
  layer.attention_site = folded(f, "self_attention_res");
  layer.mlp_site = folded(f, "mlp_res");
  layer.feed_forward = moe_weights(f, "mlp_");
  if (kda) {
    layer.attention = kda_weights(f, "self_attn_", "_proj_weight", "_weight");
  } else {
    layer.attention = mla_weights(f, "self_attn_");
  }
  OneSequence sequence(config, kTokens);
  const StateLayout layout = StateLayout::from(config, 0);
  Workspace workspace(config, {.tokens = kTokens});
  ForwardPass pass(config, weights, layout, workspace, sequence.team);
  pass.set_low_rank_norm_eps(kFixtureEps);
  ResidualStream& residual = pass.residual();
  residual.begin(kTokens);
  std::ranges::copy(f.tensor("in"), residual.stream());
  const std::size_t blocks = f.tensor("block_residual_in").size() / (kTokens * kHidden);
  for (std::size_t b = 0; b < blocks; ++b) {
    float* block = residual.add_block();  // fixture layout: [token, block, hidden]
    for (std::size_t t = 0; t < kTokens; ++t) {
      std::copy_n(f.tensor("block_residual_in").data() + (t * blocks + b) * kHidden, kHidden,
                  block + t * kHidden);
    }
  }

  pass.run_layers(sequence.step(), index, index + 1);

  expect_close(f.tensor("out"), residual.stream());
  ASSERT_EQ(residual.blocks(), blocks_after);
  for (std::size_t b = 0; b < blocks_after; ++b) {
    for (std::size_t t = 0; t < kTokens; ++t) {
      const float* expected =
          f.tensor("block_residual_out").data() + (t * blocks_after + b) * kHidden;
      expect_close({expected, expected + kHidden}, residual.block(b) + t * kHidden);
    }
  }
}

TEST(DecoderLayerFixture, KdaLayerInsideABlockAgrees) {
  check_whole_layer("layer_kda", true, 1, 2);
}
TEST(DecoderLayerFixture, MlaLayerThatSavesABlockAgrees) {
  check_whole_layer("layer_mla", false, 3, 3);
}

}  // namespace
}  // namespace daybreak::model
