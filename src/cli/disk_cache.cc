// SPDX-License-Identifier: Apache-2.0
#include "cli/disk_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

namespace daybreak::cli {

Result<std::string> model_digest(const std::filesystem::path& directory) {
  std::vector<std::string> lines;
  std::error_code error;
  std::filesystem::directory_iterator at(directory, error);
  for (const std::filesystem::directory_iterator end; !error && at != end; at.increment(error)) {
    struct stat info{};  // of what a link leads to: caches of models are full of them
    if (::stat(at->path().c_str(), &info) != 0) {
      return Error{Errc::kIo, fmt::format("{}: {}", at->path().string(), std::strerror(errno))};
    }
    if (S_ISREG(info.st_mode)) {
      lines.push_back(fmt::format("{} {} {}.{:09}", at->path().filename().string(), info.st_size,
                                  info.st_mtim.tv_sec, info.st_mtim.tv_nsec));
    }
  }
  if (error) {
    return Error{Errc::kIo, fmt::format("{}: {}", directory.string(), error.message())};
  }
  std::ranges::sort(lines);
  const cache::StoreId id = cache::store_id_of(fmt::format("{}", fmt::join(lines, "\n")));
  return fmt::format("{:016x}{:016x}", id[0], id[1]);
}

Result<std::optional<engine::DiskOptions>> disk_options(const ServerConfig& config,
                                                        const LoadedModel& loaded, Log& log) {
  if (config.cache_directory.empty()) {
    return std::optional<engine::DiskOptions>();
  }
  DAYBREAK_TRY(std::string digest, model_digest(loaded.path));
  engine::DiskOptions options;
  options.directory = config.cache_directory;
  options.max_bytes = std::uint64_t{config.cache_disk_mb} << 20U;
  options.keep = config.cache_keep == "on" ? cache::Keep::kParts : cache::Keep::kNothing;
  options.min_tokens = config.cache_min_tokens;
  options.model_digest = std::move(digest);
  options.log = &log;
  return std::optional(std::move(options));
}

}  // namespace daybreak::cli
