// SPDX-License-Identifier: Apache-2.0
#include "model/lora_config.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json_document.h"

namespace daybreak::model {
namespace {

using Object = simdjson::dom::object;
using Element = simdjson::dom::element;

// What has no part in computing with a trained adapter.
constexpr std::array<std::string_view, 36> kNoEffect = {
    "auto_mapping", "base_model_name_or_path", "corda_config", "ensure_weight_tying", "eva_config",
    "exclude_modules", "inference_mode", "layers_pattern", "layers_to_transform", "loftq_config",
    "lora_dropout", "megatron_config", "megatron_core", "peft_version", "qalora_group_size",
    "revision", "runtime_config", "task_type", "use_dora_ephemeral_offload",
    // read below
    "alpha_pattern", "arrow_config", "bias", "init_lora_weights", "lora_alpha", "modules_to_save",
    "peft_type", "r", "rank_pattern", "target_modules", "use_rslora", "use_dora", "fan_in_fan_out",
    "lora_bias", "use_qalora", "alora_invocation_tokens", "layer_replication"};

// Methods that compute something else, or with more than the two matrices of a module.
struct Method {
  std::string_view key;
  std::string_view what;
};
constexpr std::array<Method, 11> kMethods = {
    {{"use_dora", "DoRA scales each row of the adapted weight by a magnitude of its own"},
     {"modules_to_save", "modules trained as a whole are not part of a LoRA adapter here"},
     {"lora_bias", "a bias beside the two matrices is not computed here"},
     {"fan_in_fan_out", "the weights of this model are not stored transposed"},
     {"use_qalora", "QALoRA pools the inputs of the first matrix"},
     {"alora_invocation_tokens", "an activated LoRA changes in the middle of a sequence"},
     {"layer_replication", "layers are not replicated here"},
     {"target_parameters", "parameters outside linear modules, such as experts, are not adapted"},
     {"trainable_token_indices", "the embedding is not adapted"},
     {"arrow_config", "adapters are not routed between here"},
     {"use_bdlora", "block-diagonal matrices are not computed here"}}};

// These initialisations replace the base weights, so that the adapter alone is not the model.
constexpr std::array<std::string_view, 4> kChangesBase = {"pissa", "olora", "corda", "loftq"};

bool is_unset(const Element& value) {
  if (bool flag = true; value.get_bool().get(flag) == simdjson::SUCCESS) {
    return !flag;
  }
  if (simdjson::dom::array items; value.get_array().get(items) == simdjson::SUCCESS) {
    return items.size() == 0;
  }
  if (Object members; value.get_object().get(members) == simdjson::SUCCESS) {
    return members.size() == 0;
  }
  return value.is_null();
}

// Returns a string's text, and "" of anything else.
std::string_view text_of(const JsonValue& value) {
  const auto text = value.string();
  return text ? *text : std::string_view();
}

Error unsupported(const JsonValue& value, std::string_view what) {
  return {Errc::kUnsupported, value.where() + ": not supported: " + std::string(what)};
}

Status refuse_methods(const JsonValue& root) {
  for (const Method& method : kMethods) {
    if (const auto value = root.find(method.key); value && !is_unset(value->raw())) {
      return unsupported(*value, method.what);
    }
  }
  if (const auto bias = root.find_set("bias")) {
    DAYBREAK_TRY(const std::string_view kind, bias->string());
    if (kind != "none") {
      return unsupported(*bias, "expected \"none\", found \"" + printable(kind, 32) + "\"");
    }
  }
  if (const auto init = root.find_set("init_lora_weights")) {
    const std::string_view kind = text_of(*init);
    if (std::ranges::any_of(kChangesBase, [&](auto one) { return kind.starts_with(one); })) {
      return unsupported(*init,
                         "\"" + printable(kind, 32) +
                             "\" changes the base weights; convert the adapter first "
                             "(path_initial_model_for_weight_conversion of save_pretrained)");
    }
  }
  return ok();
}

Status refuse_unknown(const JsonValue& root) {
  Object members;
  if (root.raw().get_object().get(members) != simdjson::SUCCESS) {
    return root.expected("an object");
  }
  for (const auto member : members) {
    const bool known = std::ranges::find(kNoEffect, member.key) != kNoEffect.end() ||
                       std::ranges::find(kMethods, member.key, &Method::key) != kMethods.end();
    if (!known && !is_unset(member.value)) {
      return Error{Errc::kInvalidArgument,
                   root.where_of(printable(member.key, 64)) +
                       ": an unknown key, which may change what the adapter computes; remove it if "
                       "it does not"};
    }
  }
  return ok();
}

bool is_plain(std::string_view pattern) {
  return !pattern.empty() && std::ranges::all_of(pattern, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  });
}

// Reads {"pattern": value}.
template <class T, class Read>
Status read_patterns(const JsonValue& root, std::string_view key, Read read,
                     std::vector<std::pair<std::string, T>>& out) {
  const auto value = root.find_set(key);
  if (!value) {
    return ok();
  }
  Object members;
  if (value->raw().get_object().get(members) != simdjson::SUCCESS) {
    return value->expected("an object");
  }
  if (members.size() > kMaxLoraPatterns) {
    return value->expected("at most " + std::to_string(kMaxLoraPatterns) + " patterns");
  }
  for (const auto member : members) {
    const JsonValue one(member.value, value->where_of(printable(member.key, 120)));
    if (!is_plain(member.key)) {
      return unsupported(one,
                         "a pattern of other characters than letters, digits, '_' and '.' is a "
                         "regular expression; name the modules");
    }
    DAYBREAK_TRY(const T number, read(one));
    out.emplace_back(std::string(member.key), number);
  }
  return ok();
}

Result<std::size_t> read_rank(const JsonValue& value) {
  DAYBREAK_TRY(const std::uint64_t rank, value.integer(1, kMaxLoraRank));
  return static_cast<std::size_t>(rank);
}

Result<double> read_alpha(const JsonValue& value) { return value.number(0, kMaxLoraAlpha); }

Status read_targets(const JsonValue& root, LoraConfig& config) {
  const auto value = root.find_set("target_modules");
  if (!value || !value->is_array()) {
    // "all-linear" or an expression.
    return value ? (value->string() ? ok() : Status(value->expected("a string or a list of them")))
                 : ok();
  }
  DAYBREAK_TRY(const std::vector<JsonValue> items, value->array(kMaxLoraPatterns));
  config.targets.emplace();
  for (const JsonValue& item : items) {
    DAYBREAK_TRY(const std::string_view name, item.string());
    config.targets->emplace_back(name);
  }
  return ok();
}

template <class T>
T first_match(const std::vector<std::pair<std::string, T>>& patterns, std::string_view path,
              T otherwise) {
  const auto found = std::ranges::find_if(
      patterns, [&](const auto& one) { return matches_lora_pattern(one.first, path); });
  return found == patterns.end() ? otherwise : found->second;
}

}  // namespace

