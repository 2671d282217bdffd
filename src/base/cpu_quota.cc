// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_quota.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace daybreak {
namespace {

namespace fs = std::filesystem;

// Kernel files of this kind hold a line or a few; more is not one of them.
constexpr std::size_t kMaxFileBytes = 64 << 10;

// Returns the content without the final newline, or nullopt when the file does not exist.
Result<std::optional<std::string>> read_small_file(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return std::optional<std::string>();
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.fail() && !file.eof())) {
    return Error{Errc::kIo, path.string() + ": cannot be read"};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes) {
    return Error{Errc::kCorrupt, path.string() + ": expected at most " +
                                     std::to_string(kMaxFileBytes) + " bytes, found more"};
  }
  if (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return std::optional<std::string>(std::move(text));
}

Result<long long> parse_number(const fs::path& path, std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Error{Errc::kCorrupt,
                 path.string() + ": expected a number, found '" + std::string(text) + "'"};
  }
  return value;
}

Result<std::size_t> cpus_of(const fs::path& path, long long quota, long long period) {
  if (quota <= 0 || period <= 0) {
    return Error{Errc::kCorrupt, path.string() + ": expected a positive quota and period, found " +
                                     std::to_string(quota) + " and " + std::to_string(period)};
  }
  return static_cast<std::size_t>(quota / period + (quota % period != 0 ? 1 : 0));
}

// cpu.max is "max PERIOD" or "QUOTA PERIOD". Returns 0 for no limit.
Result<std::size_t> limit_v2(const fs::path& directory) {
  const fs::path path = directory / "cpu.max";
  DAYBREAK_TRY(const auto text, read_small_file(path));
  if (!text) {
    return std::size_t{0};
  }
  const std::size_t space = text->find(' ');
  if (space == std::string::npos) {
    return Error{Errc::kCorrupt,
                 path.string() + ": expected 'QUOTA PERIOD', found '" + *text + "'"};
  }
  const std::string_view quota = std::string_view(*text).substr(0, space);
  DAYBREAK_TRY(const long long period,
               parse_number(path, std::string_view(*text).substr(space + 1)));
  if (quota == "max") {
    return std::size_t{0};
  }
  DAYBREAK_TRY(const long long number, parse_number(path, quota));
  return cpus_of(path, number, period);
}

// Version 1: a quota of -1 is no limit.
Result<std::size_t> limit_v1(const fs::path& directory) {
  const fs::path path = directory / "cpu.cfs_quota_us";
  const fs::path period_path = directory / "cpu.cfs_period_us";
  DAYBREAK_TRY(const auto quota_text, read_small_file(path));
  DAYBREAK_TRY(const auto period_text, read_small_file(period_path));
  if (!quota_text || !period_text) {
    return std::size_t{0};
  }
  DAYBREAK_TRY(const long long quota, parse_number(path, *quota_text));
  if (quota == -1) {
    return std::size_t{0};
  }
  DAYBREAK_TRY(const long long period, parse_number(period_path, *period_text));
  return cpus_of(path, quota, period);
}

std::size_t tighter(std::size_t a, std::size_t b) {
  return a == 0 ? b : (b == 0 ? a : std::min(a, b));
}

// Returns the tightest limit from `group` below `mount` up to `mount` itself. A group the mount
// does not show (a container's own view of it) has no files and so no limit of its own.
Result<std::size_t> limit_along(const fs::path& mount, std::string_view group,
                                Result<std::size_t> (*limit)(const fs::path&)) {
  std::size_t tightest = 0;
  fs::path relative = fs::path(group).relative_path().lexically_normal();
  if (!relative.empty() && *relative.begin() == "..") {
    relative.clear();  // a group outside what the mount shows
  }
  while (true) {
    DAYBREAK_TRY(const std::size_t here, limit(mount / relative));
    tightest = tighter(tightest, here);
    if (relative.empty() || relative == ".") {
      return tightest;
    }
    relative = relative.parent_path();
  }
}

bool lists_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "cpu") {
      return true;
    }
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

// One line of /proc/self/cgroup: "ID:CONTROLLERS:PATH"; version 2 is "0::PATH".
Result<std::size_t> limit_of_line(const CpuQuotaFiles& files, std::string_view line) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
  if (second == line.npos) {
    return Error{Errc::kCorrupt, files.proc_self_cgroup.string() +
                                     ": expected 'ID:CONTROLLERS:PATH', found '" +
                                     std::string(line) + "'"};
  }
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  const std::string_view group = line.substr(second + 1);
  if (controllers.empty()) {
    return limit_along(files.cgroup_root, group, limit_v2);
  }
  if (!lists_cpu(controllers)) {
    return std::size_t{0};
  }
  // The controller's mount is named either after it alone or after the whole list.
  std::error_code ignored;
  const fs::path joint = files.cgroup_root / std::string(controllers);
  return limit_along(fs::exists(joint, ignored) ? joint : files.cgroup_root / "cpu", group,
                     limit_v1);
}

}  // namespace

Result<std::size_t> cgroup_cpu_limit(const CpuQuotaFiles& files) {
  DAYBREAK_TRY(const auto text, read_small_file(files.proc_self_cgroup));
  if (!text) {
    return std::size_t{0};
  }
  std::size_t tightest = 0;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    DAYBREAK_TRY(const std::size_t limit, limit_of_line(files, rest.substr(0, end)));
    tightest = tighter(tightest, limit);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return tightest;
}

Result<std::size_t> available_cpus(const CpuQuotaFiles& files) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    return Error{Errc::kIo, std::string("sched_getaffinity: ") + std::strerror(errno)};
  }
  const auto affinity = static_cast<std::size_t>(std::max(CPU_COUNT(&set), 1));
  DAYBREAK_TRY(const std::size_t limit, cgroup_cpu_limit(files));
  return tighter(affinity, limit);
}

}  // namespace daybreak
