// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_checks.h"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <system_error>

#include "base/human_units.h"
#include "chat/markers.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {
namespace {

struct FileSystem {
  std::uint64_t magic;
  const char* name;
};
// From the kernel's list of magic numbers; only those a model is likely to lie on.
constexpr std::array<FileSystem, 12> kFileSystems = {{{0xef53, "ext4"},
                                                      {0x58465342, "xfs"},
                                                      {0x9123683e, "btrfs"},
                                                      {0x2fc12fc1, "zfs"},
                                                      {0xf2f52010, "f2fs"},
                                                      {0x01021994, "tmpfs"},
                                                      {0x794c7630, "overlay"},
                                                      {0x6969, "nfs"},
                                                      {0xff534d42, "cifs"},
                                                      {0x65735546, "fuse"},
                                                      {0x01021997, "9p"},
                                                      {0x00c36400, "ceph"}}};

bool is_network(std::string_view kind) {
  return kind == "nfs" || kind == "cifs" || kind == "fuse" || kind == "9p" || kind == "ceph";
}

std::string bytes(std::uint64_t value) { return human_bytes(value); }

Finding check_kernels(const std::vector<std::string_view>& isa_names) {
  std::string names;
  for (const std::string_view name : isa_names) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  if (isa_names.size() < 2) {
    return {Verdict::kWarn, "kernels",
            (names.empty() ? "none" : names) +
                " only: this CPU lacks AVX2 with FMA, generation will be many times slower"};
  }
  return {Verdict::kOk, "kernels", names + " (the last is used; all give the same bits)"};
}

Finding check_cores(const MachineInfo& machine) {
  const std::string cpus = std::to_string(machine.usable_cpus) + " usable";
  if (!machine.cpu_quota) {
    return {machine.usable_cpus == 0 ? Verdict::kWarn : Verdict::kOk, "cores",
            cpus + ", no cgroup quota"};
  }
  const std::string quota = "cgroup quota " + std::to_string(*machine.cpu_quota);
  if (*machine.cpu_quota < machine.usable_cpus) {
    return {Verdict::kWarn, "cores",
            cpus + ", but " + quota + ": more threads than that would be stopped by the kernel"};
  }
  return {Verdict::kOk, "cores", cpus + ", " + quota};
}

Finding check_memory(const MachineInfo& machine) {
  if (machine.memory_total == 0) {
    return {Verdict::kWarn, "memory", "unknown: /proc/meminfo could not be read"};
  }
  std::string text =
      bytes(machine.memory_total) + ", " + bytes(machine.memory_available) + " available";
  if (machine.memory_limit) {
    text += ", cgroup limit " + bytes(*machine.memory_limit);
    if (machine.memory_limit_used) {
      text += " (" + bytes(*machine.memory_limit_used) + " used)";
    }
  }
  return {Verdict::kOk, "memory", text};
}

Finding check_huge_pages(const MachineInfo& machine) {
  if (machine.huge_pages.empty()) {
    return {Verdict::kWarn, "huge pages", "not offered by this kernel"};
  }
  const bool never = machine.huge_pages == "never";
  return {never ? Verdict::kWarn : Verdict::kOk, "huge pages",
          machine.huge_pages + (never ? ": large buffers cost more address translation" : "")};
}

Finding check_io_uring(const MachineInfo& machine) {
  if (machine.io_uring == "available") {
    return {Verdict::kOk, "io_uring", "available (not used yet: weights are mapped)"};
  }
  return {Verdict::kOk, "io_uring",
          "not available (" + machine.io_uring + "); not needed: weights are mapped"};
}

Finding check_limits(const MachineInfo& machine) {
  std::string text = std::to_string(machine.open_files_limit) + " open files";
  if (machine.map_count_limit) {
    text += ", " + std::to_string(*machine.map_count_limit) + " mappings";
  }
  text += machine.address_space_limit
              ? ", address space limited to " + bytes(*machine.address_space_limit)
              : ", address space not limited";
  // serve holds one descriptor per connection.
  constexpr std::uint64_t kFewFiles = 1024;
  if (machine.open_files_limit < kFewFiles) {
    return {Verdict::kWarn, "limits", text + ": few connections will fit (ulimit -n)"};
  }
  return {Verdict::kOk, "limits", text};
}

Finding check_fit(const InspectReport& report, const MachineInfo& machine) {
  const model::MemoryPlan& plan = report.plan;
  const std::uint64_t usable = machine.usable_memory();
  const std::string need = bytes(plan.total) + " for " + grouped(plan.options.slots) + " x " +
                           grouped(plan.options.context) + " positions";
  if (usable == 0) {
    return {Verdict::kWarn, "fit", need + "; memory of this machine unknown"};
  }
  if (plan.total - plan.weights > usable) {
    return {Verdict::kFail, "fit",
            need + ": cache and state alone exceed the " + bytes(usable) + " usable here"};
  }
  if (plan.total > usable) {
    return {Verdict::kWarn, "fit",
            need + ", " + grouped(plan.total - usable) + " bytes more than the " + bytes(usable) +
                " usable here: runs from the disk, at the disk's speed"};
  }
  if (plan.total > machine.memory_available) {
    return {Verdict::kWarn, "fit",
            need + " fits into " + bytes(usable) + ", but only " + bytes(machine.memory_available) +
                " are free now"};
  }
  return {Verdict::kOk, "fit", need + " of " + bytes(usable)};
}

Finding check_files(const InspectReport& report) {
  if (!report.checkpoint) {
    return {Verdict::kFail, "weights",
            "no model.safetensors and no model.safetensors.index.json: nothing to run"};
  }
  const CheckpointFacts& facts = *report.checkpoint;
  if (facts.catalog.problems > 0) {
    return {Verdict::kFail, "weights",
            grouped(facts.catalog.problems) +
                " problems, the first: " + facts.catalog.shown.front().message};
  }
  return {Verdict::kOk, "weights",
          "complete: " + grouped(facts.tensors) + " tensors, " + bytes(facts.data_bytes) + " in " +
              std::to_string(facts.shards) + (facts.shards == 1 ? " file" : " files")};
}

// REQUIRES: report.checkpoint.
Finding check_mappings(const InspectReport& report, const MachineInfo& machine) {
  const std::uint64_t size = report.checkpoint->file_bytes;
  if (machine.address_space_limit && *machine.address_space_limit < size) {
    return {Verdict::kFail, "address space",
            "limited to " + bytes(*machine.address_space_limit) + ", mapping the weights takes " +
                bytes(size) + " (ulimit -v unlimited)"};
  }
  return {Verdict::kOk, "address space", "room for " + bytes(size) + " of mapped weights"};
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kWarn:
      return "warn";
    case Verdict::kFail:
      return "fail";
  }
  return "";
}

