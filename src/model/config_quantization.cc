// SPDX-License-Identifier: Apache-2.0
#include "model/config_quantization.h"

#include <string>

namespace daybreak::model {
namespace {

constexpr std::string_view kMethod = "compressed-tensors";
constexpr std::string_view kFormat = "mxfp4-pack-quantized";

void expect_text(const ConfigKeys& keys, std::string_view key, std::string_view expected) {
  const std::string found = keys.string_or(key, expected);
  if (found != expected) {
    keys.refuse(Errc::kUnsupported, key,
                "expected \"" + std::string(expected) + "\", found \"" + printable(found) + "\"");
  }
}

void expect_size(const ConfigKeys& keys, std::string_view key, std::size_t expected) {
  const std::size_t found = keys.size_or(key, expected, {0, std::uint64_t{1} << 32});
  if (found != expected) {
    keys.refuse(Errc::kUnsupported, key,
                "expected " + std::to_string(expected) + ", found " + std::to_string(found));
  }
}

}  // namespace

bool read_quantization(const ConfigKeys& owner) {
  const auto keys = owner.object_if_set("quantization_config");
  if (!keys) {
    return false;
  }
  keys->need("quant_method");
  expect_text(*keys, "quant_method", kMethod);
  expect_text(*keys, "format", kFormat);
  const auto groups = keys->object_if_set("config_groups");
  if (!groups) {
    keys->need("format");
    return true;
  }
  simdjson::dom::object members;
  if (groups->value().raw().get_object().get(members) != simdjson::SUCCESS) {
    return true;
  }
  for (const auto member : members) {
    const auto group = groups->object_if_set(member.key);
    if (!group) {
      continue;
    }
    expect_text(*group, "format", kFormat);
    if (const auto weights = group->object_if_set("weights")) {
      expect_size(*weights, "num_bits", 4);
      expect_size(*weights, "group_size", 32);
      expect_text(*weights, "type", "float");
      expect_text(*weights, "strategy", "group");
    }
  }
  return true;
}

}  // namespace daybreak::model
