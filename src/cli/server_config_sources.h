// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the configuration of a server comes from: flags beat the environment, the environment beats
// the file, the file beats the defaults. Each value remembers its origin.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command.h"
#include "cli/server_config.h"

namespace daybreak::cli {

inline constexpr std::size_t kMaxConfigFileBytes = std::size_t{1} << 20U;

// A value as text, and where it was given: "default", "--port", "DAYBREAK_PORT", "FILE:LINE".
struct SettingText {
  std::string text;
  std::string origin;
};
using SettingTexts = std::map<std::string, SettingText, std::less<>>;  // by key name

struct ConfigSources {
  std::string file;                          // empty: none
  std::map<std::string, std::string> flags;  // by key name
  // Returns the value of a variable, or null.
  std::function<const char*(const std::string&)> environment;
};

struct EffectiveConfig {
  ServerConfig values;
  std::map<std::string, std::string, std::less<>> origins;  // by key name, all keys
};

// Reads YAML text: one mapping of keys to scalars, or to sequences of scalars for lists.
// Errors: kInvalidArgument with "NAME:LINE: ...": not YAML, an unknown key (the nearest is named),
// a key given twice, a value of the wrong form.
Result<SettingTexts> parse_config_text(const std::string& text, const std::string& name);

// Errors: kNotFound or kIo (the file), kTooLarge, and kInvalidArgument naming the origin.
Result<EffectiveConfig> effective_config(const ConfigSources& sources);

// Declares MODEL, --config and one flag per key on a command. What is given ends up in the result,
// which belongs to the command's callback too.
std::shared_ptr<ConfigSources> add_server_options(Command command);

// The configuration as YAML with the origins as comments: a valid --config file.
std::string to_yaml(const EffectiveConfig& config);
// {"port":{"value":8000,"origin":"default"},...}
std::string to_json(const EffectiveConfig& config);

}  // namespace daybreak::cli
