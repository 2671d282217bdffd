// SPDX-License-Identifier: Apache-2.0
#pragma once

// How many CPUs this process may really use: a container often sees every CPU of the host and is
// allowed the time of a few, and a team of threads larger than that waits for itself.

#include <cstddef>
#include <filesystem>

#include "base/result.h"

namespace daybreak {

// Where the kernel says so; tests point it at fixtures.
struct CpuQuotaFiles {
  std::filesystem::path proc_self_cgroup = "/proc/self/cgroup";
  std::filesystem::path cgroup_root = "/sys/fs/cgroup";
};

// Returns the smaller of the CPUs in the scheduling affinity and the cgroup CPU quota rounded up,
// at least 1. Version 2 (cpu.max) and version 1 (cpu.cfs_quota_us, cpu.cfs_period_us) are read, in
// the process's own group and all above it, as each of them limits. A missing file is no limit.
// Errors: kCorrupt (a file that exists says something else than its format allows), kIo.
Result<std::size_t> available_cpus(const CpuQuotaFiles& files = {});

// The cgroup part alone; 0 means no limit.
Result<std::size_t> cgroup_cpu_limit(const CpuQuotaFiles& files);

}  // namespace daybreak
