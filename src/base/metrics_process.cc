// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/metrics.h"

namespace daybreak {
namespace {

// Fields of /proc/self/stat that come after the command's name, see proc(5). The name may hold
// spaces and brackets, so counting starts behind the last bracket.
struct ProcessStat {
  double cpu_ticks = 0;
  double threads = 0;
  double start_ticks = 0;
  double virtual_bytes = 0;
  double resident_pages = 0;
};

bool read_stat(ProcessStat& stat) {
  std::ifstream file("/proc/self/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t bracket = text.rfind(')');
  if (bracket == std::string::npos) {
    return false;
  }
  std::istringstream fields(text.substr(bracket + 1));
  std::string state;
  std::array<double, 22> values{};  // field 4 of proc(5) is values[0]
  fields >> state;
  for (double& value : values) {
    fields >> value;
  }
  stat = {.cpu_ticks = values[10] + values[11],
          .threads = values[16],
          .start_ticks = values[18],
          .virtual_bytes = values[19],
          .resident_pages = values[20]};
  return !fields.fail();
}

// Returns when the machine started, in seconds since 1970, or 0.
double boot_time() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) {
      return std::stod(line.substr(6));
    }
  }
  return 0;
}

}  // namespace

void collect_process_metrics(MetricsSink& sink) {
  ProcessStat stat;
  if (!read_stat(stat)) {
    return;
  }
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  sink.counter("process_cpu_seconds_total", "CPU time, user and system", stat.cpu_ticks / ticks,
               {});
  sink.gauge("process_threads", "Threads", stat.threads, {});
  sink.gauge("process_resident_memory_bytes", "Resident memory", stat.resident_pages * page, {});
  sink.gauge("process_virtual_memory_bytes", "Virtual memory", stat.virtual_bytes, {});
  sink.gauge("process_start_time_seconds", "Start, seconds since 1970",
             boot_time() + stat.start_ticks / ticks, {});
  sink.gauge("process_max_fds", "Limit of open file descriptors",
             static_cast<double>(::sysconf(_SC_OPEN_MAX)), {});
  std::error_code error;
  const std::filesystem::directory_iterator fds("/proc/self/fd", error);
  if (!error) {
    sink.gauge("process_open_fds", "Open file descriptors",
               static_cast<double>(std::distance(begin(fds), end(fds)) - 1), {});  // less our own
  }
}

}  // namespace daybreak
