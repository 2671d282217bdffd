// SPDX-License-Identifier: Apache-2.0
#pragma once

// The judgements of `daybreak doctor`: each says what was found and what follows from it. Pure
// functions of the facts, so that every verdict is tested on machines we do not have.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/doctor_machine.h"
#include "cli/inspect_report.h"

namespace daybreak::cli {

enum class Verdict { kOk, kWarn, kFail };
[[nodiscard]] std::string_view to_string(Verdict verdict);

struct Finding {
  Verdict verdict = Verdict::kOk;
  std::string topic;   // "memory"
  std::string detail;  // one line
};

// What the file system under a model directory is.
struct DiskInfo {
  std::string kind;  // "ext4", "tmpfs", "overlay", ... or a hexadecimal magic number
  std::uint64_t free_bytes = 0;
};

// Returns nothing if `path` does not exist.
[[nodiscard]] std::optional<DiskInfo> read_disk(const std::filesystem::path& path);

// Judges the machine. `isa_names` are the kernel tables that can run here, slowest first.
[[nodiscard]] std::vector<Finding> check_machine(const MachineInfo& machine,
                                                 const std::vector<std::string_view>& isa_names);

// Judges one model on that machine.
[[nodiscard]] std::vector<Finding> check_model(const InspectReport& report,
                                               const MachineInfo& machine);

// Judges the file system that the weights lie on or, if there are none yet, are to be put on.
[[nodiscard]] Finding check_disk(const InspectReport& report, const DiskInfo& disk);

// Loads the tokenizer beside the model: without it only token ids can be generated, and without
// the markers of K3's chat format chat and serve do not start.
[[nodiscard]] Finding check_tokenizer(const std::filesystem::path& dir);

}  // namespace daybreak::cli
