// SPDX-License-Identifier: Apache-2.0
#include "cli/model_path.h"

#include <system_error>

namespace daybreak::cli {

Result<std::filesystem::path> resolve_model(const std::string& model) {
  std::error_code error;
  if (!model.empty()) {
    if (!std::filesystem::exists(model, error)) {
      return Error{Errc::kNotFound, "model '" + model + "': no such directory"};
    }
    const std::filesystem::path path = std::filesystem::path(model).lexically_normal();
    // "link/.." is not always where the link lies.
    return std::filesystem::equivalent(path, model, error) ? path : std::filesystem::path(model);
  }
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return Error{Errc::kNotFound,
                 "bundled model: cannot tell where this program is: " + error.message()};
  }
  const std::filesystem::path folder = executable.parent_path();
  const std::filesystem::path candidates[] = {
      (folder / "../../models/nano").lexically_normal(),
      (folder / "../share/daybreak/nano").lexically_normal()};
  for (const auto& candidate : candidates) {
    if (std::filesystem::is_directory(candidate, error)) {
      return std::filesystem::weakly_canonical(candidate, error);
    }
  }
  return Error{Errc::kNotFound, "bundled model: expected " + candidates[0].string() + " or " +
                                    candidates[1].string() + "; name a model directory instead"};
}

}  // namespace daybreak::cli
