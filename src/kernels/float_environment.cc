// SPDX-License-Identifier: Apache-2.0
#include "kernels/float_environment.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <cstdint>
#endif

namespace daybreak::kernels {

void set_float_environment() {
#if defined(__x86_64__)
  // All six exceptions masked, everything else 0: nearest even, no FTZ, no DAZ.
  _mm_setcsr(0x1f80u);
#elif defined(__aarch64__)
  const std::uint64_t nearest_even_no_flush = 0;
  asm volatile("msr fpcr, %0" : : "r"(nearest_even_no_flush));
#else
#error "set_float_environment knows x86-64 and arm64"
#endif
}

}  // namespace daybreak::kernels