std::optional<DiskInfo> read_disk(const std::filesystem::path& path) {
  struct statfs info = {};
  if (::statfs(path.c_str(), &info) != 0) {
    return std::nullopt;
  }
  DiskInfo disk;
  const auto magic = static_cast<std::uint32_t>(info.f_type);
  const auto known = std::ranges::find(kFileSystems, std::uint64_t{magic}, &FileSystem::magic);
  if (known != kFileSystems.end()) {
    disk.kind = known->name;
  } else {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "type 0x%x", magic);
    disk.kind = text.data();
  }
  disk.free_bytes =
      static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_bsize);
  return disk;
}

std::vector<Finding> check_machine(const MachineInfo& machine,
                                   const std::vector<std::string_view>& isa_names) {
  return {{machine.cpu_model.empty() ? Verdict::kWarn : Verdict::kOk, "cpu",
           machine.cpu_model.empty() ? "model unknown" : machine.cpu_model},
          check_kernels(isa_names),
          check_cores(machine),
          check_memory(machine),
          check_huge_pages(machine),
          check_io_uring(machine),
          check_limits(machine)};
}

Finding check_disk(const InspectReport& report, const DiskInfo& disk) {
  const std::string text = disk.kind + ", " + bytes(disk.free_bytes) + " free";
  const std::uint64_t needed = report.size.total.bytes;
  if (!report.checkpoint && disk.free_bytes < needed) {
    return {Verdict::kWarn, "disk",
            text + ": " + grouped(needed - disk.free_bytes) + " bytes less than the " +
                bytes(needed) + " of this model's weights"};
  }
  if (is_network(disk.kind)) {
    return {Verdict::kWarn, "disk",
            text + ": mapped weights may be slow or fail when the network does"};
  }
  return {Verdict::kOk, "disk",
          report.checkpoint ? text : text + ", the weights need " + bytes(needed)};
}

std::vector<Finding> check_model(const InspectReport& report, const MachineInfo& machine) {
  std::vector<Finding> findings;
  findings.push_back({Verdict::kOk, "model",
                      report.config.model_type + ", " + human_count(report.size.total.parameters) +
                          " parameters, " + human_count(report.size.active_parameters) +
                          " active per token"});
  findings.push_back(check_files(report));
  findings.push_back(check_fit(report, machine));
  if (report.checkpoint) {
    findings.push_back(check_mappings(report, machine));
  }
  if (const auto disk = read_disk(report.path)) {
    findings.push_back(check_disk(report, *disk));
  }
  if (report.config.vision) {
    findings.push_back(
        {Verdict::kWarn, "images", "this build answers text only; the vision tower is not run"});
  }
  return findings;
}

Finding check_tokenizer(const std::filesystem::path& dir) {
  std::string missing;
  for (const char* name : {"tiktoken.model", "tokenizer_config.json"}) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(dir / name, ignored)) {
      missing += (missing.empty() ? "" : " and ") + std::string(name);
    }
  }
  if (!missing.empty()) {
    return {Verdict::kWarn, "tokenizer",
            missing + " missing: only generate --ids works, not chat or serve"};
  }
  const auto tokenizer = tokenizer::Tokenizer::load(dir);
  if (!tokenizer) {
    return {Verdict::kFail, "tokenizer", tokenizer.error().message};
  }
  if (const auto markers = chat::MarkerIds::from(**tokenizer); !markers) {
    return {Verdict::kWarn, "tokenizer",
            "chat and serve need <|open|> and the other markers of K3's chat format: " +
                markers.error().message};
  }
  return {Verdict::kOk, "tokenizer", "loads, and has the markers of K3's chat format"};
}

}  // namespace daybreak::cli
