// SPDX-License-Identifier: Apache-2.0
// `daybreak doctor`: what this machine has and what will or will not run, before anything is
// loaded.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/doctor_checks.h"
#include "cli/doctor_machine.h"
#include "cli/inspect_report.h"
#include "cli/inspect_table.h"
#include "cli/model_path.h"
#include "kernels/dispatch.h"

namespace daybreak::cli {
namespace {

struct Options {
  std::string model;
  bool json = false;
  std::uint64_t context = 0;
  std::uint64_t slots = 1;
};

std::vector<std::string_view> isa_names() {
  std::vector<std::string_view> names;
  for (const kernels::KernelTable* table : kernels::available()) {
    names.push_back(table->isa);
  }
  return names;
}

// A model that cannot be read is a finding, not a failure of the command: the rest still helps.
void add_model(const Options& options, const MachineInfo& machine, std::vector<Finding>& findings) {
  const auto path = resolve_model(options.model);
  if (!path) {
    // Without an argument a machine is examined, and the bundled model may not be installed.
    findings.push_back(
        {options.model.empty() ? Verdict::kWarn : Verdict::kFail, "model", path.error().message});
    return;
  }
  InspectOptions inspect_options;
  inspect_options.context = options.context;
  inspect_options.slots = options.slots;
  const auto report = inspect(*path, inspect_options, {});
  if (!report) {
    findings.push_back({Verdict::kFail, "model", report.error().message});
    return;
  }
  const auto more = check_model(*report, machine);
  findings.insert(findings.end(), more.begin(), more.end());
  std::error_code ignored;
  const bool directory = std::filesystem::is_directory(*path, ignored);
  findings.push_back(check_tokenizer(directory ? *path : path->parent_path()));
}

std::string as_json(const MachineInfo& machine, const std::vector<Finding>& findings) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"verdict", to_string(finding.verdict)},
                    {"topic", finding.topic},
                    {"detail", finding.detail}});
  }
  Json isa = Json::array();
  for (const std::string_view name : isa_names()) {
    isa.push_back(name);
  }
  const Json json = {
      {"cpu", machine.cpu_model},
      {"isa", isa},
      {"kernel", machine.kernel},
      {"usable_cpus", machine.usable_cpus},
      {"cpu_quota", machine.cpu_quota ? Json(*machine.cpu_quota) : Json(nullptr)},
      {"memory_total", machine.memory_total},
      {"memory_available", machine.memory_available},
      {"memory_limit", machine.memory_limit ? Json(*machine.memory_limit) : Json(nullptr)},
      {"huge_pages", machine.huge_pages},
      {"io_uring", machine.io_uring},
      {"open_files_limit", machine.open_files_limit},
      {"findings", list}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_text(const std::vector<Finding>& findings, bool colour) {
  std::size_t topic_width = 0;
  for (const Finding& finding : findings) {
    topic_width = std::max(topic_width, finding.topic.size());
  }
  std::string text;
  for (const Finding& finding : findings) {
    const Colour tone = finding.verdict == Verdict::kOk     ? Colour::kGreen
                        : finding.verdict == Verdict::kWarn ? Colour::kYellow
                                                            : Colour::kRed;
    const std::string word(to_string(finding.verdict));
    text += "  " + paint(word, tone, colour) + std::string(6 - word.size(), ' ') + finding.topic +
            std::string(topic_width + 2 - finding.topic.size(), ' ') + finding.detail + "\n";
  }
  return text;
}

Status run(const Options& options) {
  const MachineInfo machine = read_machine();
  std::vector<Finding> findings = check_machine(machine, isa_names());
  add_model(options, machine, findings);
  const std::string text =
      options.json ? as_json(machine, findings) : as_text(findings, ::isatty(STDOUT_FILENO) == 1);
  std::fputs(text.c_str(), stdout);
  const auto failed = std::ranges::count(findings, Verdict::kFail, &Finding::verdict);
  if (failed > 0) {
    return Error{Errc::kUnavailable, std::to_string(failed) + " of " +
                                         std::to_string(findings.size()) + " checks failed"};
  }
  return ok();
}

}  // namespace

void register_doctor(Command root) {
  const auto options = std::make_shared<Options>();
  const Command sub =
      root.add_subcommand("doctor", "what this machine has, and what will or will not run on it");
  sub.add_option("MODEL", options->model, "model directory; default: the bundled model");
  sub.add_flag("--json", options->json, "print JSON");
  sub.add_option("--context", options->context, "positions per sequence to plan for")
      .in_range(1, model::kMaxPositions, "POSITIVE");
  sub.add_option("--slots", options->slots, "sequences at once to plan for")
      .in_range(1, model::kMaxPlanSlots, "POSITIVE")
      .show_default();
  sub.runs([options] { return run(*options); });
}

}  // namespace daybreak::cli
