// SPDX-License-Identifier: Apache-2.0
// Adapters that must be refused, each with a message that names the file and what is wrong with it.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/lora_loader.h"
#include "model/safetensors_builder.h"
#include "testing/paths.h"

namespace daybreak::model {
namespace {

constexpr const char* kConfig = R"({"peft_type":"LORA","r":2,"lora_alpha":4)";
const std::string kRoot = "base_model.model.";
const std::string kQ = kRoot + "language_model.model.layers.0.self_attn.q_proj";

class LoraLoaderFault : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto model = Model::load(testing::source_path("testdata/checkpoints/k3-all-on"));
    ASSERT_TRUE(model) << model.error().message;
    model_ = model->release();
  }
  static void TearDownTestSuite() { delete model_; }

  // Loads an adapter of these files. Returns the error without the directory, or "accepted".
  Error load(const std::string& config, const std::string& tensors) {
    dir_.write("adapter_config.json", config);
    dir_.write("adapter_model.safetensors", tensors);
    return load_written();
  }
  Error load(const SafetensorsBuilder& tensors) {
    return load(std::string(kConfig) + "}", tensors.bytes());
  }
  Error load_written() {
    const auto adapter = load_lora(*model_, dir_.path(), "x");
    if (adapter) {
      return {Errc::kCancelled, "accepted"};
    }
    Error error = adapter.error();
    const std::string prefix = dir_.path().string() + "/";
    const auto at = error.message.find(prefix);
    return {error.code, at == 0 ? error.message.substr(prefix.size()) : error.message};
  }
  // The layer's q_proj is [32, 32].
  static SafetensorsBuilder good() {
    SafetensorsBuilder builder;
    builder.add(kQ + ".lora_A.weight", DType::kBf16, {2, 32});
    builder.add(kQ + ".lora_B.weight", DType::kBf16, {32, 2});
    return builder;
  }

  static inline const Model* model_ = nullptr;
  TemporaryDirectory dir_;
};

TEST_F(LoraLoaderFault, TheUndamagedAdapterIsAccepted) {
  EXPECT_EQ(load(good()).message, "accepted");
  SafetensorsBuilder plain;
  const std::string name = kRoot + "model.layers.0.self_attn.q_proj";
  plain.add(name + ".lora_A.weight", DType::kF32, {2, 32});
  plain.add(name + ".lora_B.weight", DType::kF16, {32, 2});
  EXPECT_EQ(load(plain).message, "accepted") << "without language_model., other types";
}

TEST_F(LoraLoaderFault, EveryWrongTensorIsNamed) {
  const std::string layer = kRoot + "language_model.model.layers.1.";
  const auto pair_of = [](const std::string& stem) {
    SafetensorsBuilder builder;
    builder.add(stem + ".lora_A.weight", DType::kF32, {2, 32});
    builder.add(stem + ".lora_B.weight", DType::kF32, {32, 2});
    return builder;
  };
  struct Row {
    SafetensorsBuilder tensors;
    Errc code;
    std::string message;
  };
  const std::vector<Row> rows = {
      {good().add("model.layers.0.self_attn.q_proj.lora_A.weight", DType::kF32, {2, 32}),
       Errc::kInvalidArgument, "expected a name that begins with 'base_model.model.'"},
      {good().add(kQ + ".lora_A.bias", DType::kF32, {2}), Errc::kInvalidArgument,
       "expected a name that ends in '.lora_A.weight' or '.lora_B.weight'"},
      {good().add(kQ + ".lora_magnitude_vector", DType::kF32, {32}), Errc::kUnsupported,
       "DoRA is not computed here"},
      {good().add(kRoot + "model.embed_tokens.lora_embedding_A", DType::kF32, {2, 96}),
       Errc::kUnsupported, "the embedding takes no adapter here"},
      {good().add(kRoot + "model.layers.0.self_attn.q_proj.lora_A.weight", DType::kF32, {2, 32}),
       Errc::kInvalidArgument, "is there twice, with and without 'language_model.'"},
      {pair_of(layer + "block_sparse_moe.experts.0.w1"), Errc::kUnsupported,
       "the routed experts take no adapter here"},
      {pair_of(layer + "block_sparse_moe.routed_expert_up_proj"), Errc::kUnsupported,
       "the routed experts take no adapter here"},
      {pair_of(layer + "block_sparse_moe.gate"), Errc::kUnsupported,
       "the router takes no adapter here"},
      {pair_of(kRoot + "language_model.lm_head"), Errc::kUnsupported,
       "the head takes no adapter here"},
      {pair_of(kRoot + "language_model.model.embed_tokens"), Errc::kUnsupported,
       "the embedding takes no adapter here"},
      {pair_of(layer + "self_attn.q_conv1d"), Errc::kUnsupported,
       "this module takes no adapter here"},
      {pair_of(layer + "self_attn.o_norm"), Errc::kUnsupported, "this module takes no adapter"},
      {pair_of(layer + "self_attn.q_a_proj"), Errc::kInvalidArgument,
       "this model has no module 'language_model.model.layers.1.self_attn.q_a_proj'"},
      {pair_of(kRoot + "language_model.model.layers.5.self_attn.q_proj"), Errc::kInvalidArgument,
       "this model has no module"},
      {SafetensorsBuilder().add(kQ + ".lora_A.weight", DType::kBf16, {2, 32}),
       Errc::kInvalidArgument, "its other half, lora_B, is missing"},
      {SafetensorsBuilder().add(kQ + ".lora_B.weight", DType::kBf16, {32, 2}),
       Errc::kInvalidArgument, "its other half, lora_A, is missing"},
      {SafetensorsBuilder()
           .add(kQ + ".lora_A.weight", DType::kBf16, {3, 32})
           .add(kQ + ".lora_B.weight", DType::kBf16, {32, 3}),
       Errc::kInvalidArgument, "expected BF16[2,32], or F16 or F32, found BF16[3,32]"},
      {SafetensorsBuilder()
           .add(kQ + ".lora_A.weight", DType::kBf16, {2, 32})
           .add(kQ + ".lora_B.weight", DType::kBf16, {2, 32}),
       Errc::kInvalidArgument, "expected BF16[32,2], or F16 or F32, found BF16[2,32]"},
      {SafetensorsBuilder()
           .add(kQ + ".lora_A.weight", DType::kF8E4M3, {2, 32})
           .add(kQ + ".lora_B.weight", DType::kBf16, {32, 2}),
       Errc::kInvalidArgument, "found F8_E4M3[2,32]"},
      {SafetensorsBuilder()
           .add(kQ + ".lora_A.weight", DType::kBf16, {2, 32}, '\xff')
           .add(kQ + ".lora_B.weight", DType::kBf16, {32, 2}),
       Errc::kInvalidArgument, "value 0 is not finite"},
      {SafetensorsBuilder(), Errc::kInvalidArgument, "expected tensors of a LoRA adapter"},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << "row " << i);
    const Error error = load(rows[i].tensors);
    EXPECT_EQ(error.code, rows[i].code) << error.message;
    EXPECT_TRUE(error.message.starts_with("adapter_model.safetensors: ")) << error.message;
    EXPECT_NE(error.message.find(rows[i].message), std::string::npos) << error.message;
  }
}

