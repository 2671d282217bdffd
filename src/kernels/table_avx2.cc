// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/attn_res.h"
#include "kernels/kda.h"
#include "kernels/lanes_scalar.h"
#include "kernels/matmul.h"
#include "kernels/matmul_scalar.h"
#include "kernels/mla.h"
#include "kernels/tables.h"
#include "kernels/target_region.h"

DAYBREAK_TARGET_BEGIN("avx2,fma,f16c")

#include "kernels/isa_avx2_inl.h"

namespace daybreak::kernels {

constinit const KernelTable kAvx2Table = make_table<Avx2Isa>();

}  // namespace daybreak::kernels

DAYBREAK_TARGET_END

#endif  // x86-64
