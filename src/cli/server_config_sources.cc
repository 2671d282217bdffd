// SPDX-License-Identifier: Apache-2.0
#include "cli/server_config_sources.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace daybreak::cli {
namespace {

Error at(const std::string& name, const YAML::Mark& mark, const std::string& what) {
  return {Errc::kInvalidArgument, fmt::format("{}:{}: {}", name, mark.line + 1, what)};
}

// Returns the scalar, or the scalars of a sequence joined by commas.
Result<std::string> setting_text(const YAML::Node& node, const ServerKey& key,
                                 const std::string& name) {
  if (node.IsScalar()) {
    return node.Scalar();
  }
  if (node.IsNull()) {
    return std::string();
  }
  if (!node.IsSequence() || !std::holds_alternative<ListField>(key.field)) {
    return at(name, node.Mark(), fmt::format("{}: expected one value", key.name));
  }
  std::string out;
  for (const YAML::Node& item : node) {
    if (!item.IsScalar() || item.Scalar().find(',') != std::string::npos) {
      return at(name, item.Mark(), fmt::format("{}: expected plain names", key.name));
    }
    out += (out.empty() ? "" : ",") + item.Scalar();
  }
  return out;
}

Result<SettingTexts> read_mapping(const YAML::Node& root, const std::string& name) {
  SettingTexts out;
  if (root.IsNull()) {
    return out;
  }
  if (!root.IsMap()) {
    return at(name, root.Mark(), "expected a mapping of keys to values");
  }
  for (const auto& entry : root) {
    const YAML::Node& key_node = entry.first;
    const std::string key_name = key_node.IsScalar() ? key_node.Scalar() : "?";
    const ServerKey* key = find_server_key(key_name);
    if (key == nullptr) {
      const std::string_view meant = nearest_server_key(key_name);
      return at(name, key_node.Mark(),
                fmt::format("unknown key '{}'", key_name) +
                    (meant.empty() ? "; 'daybreak config' lists them all"
                                   : fmt::format(", did you mean '{}'?", meant)));
    }
    DAYBREAK_TRY(std::string text, setting_text(entry.second, *key, name));
    SettingText setting{std::move(text), fmt::format("{}:{}", name, key_node.Mark().line + 1)};
    if (!out.emplace(key_name, std::move(setting)).second) {
      return at(name, key_node.Mark(), fmt::format("key '{}' is given twice", key_name));
    }
  }
  return out;
}

Result<SettingTexts> read_config_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return Error{Errc::kNotFound, path + ": no such configuration file"};
  }
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > kMaxConfigFileBytes) {
    return Error{Errc::kTooLarge, fmt::format("{}: expected at most {} bytes, found {}", path,
                                              kMaxConfigFileBytes, size)};
  }
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file) {
    return Error{Errc::kIo, path + ": cannot be read"};
  }
  return parse_config_text(text, path);
}

SettingTexts environment_texts(const ConfigSources& sources) {
  SettingTexts out;
  for (const ServerKey& key : server_keys()) {
    const std::string variable = key.environment();
    const char* value = sources.environment ? sources.environment(variable) : nullptr;
    if (value != nullptr) {
      out.emplace(key.name, SettingText{value, variable});
    }
  }
  return out;
}

SettingTexts flag_texts(const ConfigSources& sources) {
  SettingTexts out;
  for (const auto& [name, value] : sources.flags) {
    out.emplace(name, SettingText{value, find_server_key(name)->flag()});
  }
  return out;
}

Status apply_settings(const SettingTexts& settings, EffectiveConfig& config) {
  for (const auto& [name, setting] : settings) {
    if (Status status = find_server_key(name)->set(config.values, setting.text); !status) {
      // An origin in a file does not name the key.
      const bool names_key = setting.origin.find(':') == std::string::npos;
      return std::move(status).error().in(names_key ? setting.origin
                                                    : setting.origin + ": " + name);
    }
    config.origins[name] = setting.origin;
  }
  return ok();
}

}  // namespace

Result<SettingTexts> parse_config_text(const std::string& text, const std::string& name) {
  try {
    return read_mapping(YAML::Load(text), name);
  } catch (const YAML::Exception& error) {
    return at(name, error.mark, "not valid YAML: " + error.msg);
  }
}

Result<EffectiveConfig> effective_config(const ConfigSources& sources) {
  EffectiveConfig config;
  for (const ServerKey& key : server_keys()) {
    config.origins[std::string(key.name)] = "default";
  }
  if (!sources.file.empty()) {
    DAYBREAK_TRY(const SettingTexts file, read_config_file(sources.file));
    DAYBREAK_CHECK_OK(apply_settings(file, config));
  }
  DAYBREAK_CHECK_OK(apply_settings(environment_texts(sources), config));
  DAYBREAK_CHECK_OK(apply_settings(flag_texts(sources), config));
  return config;
}

std::shared_ptr<ConfigSources> add_server_options(Command command) {
  const auto sources = std::make_shared<ConfigSources>();
  sources->environment = [](const std::string& name) { return std::getenv(name.c_str()); };
  command.add_option("--config", sources->file, "YAML file with any of the keys below");
  const ServerConfig defaults;
  for (const ServerKey& key : server_keys()) {
    const std::string value = key.value(defaults);
    const std::string help =
        std::string(key.help) + (value.empty() ? "" : fmt::format(" [{}]", value));
    command.add_option(
        key.flag(),
        [sources, name = std::string(key.name)](const std::string& text) {
          sources->flags[name] = text;
        },
        help);
  }
  return sources;
}

std::string to_yaml(const EffectiveConfig& config) {
  std::string out;
  for (const ServerKey& key : server_keys()) {
    const std::string value = key.value(config.values);
    const bool number = std::holds_alternative<CountField>(key.field);
    // JSON strings are YAML strings.
    const std::string shown = number ? value : nlohmann::json(value).dump();
    out += fmt::format("{}: {}  # {}\n", key.name, shown, config.origins.at(std::string(key.name)));
  }
  return out;
}

std::string to_json(const EffectiveConfig& config) {
  nlohmann::ordered_json out;
  for (const ServerKey& key : server_keys()) {
    nlohmann::ordered_json& entry = out[std::string(key.name)];
    if (const auto* count = std::get_if<CountField>(&key.field)) {
      entry["value"] = config.values.*count->member;
    } else if (const auto* list = std::get_if<ListField>(&key.field)) {
      entry["value"] = config.values.*list->member;
    } else {
      entry["value"] = key.value(config.values);
    }
    entry["origin"] = config.origins.at(std::string(key.name));
  }
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace daybreak::cli
