// SPDX-License-Identifier: Apache-2.0
#pragma once

// What this machine offers: read from /proc, /sys and a few system calls, shared by `doctor` and by
// the memory verdict of `inspect`.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace daybreak::cli {

struct MachineInfo {
  std::string cpu_model;                             // "" if unknown
  std::string kernel;                                // release, such as "6.1.0-18-amd64"
  std::uint64_t usable_cpus = 0;                     // by affinity
  std::optional<std::uint64_t> cpu_quota;            // CPUs a cgroup grants, rounded up
  std::uint64_t memory_total = 0;                    // bytes
  std::uint64_t memory_available = 0;                // bytes, the kernel's estimate
  std::optional<std::uint64_t> memory_limit;         // of the cgroup; unset: no limit
  std::optional<std::uint64_t> memory_limit_used;    // already charged to that cgroup
  std::string huge_pages;                            // "always", "madvise", "never" or ""
  std::optional<std::uint64_t> address_space_limit;  // RLIMIT_AS; unset: no limit
  std::uint64_t open_files_limit = 0;                // RLIMIT_NOFILE
  std::optional<std::uint64_t> map_count_limit;      // vm.max_map_count
  std::string io_uring;                              // "available", or why not

  // Returns the bytes a process may fill: the smaller of the machine's memory and the limit.
  [[nodiscard]] std::uint64_t usable_memory() const;
};

// Reads what files say below `root` ("/" for this machine; tests give a tree of their own) and asks
// the kernel for the rest. What cannot be read stays empty.
[[nodiscard]] MachineInfo read_machine(const std::filesystem::path& root = "/");

}  // namespace daybreak::cli
