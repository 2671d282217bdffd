// SPDX-License-Identifier: Apache-2.0
#include "model/lora_config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace daybreak::model {
namespace {

// A good configuration with `more` members.
Result<LoraConfig> parsed(const std::string& more) {
  return parse_lora_config(R"({"peft_type":"LORA","r":8,"lora_alpha":16)" + more + "}", "f");
}

TEST(LoraConfig, ScaleIsAlphaOverRankOrItsRoot) {
  const auto plain = parsed("");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->rank_of("model.layers.0.self_attn.q_proj"), 8u);
  EXPECT_EQ(plain->scale_of("q_proj"), 2.0f);
  const auto stabilised = parsed(R"(,"use_rslora":true)");
  ASSERT_TRUE(stabilised);
  EXPECT_EQ(stabilised->scale_of("q_proj"), static_cast<float>(16 / std::sqrt(8.0)));
}

TEST(LoraConfig, TheFirstPatternThatMatchesTheEndOfThePathCounts) {
  const auto config =
      parsed(R"(,"rank_pattern":{"layers.1.self_attn.q_proj":2,"q_proj":4,"1.self_attn.q_proj":1},)"
             R"("alpha_pattern":{"o_proj":3})");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->rank_of("model.layers.1.self_attn.q_proj"), 2u);
  EXPECT_EQ(config->rank_of("model.layers.11.self_attn.q_proj"), 4u) << "no part of a number";
  EXPECT_EQ(config->rank_of("model.layers.1.self_attn.aq_proj"), 8u) << "no part of a name";
  EXPECT_EQ(config->scale_of("a.o_proj"), 3.0f / 8);
  EXPECT_EQ(config->scale_of("a.q_proj"), 4.0f) << "alpha over its own rank";
  EXPECT_TRUE(matches_lora_pattern("a.b", "x.a_b")) << "a dot is any character, as in PEFT";
}

TEST(LoraConfig, TargetsAreNamesOrLeftToTheTensors) {
  const auto named = parsed(R"(,"target_modules":["q_proj","self_attn.o_proj"])");
  ASSERT_TRUE(named);
  EXPECT_TRUE(named->targets_module("model.layers.0.self_attn.q_proj"));
  EXPECT_TRUE(named->targets_module("model.layers.0.self_attn.o_proj"));
  EXPECT_FALSE(named->targets_module("model.layers.0.mlp.o_proj"));
  EXPECT_FALSE(named->targets_module("model.layers.0.self_attn.aq_proj"));
  const auto expression = parsed(R"(,"target_modules":".*q_proj")");
  ASSERT_TRUE(expression);
  EXPECT_TRUE(expression->targets_module("anything"));
}

TEST(LoraConfig, WhatHasNoPartInTheComputationIsPassedOver) {
  EXPECT_TRUE(parsed(R"(,"lora_dropout":0.1,"task_type":"CAUSAL_LM","inference_mode":true,)"
                     R"("revision":"main","init_lora_weights":"gaussian","eva_config":{"rho":2},)"
                     R"("modules_to_save":null,"bias":"none","use_dora":false,"loftq_config":{},)"
                     R"("some_future_key":null,"another":[],"third":false)"));
}

TEST(LoraConfig, EverythingElseIsRefusedByName) {
  struct Row {
    std::string more;
    Errc code;
    std::string message;
  };
  const std::vector<Row> rows = {
      {R"(,"use_dora":true)", Errc::kUnsupported, "f: use_dora: not supported"},
      {R"(,"modules_to_save":["lm_head"])", Errc::kUnsupported, "f: modules_to_save: not"},
      {R"(,"bias":"all")", Errc::kUnsupported, R"(f: bias: not supported: expected "none")"},
      {R"(,"lora_bias":true)", Errc::kUnsupported, "f: lora_bias: not supported"},
      {R"(,"fan_in_fan_out":true)", Errc::kUnsupported, "f: fan_in_fan_out: not supported"},
      {R"(,"target_parameters":["w1"])", Errc::kUnsupported, "f: target_parameters: not"},
      {R"(,"layer_replication":[[0,4]])", Errc::kUnsupported, "f: layer_replication: not"},
      {R"(,"alora_invocation_tokens":[1])", Errc::kUnsupported, "f: alora_invocation_tokens"},
      {R"(,"trainable_token_indices":[1])", Errc::kUnsupported, "f: trainable_token_indices"},
      {R"(,"init_lora_weights":"pissa_niter_4")", Errc::kUnsupported, "f: init_lora_weights: not"},
      {R"(,"rank_pattern":{".*q":4})", Errc::kUnsupported, "f: rank_pattern..*q: not supported"},
      {R"(,"rank_pattern":{"q":65})", Errc::kInvalidArgument, "f: rank_pattern.q: expected an"},
      {R"(,"alpha_pattern":{"q":"a"})", Errc::kInvalidArgument, "f: alpha_pattern.q: expected a"},
      {R"(,"alpha_pattern":[1])", Errc::kInvalidArgument, "f: alpha_pattern: expected an object"},
      {R"(,"target_modules":3)", Errc::kInvalidArgument, "f: target_modules: expected a string"},
      {R"(,"target_modules":[3])", Errc::kInvalidArgument, "f: target_modules[0]: expected a"},
      {R"(,"use_rslora":1)", Errc::kInvalidArgument, "f: use_rslora: expected true or false"},
      {R"(,"use_magic":true)", Errc::kInvalidArgument, "f: use_magic: an unknown key"},
  };
  for (const Row& row : rows) {
    const auto config = parsed(row.more);
    ASSERT_FALSE(config) << row.more;
    EXPECT_EQ(config.error().code, row.code) << row.more;
    EXPECT_TRUE(config.error().message.starts_with(row.message)) << config.error().message;
  }
}

TEST(LoraConfig, RankAndAlphaHaveTheirRanges) {
  const auto error = [](const std::string& text) {
    const auto config = parse_lora_config(text, "f");
    return config ? std::string("accepted") : config.error().message;
  };
  EXPECT_EQ(error(R"({"peft_type":"LORA","r":64,"lora_alpha":0})"), "accepted");
  EXPECT_EQ(error(R"({"peft_type":"LORA","r":65,"lora_alpha":1})"),
            "f: r: expected an integer in [1, 64], found 65");
  EXPECT_EQ(error(R"({"peft_type":"LORA","r":0,"lora_alpha":1})"),
            "f: r: expected an integer in [1, 64], found 0");
  EXPECT_EQ(error(R"({"peft_type":"LORA","r":1})"),
            "f: lora_alpha: expected a number, found nothing");
  EXPECT_EQ(error(R"({"peft_type":"LORA","lora_alpha":1})"),
            "f: r: expected a number, found nothing");
  EXPECT_TRUE(error(R"({"peft_type":"LORA","r":1,"lora_alpha":1e7})").starts_with("f: lora_alpha"));
  EXPECT_TRUE(error(R"({"peft_type":"IA3","r":1,"lora_alpha":1})")
                  .starts_with("f: peft_type: not supported: expected \"LORA\""));
  EXPECT_EQ(error(R"({"r":1,"lora_alpha":1})"), "f: peft_type: expected \"LORA\", found nothing");
  EXPECT_TRUE(error("[]").starts_with("f: expected an object")) << error("[]");
}

}  // namespace
}  // namespace daybreak::model
