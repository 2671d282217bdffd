// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "cli/doctor_checks.h"
#include "cli/doctor_machine.h"
#include "model/safetensors_builder.h"
#include "testing/paths.h"

namespace daybreak::cli {
namespace {

using model::TemporaryDirectory;

// A directory tree like / that holds what a test says.
class FakeRoot {
 public:
  FakeRoot& file(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((dir_.path() / path).parent_path());
    dir_.write(path, text);
    return *this;
  }
  [[nodiscard]] MachineInfo read() const { return read_machine(dir_.path()); }

 private:
  TemporaryDirectory dir_;
};

Finding find(const std::vector<Finding>& findings, const std::string& topic) {
  const auto at = std::ranges::find(findings, topic, &Finding::topic);
  return at == findings.end() ? Finding{Verdict::kFail, "none", "no such topic"} : *at;
}

MachineInfo large_machine() {
  MachineInfo machine;
  machine.cpu_model = "cpu";
  machine.usable_cpus = 8;
  machine.memory_total = 64'000'000'000;
  machine.memory_available = 60'000'000'000;
  machine.huge_pages = "always";
  machine.io_uring = "available";
  machine.open_files_limit = 4096;
  return machine;
}

TEST(DoctorMachine, ReadsWhatTheKernelWrites) {
  FakeRoot root;
  root.file("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU 3000\nflags\t: fpu\n")
      .file("proc/meminfo",
            "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable: 9000000 kB\n")
      .file("proc/self/cgroup", "0::/a/b\n")
      .file("sys/fs/cgroup/a/cpu.max", "150000 100000\n")
      .file("sys/fs/cgroup/a/memory.max", "4000000000\n")
      .file("sys/fs/cgroup/a/memory.current", "1000\n")
      .file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
      .file("sys/fs/cgroup/a/b/memory.max", "max\n")
      .file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
      .file("proc/sys/vm/max_map_count", "65530\n");
  const MachineInfo machine = root.read();
  EXPECT_EQ(machine.cpu_model, "Some CPU 3000");
  EXPECT_EQ(machine.memory_total, 16'384'000'000u);
  EXPECT_EQ(machine.memory_available, 9'216'000'000u);
  EXPECT_EQ(machine.cpu_quota, 2u);
  EXPECT_EQ(machine.memory_limit, 4'000'000'000u);
  EXPECT_EQ(machine.memory_limit_used, 1000u);
  EXPECT_EQ(machine.usable_memory(), 4'000'000'000u);
  EXPECT_EQ(machine.huge_pages, "madvise");
  EXPECT_EQ(machine.map_count_limit, 65530u);
  EXPECT_GT(machine.usable_cpus, 0u);
  EXPECT_FALSE(machine.io_uring.empty());
}

TEST(DoctorMachine, ReadsTheOlderMemoryLimit) {
  FakeRoot root;
  root.file("proc/meminfo", "MemTotal: 1000000 kB\n")
      .file("proc/self/cgroup", "4:memory:/docker/x\n")
      .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "500000000\n");
  const MachineInfo machine = root.read();
  EXPECT_EQ(machine.memory_limit, 500'000'000u);
  EXPECT_EQ(machine.cpu_quota, std::nullopt);
}

TEST(DoctorMachine, UnreadableAndMalformedFilesLeaveFieldsEmpty) {
  const MachineInfo nothing = FakeRoot().read();
  EXPECT_EQ(nothing.memory_total, 0u);
  EXPECT_EQ(nothing.cpu_quota, std::nullopt);
  FakeRoot root;
  root.file("proc/meminfo", "MemTotal: lots\n")
      .file("proc/self/cgroup", "0::/../../..\n")
      .file("sys/fs/cgroup/cpu.max", "-5 0\n")
      .file("sys/fs/cgroup/memory.max", "99999999999999999999999\n")
      .file("sys/kernel/mm/transparent_hugepage/enabled", "]odd[\n");
  const MachineInfo machine = root.read();
  EXPECT_EQ(machine.memory_total, 0u);
  EXPECT_EQ(machine.cpu_quota, std::nullopt);
  EXPECT_EQ(machine.memory_limit, std::nullopt);
  EXPECT_EQ(machine.huge_pages, "");
}

TEST(DoctorChecks, AGoodMachineHasNoWarning) {
  for (const Finding& finding : check_machine(large_machine(), {"scalar", "avx2"})) {
    EXPECT_EQ(finding.verdict, Verdict::kOk) << finding.topic << ": " << finding.detail;
  }
}

TEST(DoctorChecks, EachShortcomingIsNamed) {
  MachineInfo machine = large_machine();
  machine.cpu_quota = 7;
  machine.huge_pages = "never";
  machine.open_files_limit = 1023;
  const auto findings = check_machine(machine, {"scalar"});
  EXPECT_EQ(find(findings, "kernels").verdict, Verdict::kWarn);
  EXPECT_EQ(find(findings, "cores").verdict, Verdict::kWarn);
  EXPECT_NE(find(findings, "cores").detail.find("cgroup quota 7:"), std::string::npos);
  EXPECT_EQ(find(findings, "huge pages").verdict, Verdict::kWarn);
  EXPECT_EQ(find(findings, "limits").verdict, Verdict::kWarn);
  machine.open_files_limit = 1024;
  machine.cpu_quota = 8;
  const auto better = check_machine(machine, {"scalar", "avx2"});
  EXPECT_EQ(find(better, "limits").verdict, Verdict::kOk);
  EXPECT_EQ(find(better, "cores").verdict, Verdict::kOk);
}

TEST(DoctorChecks, TheFitOfAModelHasFourVerdicts) {
  const auto report =
      inspect(daybreak::testing::source_path("testdata/model/k3.config.json"), {}, {});
  ASSERT_TRUE(report) << report.error().message;
  MachineInfo machine = large_machine();
  const auto fit = [&] { return find(check_model(*report, machine), "fit"); };
  EXPECT_EQ(fit().verdict, Verdict::kWarn);
  EXPECT_NE(fit().detail.find("runs from the disk"), std::string::npos);
  machine.memory_limit = report->plan.total - report->plan.weights - 1;
  EXPECT_EQ(fit().verdict, Verdict::kFail);
  machine.memory_limit.reset();
  machine.memory_total = report->plan.total;
  EXPECT_EQ(fit().verdict, Verdict::kWarn);  // fits, but most of it is in use
  machine.memory_available = report->plan.total;
  EXPECT_EQ(fit().verdict, Verdict::kOk);
  machine.memory_total = 0;
  EXPECT_EQ(fit().verdict, Verdict::kWarn);
}

TEST(DoctorChecks, AConfigWithoutWeightsCannotRun) {
  const auto report =
      inspect(daybreak::testing::source_path("testdata/model/k3.config.json"), {}, {});
  ASSERT_TRUE(report);
  const auto findings = check_model(*report, large_machine());
  EXPECT_EQ(find(findings, "weights").verdict, Verdict::kFail);
  EXPECT_EQ(find(findings, "images").verdict, Verdict::kWarn);
}

TEST(DoctorChecks, AnAddressSpaceLimitBelowTheWeightsFails) {
  auto report = inspect(daybreak::testing::source_path("testdata/model/k3.config.json"), {}, {});
  ASSERT_TRUE(report);
  report->checkpoint = CheckpointFacts{.shards = 1,
                                       .tensors = 1,
                                       .file_bytes = 1000,
                                       .data_bytes = 900,
                                       .catalog = {},
                                       .verified = false};
  MachineInfo machine = large_machine();
  machine.address_space_limit = 999;
  EXPECT_EQ(find(check_model(*report, machine), "address space").verdict, Verdict::kFail);
  machine.address_space_limit = 1000;
  EXPECT_EQ(find(check_model(*report, machine), "address space").verdict, Verdict::kOk);
}

TEST(DoctorChecks, MissingTokenizerFilesAreNamed) {
  const TemporaryDirectory dir;
  EXPECT_NE(check_tokenizer(dir.path()).detail.find("tiktoken.model and tokenizer_config.json"),
            std::string::npos);
  dir.write("tiktoken.model", "");
  EXPECT_EQ(check_tokenizer(dir.path()).verdict, Verdict::kWarn);
  dir.write("tokenizer_config.json", "{}");
  EXPECT_EQ(check_tokenizer(dir.path()).verdict, Verdict::kFail);  // there, but no tokenizer
}

TEST(DoctorChecks, ATokenizerWithoutChatMarkersIsToldOf) {
  const auto folder = testing::source_path("testdata/tokenizer");
  EXPECT_EQ(check_tokenizer(folder).verdict, Verdict::kOk) << check_tokenizer(folder).detail;
  const TemporaryDirectory dir;
  dir.write("tiktoken.model", testing::read_file(folder / "tiktoken.model"));
  std::string config = testing::read_file(folder / "tokenizer_config.json");
  const std::size_t at = config.find("<|open|>");
  ASSERT_NE(at, std::string::npos);
  dir.write("tokenizer_config.json", config.replace(at, 8, "<|other|>"));
  const Finding finding = check_tokenizer(dir.path());
  EXPECT_EQ(finding.verdict, Verdict::kWarn);
  EXPECT_NE(finding.detail.find("chat and serve need <|open|>"), std::string::npos)
      << finding.detail;
}

TEST(DoctorChecks, WithoutWeightsTheDiskIsComparedWithThem) {
  const auto report = inspect(testing::source_path("testdata/model/k3.config.json"), {}, {});
  ASSERT_TRUE(report) << report.error().message;
  const std::uint64_t needed = report->size.total.bytes;
  EXPECT_EQ(check_disk(*report, {.kind = "ext4", .free_bytes = needed}).verdict, Verdict::kOk);
  const Finding tight = check_disk(*report, {.kind = "ext4", .free_bytes = needed - 1});
  EXPECT_EQ(tight.verdict, Verdict::kWarn);
  EXPECT_NE(tight.detail.find("1 bytes less than"), std::string::npos) << tight.detail;
  EXPECT_EQ(find(check_model(*report, large_machine()), "address space").topic, "none");
}

TEST(DoctorChecks, DisksAreNamed) {
  EXPECT_TRUE(read_disk("/"));
  EXPECT_FALSE(read_disk("/does/not/exist"));
}

}  // namespace
}  // namespace daybreak::cli