bool matches_lora_pattern(std::string_view pattern, std::string_view path) {
  if (pattern.size() > path.size()) {
    return false;
  }
  const std::string_view end = path.substr(path.size() - pattern.size());
  const bool whole = end.size() == path.size() || path[path.size() - end.size() - 1] == '.';
  return whole && std::ranges::equal(
                      pattern, end, [](char want, char got) { return want == '.' || want == got; });
}

std::size_t LoraConfig::rank_of(std::string_view path) const {
  return first_match(rank_pattern, path, rank);
}

float LoraConfig::scale_of(std::string_view path) const {
  const auto r = static_cast<double>(rank_of(path));
  return static_cast<float>(first_match(alpha_pattern, path, alpha) /
                            (rank_stabilised ? std::sqrt(r) : r));
}

bool LoraConfig::targets_module(std::string_view path) const {
  return !targets || std::ranges::any_of(*targets, [&](const std::string& name) {
    return path == name || (path.ends_with(name) && path.size() > name.size() &&
                            path[path.size() - name.size() - 1] == '.');
  });
}

Result<LoraConfig> parse_lora_config(std::string_view text, std::string_view name) {
  DAYBREAK_TRY(const JsonDocument document,
               JsonDocument::parse(text, name, {.max_bytes = kMaxLoraConfigBytes}));
  const JsonValue root = document.root();
  DAYBREAK_CHECK_OK(refuse_unknown(root));
  const auto kind = root.find_set("peft_type");
  if (!kind || text_of(*kind) != "LORA") {
    return kind ? unsupported(*kind, "expected \"LORA\"")
                : Error{Errc::kInvalidArgument,
                        root.where_of("peft_type") + ": expected \"LORA\", found nothing"};
  }
  DAYBREAK_CHECK_OK(refuse_methods(root));
  LoraConfig config;
  const auto rank = root.find("r");
  const auto alpha = root.find("lora_alpha");
  if (!rank || !alpha) {
    return Error{Errc::kInvalidArgument,
                 root.where_of(rank ? "lora_alpha" : "r") + ": expected a number, found nothing"};
  }
  DAYBREAK_TRY(config.rank, read_rank(*rank));
  DAYBREAK_TRY(config.alpha, read_alpha(*alpha));
  if (const auto flag = root.find_set("use_rslora")) {
    DAYBREAK_TRY(config.rank_stabilised, flag->boolean());
  }
  DAYBREAK_CHECK_OK(read_patterns(root, "rank_pattern", read_rank, config.rank_pattern));
  DAYBREAK_CHECK_OK(read_patterns(root, "alpha_pattern", read_alpha, config.alpha_pattern));
  DAYBREAK_CHECK_OK(read_targets(root, config));
  return config;
}

}  // namespace daybreak::model
