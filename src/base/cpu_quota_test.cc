// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_quota.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace daybreak {
namespace {

namespace fs = std::filesystem;

// A cgroup tree in a temporary folder.
class CpuQuota : public ::testing::Test {
 protected:
  CpuQuota() {
    std::string pattern = (fs::temp_directory_path() / "daybreak_quota_XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    files_ = {.proc_self_cgroup = root_ / "self_cgroup", .cgroup_root = root_ / "cgroup"};
  }
  ~CpuQuota() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void expect_limit(std::size_t expected) const {
    const Result<std::size_t> limit = cgroup_cpu_limit(files_);
    ASSERT_TRUE(limit) << limit.error().message;
    EXPECT_EQ(*limit, expected);
  }
  void expect_corrupt(const std::string& named) const {
    const Result<std::size_t> limit = cgroup_cpu_limit(files_);
    ASSERT_FALSE(limit);
    EXPECT_EQ(limit.error().code, Errc::kCorrupt);
    EXPECT_NE(limit.error().message.find(named), std::string::npos) << limit.error().message;
  }

  fs::path root_;
  CpuQuotaFiles files_;
};

TEST_F(CpuQuota, NoFilesIsNoLimit) {
  expect_limit(0);
  write("self_cgroup", "0::/\n");
  expect_limit(0);
}

TEST_F(CpuQuota, Version2QuotaIsRoundedUp) {
  write("self_cgroup", "0::/app\n");
  write("cgroup/app/cpu.max", "200000 100000\n");
  expect_limit(2);
  write("cgroup/app/cpu.max", "200001 100000\n");
  expect_limit(3);
  write("cgroup/app/cpu.max", "50000 100000\n");
  expect_limit(1);
  write("cgroup/app/cpu.max", "max 100000\n");
  expect_limit(0);
}

TEST_F(CpuQuota, TheTightestGroupAboveCounts) {
  write("self_cgroup", "0::/pod/app\n");
  write("cgroup/pod/app/cpu.max", "800000 100000\n");
  write("cgroup/pod/cpu.max", "300000 100000\n");
  expect_limit(3);
  write("cgroup/cpu.max", "100000 100000\n");
  expect_limit(1);
}

// Inside a container the path is the host's, while the mount shows the container's group as root.
TEST_F(CpuQuota, APathTheMountDoesNotShowFallsBackToTheRoot) {
  write("self_cgroup", "0::/kubepods/pod1/abc\n");
  write("cgroup/cpu.max", "150000 100000\n");
  expect_limit(2);
  write("self_cgroup", "0::/../../pod1\n");
  expect_limit(2);
}

TEST_F(CpuQuota, Version1ReadsQuotaAndPeriod) {
  write("self_cgroup", "12:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/\n");
  write("cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "250000\n");
  write("cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
  expect_limit(3);
  write("cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1\n");
  expect_limit(0);
}

TEST_F(CpuQuota, Version1MountMayBeNamedAfterTheControllerAlone) {
  write("self_cgroup", "4:cpu,cpuacct:/\n");
  write("cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  write("cgroup/cpu/cpu.cfs_period_us", "100000\n");
  expect_limit(1);
}

TEST_F(CpuQuota, MalformedFilesAreNamed) {
  write("self_cgroup", "0::/\n");
  for (const char* text : {"", "100000", "abc 100000", "100000 x", "0 100000", "-5 100000",
                           "100000 0", "99999999999999999999 100000"}) {
    SCOPED_TRACE(text);
    write("cgroup/cpu.max", text);
    expect_corrupt("cpu.max");
  }
  write("self_cgroup", "no colons\n");
  expect_corrupt("self_cgroup");
}

TEST_F(CpuQuota, AFileOverItsBoundIsRefused) {
  write("self_cgroup", "0::/" + std::string((64 << 10) - 4, 'a'));
  expect_limit(0);
  write("self_cgroup", "0::/" + std::string((64 << 10) - 3, 'a'));
  expect_corrupt("at most");
}

TEST_F(CpuQuota, AvailableCpusIsBoundedByTheQuotaAndAtLeastOne) {
  const Result<std::size_t> unlimited = available_cpus(files_);
  ASSERT_TRUE(unlimited);
  EXPECT_GE(*unlimited, 1u);
  write("self_cgroup", "0::/\n");
  write("cgroup/cpu.max", "100000 100000\n");
  const Result<std::size_t> one = available_cpus(files_);
  ASSERT_TRUE(one);
  EXPECT_EQ(*one, 1u);
  write("cgroup/cpu.max", "100000000 100000\n");
  EXPECT_EQ(*available_cpus(files_), *unlimited);
}

}  // namespace
}  // namespace daybreak
