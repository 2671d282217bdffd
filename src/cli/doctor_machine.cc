// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_machine.h"

#include <linux/io_uring.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/cpu_quota.h"

namespace daybreak::cli {
namespace {

// Files of /proc and /sys have no size, so they are read to their end, within a bound.
std::string read_text(const std::filesystem::path& path) {
  constexpr std::streamsize kMaxBytes = 1 << 16;
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(kMaxBytes), '\0');
  file.read(text.data(), kMaxBytes);
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

std::optional<std::uint64_t> to_number(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

// Returns what follows "KEY:" on the first line that starts with it.
std::string field(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) {
      continue;
    }
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

// A limit may stand at any level between the process's own cgroup and the root.
void read_memory_limit(const std::filesystem::path& root, MachineInfo& machine) {
  const std::filesystem::path base = root / "sys/fs/cgroup";
  std::string own;
  std::istringstream lines(read_text(root / "proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::/")) {
      own = line.substr(4);
    }
  }
  std::filesystem::path level = base / own;
  for (;;) {
    const auto limit = to_number(read_text(level / "memory.max"));
    if (limit && (!machine.memory_limit || *limit < *machine.memory_limit)) {
      machine.memory_limit = limit;
      machine.memory_limit_used = to_number(read_text(level / "memory.current"));
    }
    if (level == base || level.parent_path() == level || !level.has_filename()) {
      break;
    }
    level = level.parent_path();
  }
  // Version 1 of the interface.
  const auto limit_v1 = to_number(read_text(base / "memory/memory.limit_in_bytes"));
  constexpr std::uint64_t kNoLimitV1 = std::uint64_t{1} << 62;
  if (!machine.memory_limit && limit_v1 && *limit_v1 < kNoLimitV1) {
    machine.memory_limit = limit_v1;
    machine.memory_limit_used = to_number(read_text(base / "memory/memory.usage_in_bytes"));
  }
}

std::string chosen_word(const std::string& text) {  // "always [madvise] never"
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  return open == std::string::npos || close == std::string::npos || close < open
             ? ""
             : text.substr(open + 1, close - open - 1);
}

std::string probe_io_uring() {
  io_uring_params params = {};
  const long ring = ::syscall(SYS_io_uring_setup, 1, &params);
  if (ring < 0) {
    return std::generic_category().message(errno);
  }
  ::close(static_cast<int>(ring));
  return "available";
}

void ask_kernel(MachineInfo& machine) {
  utsname names = {};
  if (::uname(&names) == 0) {
    machine.kernel = names.release;
  }
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (::sched_getaffinity(0, sizeof cpus, &cpus) == 0) {
    machine.usable_cpus = static_cast<std::uint64_t>(CPU_COUNT(&cpus));
  }
  rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    machine.address_space_limit = limit.rlim_cur;
  }
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    machine.open_files_limit = limit.rlim_cur;
  }
  machine.io_uring = probe_io_uring();
}

}  // namespace

std::uint64_t MachineInfo::usable_memory() const {
  return memory_limit ? std::min(*memory_limit, memory_total) : memory_total;
}

MachineInfo read_machine(const std::filesystem::path& root) {
  MachineInfo machine;
  const std::string cpu = read_text(root / "proc/cpuinfo");
  machine.cpu_model = field(cpu, "model name");
  const std::string memory = read_text(root / "proc/meminfo");
  machine.memory_total = to_number(field(memory, "MemTotal")).value_or(0) * 1024;
  machine.memory_available = to_number(field(memory, "MemAvailable")).value_or(0) * 1024;
  machine.huge_pages = chosen_word(read_text(root / "sys/kernel/mm/transparent_hugepage/enabled"));
  machine.map_count_limit = to_number(read_text(root / "proc/sys/vm/max_map_count"));
  read_memory_limit(root, machine);
  const auto cpus = cgroup_cpu_limit(
      {.proc_self_cgroup = root / "proc/self/cgroup", .cgroup_root = root / "sys/fs/cgroup"});
  if (cpus && *cpus > 0) {
    machine.cpu_quota = *cpus;
  }
  ask_kernel(machine);
  return machine;
}

}  // namespace daybreak::cli