TEST_F(LoraLoaderFault, TargetsMustNameTheModules) {
  EXPECT_EQ(load(std::string(kConfig) + R"(,"target_modules":["q_proj"]})", good().bytes()).message,
            "accepted");
  const Error error =
      load(std::string(kConfig) + R"(,"target_modules":["k_proj"]})", good().bytes());
  EXPECT_NE(error.message.find("target_modules of adapter_config.json does not name its module"),
            std::string::npos)
      << error.message;
}

TEST_F(LoraLoaderFault, MissingAndBrokenFilesAreNamed) {
  EXPECT_EQ(load_written().code, Errc::kNotFound);
  EXPECT_TRUE(load_written().message.starts_with("adapter_config.json")) << load_written().message;
  dir_.write("adapter_config.json", std::string(kConfig) + "}");
  EXPECT_EQ(load_written().code, Errc::kNotFound);
  EXPECT_TRUE(load_written().message.starts_with("adapter_model.safetensors"));
  EXPECT_EQ(load(std::string(kConfig) + "}", "short").code, Errc::kCorrupt);
  EXPECT_EQ(load("{", good().bytes()).code, Errc::kInvalidArgument);
  EXPECT_EQ(
      load(R"({"peft_type":"LORA","r":2,"lora_alpha":4,"use_dora":true})", good().bytes()).code,
      Errc::kUnsupported);
}

// No cut of a good file is a good one, nor a crash.
TEST_F(LoraLoaderFault, EveryTruncationIsRefused) {
  const std::string whole = good().bytes();
  for (std::size_t size = 0; size < whole.size(); size += 3) {
    ASSERT_NE(load(std::string(kConfig) + "}", whole.substr(0, size)).message, "accepted") << size;
  }
}

TEST_F(LoraLoaderFault, TheDigestFollowsEveryByteOfBothFiles) {
  const auto digest = [&](const std::string& config, const std::string& tensors) {
    dir_.write("adapter_config.json", config);
    dir_.write("adapter_model.safetensors", tensors);
    const auto adapter = load_lora(*model_, dir_.path(), "x");
    EXPECT_TRUE(adapter) << (adapter ? "" : adapter.error().message);
    return adapter ? (*adapter)->digest() : "";
  };
  const std::string config = std::string(kConfig) + "}";
  const std::string first = digest(config, good().bytes());
  EXPECT_EQ(first.size(), 64u);
  EXPECT_EQ(digest(config, good().bytes()), first);
  EXPECT_NE(digest(config, good().set_last_byte('\2').bytes()), first);
  EXPECT_NE(digest(R"({"peft_type":"LORA","r":2,"lora_alpha":5})", good().bytes()), first);
}

}  // namespace
}  // namespace daybreak::model
