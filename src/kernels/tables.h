// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tables dispatch.cc chooses from, each built in its own file. Everyone else uses dispatch.h.

#include "kernels/dispatch.h"

namespace daybreak::kernels {

extern const KernelTable kScalarTable;
#if defined(__x86_64__)
extern const KernelTable kAvx2Table;    // REQUIRES avx2, fma, f16c
extern const KernelTable kAvx512Table;  // REQUIRES avx512f, bw, dq, vl besides
#endif

}  // namespace daybreak::kernels
