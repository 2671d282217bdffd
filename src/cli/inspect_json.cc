// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/inspect_report.h"

namespace daybreak::cli {
namespace {

using Json = nlohmann::ordered_json;

Json count_json(const model::SizeCount& count) {
  return {{"tensors", count.tensors}, {"parameters", count.parameters}, {"bytes", count.bytes}};
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json config_json(const model::ModelConfig& config) {
  Json json = {{"model_type", config.model_type},
               {"hidden_size", config.hidden_size},
               {"vocab_size", config.vocab_size},
               {"activation", config.activation == model::Activation::kSitu ? "situ" : "silu"},
               {"attn_res_block_size", or_null(config.attn_res_block_size)},
               {"tie_word_embeddings", config.tie_word_embeddings},
               {"max_positions", config.max_positions},
               {"eos_ids", config.eos_ids}};
  json["vision"] = config.vision.has_value();
  if (config.moe) {
    json["moe"] = {{"experts", config.moe->experts},
                   {"experts_per_token", config.moe->experts_per_token},
                   {"shared_experts", config.moe->shared_experts},
                   {"latent_size", or_null(config.moe->latent_size)},
                   {"groups", config.moe->groups},
                   {"topk_groups", config.moe->topk_groups}};
  } else {
    json["moe"] = nullptr;
  }
  return json;
}

Json layers_json(const InspectReport& report) {
  Json list = Json::array();
  for (const LayerFacts& layer : report.layers) {
    list.push_back({{"kind", layer.kind},
                    {"tensors", layer.tensors},
                    {"parameters", layer.parameters},
                    {"bytes", layer.bytes}});
  }
  const model::ModelConfig& config = report.config;
  return {{"count", config.layers},           {"kda", config.kda_layer_count()},
          {"mla", config.mla_layer_count()},  {"moe", config.moe_layer_count()},
          {"pattern", layer_pattern(config)}, {"each", list}};
}

Json memory_json(const InspectReport& report) {
  const model::MemoryPlan& plan = report.plan;
  return {{"context", plan.options.context},
          {"slots", plan.options.slots},
          {"state_checkpoints", plan.options.checkpoints},
          {"cache_format", plan.options.format == model::StateFormat::kF32 ? "f32" : "bf16"},
          {"weights", plan.weights},
          {"copies", plan.copies},
          {"cache_per_token", plan.cache_per_token},
          {"kda_state_per_sequence", plan.state_per_sequence},
          {"conv_state_per_sequence", plan.conv_per_sequence},
          {"attn_res_per_token_in_flight", plan.residual_per_token},
          {"cache", plan.cache},
          {"sequences", plan.sequences},
          {"checkpoints", plan.checkpoints},
          {"in_flight", plan.in_flight},
          {"total", plan.total},
          {"machine", report.memory_total},
          {"fits", plan.total <= report.memory_total},
          {"short_by", plan.total > report.memory_total ? plan.total - report.memory_total : 0}};
}

Json checkpoint_json(const CheckpointFacts& facts) {
  Json problems = Json::array();
  for (const Error& error : facts.catalog.shown) {
    problems.push_back(error.message);
  }
  return {{"shards", facts.shards},
          {"tensors", facts.tensors},
          {"file_bytes", facts.file_bytes},
          {"data_bytes", facts.data_bytes},
          {"problem_count", facts.catalog.problems},
          {"problems", problems},
          {"ignored_count", facts.catalog.ignored},
          {"ignored", facts.catalog.ignored_shown},
          {"verified", facts.verified}};
}

}  // namespace

std::string inspect_json(const InspectReport& report) {
  Json roles = Json::object();
  for (std::size_t i = 0; i < model::kTensorRoleCount; ++i) {
    if (report.size.by_role[i].tensors > 0) {
      roles[std::string(to_string(static_cast<model::TensorRole>(i)))] =
          count_json(report.size.by_role[i]);
    }
  }
  Json dtypes = Json::object();
  for (std::size_t i = 0; i < model::kDTypeCount; ++i) {
    if (report.size.by_dtype[i].tensors > 0) {
      dtypes[std::string(to_string(static_cast<model::DType>(i)))] =
          count_json(report.size.by_dtype[i]);
    }
  }
  const Json json = {
      {"path", report.path.string()},
      {"config", config_json(report.config)},
      {"parameters", report.size.total.parameters},
      {"active_parameters", report.size.active_parameters},
      {"bytes", report.size.total.bytes},
      {"tensors", report.size.total.tensors},
      {"layers", layers_json(report)},
      {"by_role", roles},
      {"by_dtype", dtypes},
      {"memory", memory_json(report)},
      {"checkpoint", report.checkpoint ? checkpoint_json(*report.checkpoint) : Json(nullptr)}};
  // File names may hold bytes that are not UTF-8; those become U+FFFD rather than an exception.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace daybreak::cli
