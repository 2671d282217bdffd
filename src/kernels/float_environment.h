// SPDX-License-Identifier: Apache-2.0
#pragma once

// The floating-point control state that every computing thread must have (rule 3).

namespace daybreak::kernels {

// Sets the calling thread to round to nearest even, no flush-to-zero, no denormals-are-zero, all
// floating-point traps masked. Usable as ThreadTeam's start hook.
void set_float_environment();

}  // namespace daybreak::kernels
