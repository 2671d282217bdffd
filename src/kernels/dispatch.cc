// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch.h"

#include <array>
#include <atomic>
#include <string>

#include "kernels/tables.h"

namespace daybreak::kernels {
namespace {

#if defined(__x86_64__)
constexpr std::array kAll = {&kScalarTable, &kAvx2Table, &kAvx512Table};

std::size_t count_available() {
  std::size_t count = 1;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c")) {
    count = 2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      count = 3;
    }
  }
  return count;
}
#else
constexpr std::array kAll = {&kScalarTable};

std::size_t count_available() { return 1; }
#endif

std::atomic<const KernelTable*>& chosen() {
  static std::atomic<const KernelTable*> table = available().back();
  return table;
}

}  // namespace

std::span<const KernelTable* const> available() {
  static const std::size_t count = count_available();
  return std::span(kAll).first(count);
}

const KernelTable& active() { return *chosen().load(std::memory_order_relaxed); }

Status use(std::string_view isa) {
  std::string names;
  for (const KernelTable* table : available()) {
    if (table->isa == isa) {
      chosen().store(table, std::memory_order_relaxed);
      return ok();
    }
    names += (names.empty() ? "" : ", ") + std::string(table->isa);
  }
  return Error{Errc::kInvalidArgument, "instruction set: expected one of " + names +
                                           " (what this CPU has), found '" + std::string(isa) +
                                           "'"};
}

}  // namespace daybreak::kernels
