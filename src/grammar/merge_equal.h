// SPDX-License-Identifier: Apache-2.0
#pragma once

// merge_equal: formulas and shapes that look the same however far one looks become one. Multiplying
// out not, oneOf and if leaves many alternatives that differ only in rules that say nothing where
// they stand; each would be a thread of its own.

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/shapes.h"

namespace daybreak::grammar {

// Makes all options lead to one formula of each kind, and drops doubles among options and shapes.
// Formulas keep their numbers. Partition refinement: as many rounds as it takes until no class
// splits. Errors: kTooLarge.
[[nodiscard]] Status merge_equal(CompiledSchemas& schemas, Budget& budget);

}  // namespace daybreak::grammar
