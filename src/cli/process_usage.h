// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the system says another process has used.

#include <sys/types.h>

#include <cstddef>

namespace daybreak::cli {

// Returns the memory of the process that is in use and shared with nobody, in bytes; 0 if there is
// no such process.
[[nodiscard]] std::size_t private_bytes(pid_t process);
// Returns its CPU time so far, user and system, all threads; 0 if there is no such process.
[[nodiscard]] double cpu_seconds(pid_t process);

}  // namespace daybreak::cli
