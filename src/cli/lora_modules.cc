// SPDX-License-Identifier: Apache-2.0
#include "cli/lora_modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "model/lora_loader.h"

namespace daybreak::cli {
namespace {

Status check_directory(const ServerConfig& config) {
  if (config.allow_runtime_lora_updating == "off") {
    return ok();
  }
  std::error_code failed;
  if (config.lora_dir.empty() || !std::filesystem::is_directory(config.lora_dir, failed)) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("lora_dir: expected a directory, which allow_runtime_lora_updating "
                             "needs, found '{}'",
                             config.lora_dir)};
  }
  return ok();
}

}  // namespace

Result<api::LoraOptions> open_adapters(const ServerConfig& config, const LoadedModel& loaded,
                                       const std::vector<std::string>& names, std::int64_t now,
                                       Log& log) {
  DAYBREAK_CHECK_OK(check_directory(config));
  api::LoraOptions out;
  out.adapters = std::make_shared<engine::AdapterRegistry>(
      [model = loaded.model, &log](const std::filesystem::path& directory,
                                   const std::string& name) -> Result<engine::AdapterPtr> {
        DAYBREAK_TRY(const model::LoraAdapterPtr adapter,
                     model::load_lora(*model, directory, name));
        log.info("adapter", {{"name", std::string_view(name)},
                             {"modules", static_cast<std::int64_t>(adapter->modules())},
                             {"bytes", static_cast<std::int64_t>(adapter->bytes())},
                             {"digest", std::string_view(adapter->digest())}});
        return adapter;
      },
      config.max_loras);
  if (config.allow_runtime_lora_updating == "on") {
    out.directory = config.lora_dir;
  }
  for (const std::string& module : config.lora_modules) {
    const std::size_t equals = module.find('=');
    const std::string name = module.substr(0, equals);
    if (equals == std::string::npos || equals == 0 || equals + 1 == module.size()) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("lora_modules: expected NAME=DIRECTORY, found '{}'", module)};
    }
    if (std::ranges::find(names, name) != names.end()) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("lora_modules: '{}' is a name of the model itself", name)};
    }
    if (Status done = out.adapters->load(name, module.substr(equals + 1), now); !done) {
      return std::move(done).error().in("lora_modules");
    }
  }
  return out;
}

}  // namespace daybreak::cli
