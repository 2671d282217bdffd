// SPDX-License-Identifier: Apache-2.0
#include "cli/process_usage.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace daybreak::cli {
namespace {

std::string proc_path(pid_t process, const char* name) {
  return "/proc/" + std::to_string(process) + "/" + name;
}

}  // namespace

std::size_t private_bytes(pid_t process) {
  std::ifstream file(proc_path(process, "statm"));
  std::size_t total = 0;
  std::size_t resident = 0;
  std::size_t shared = 0;
  file >> total >> resident >> shared;
  return (resident - shared) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

double cpu_seconds(pid_t process) {
  std::ifstream file(proc_path(process, "stat"));
  std::string line;
  std::getline(file, line);
  // The name of the program, in parentheses, may hold anything: fields are counted after it.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) {
    return 0.0;
  }
  std::istringstream fields(line.substr(name_end + 1));
  constexpr int kBeforeTimes = 11;
  std::string skipped;
  for (int i = 0; i < kBeforeTimes; ++i) {
    fields >> skipped;
  }
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace daybreak::cli
