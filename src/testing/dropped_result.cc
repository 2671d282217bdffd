// SPDX-License-Identifier: Apache-2.0
// Compiled twice by ctest: as it is, and with DROP_THE_RESULT, which must not compile.
#include "base/result.h"

namespace daybreak {

Status fail();
Status fail() { return Error{Errc::kIo, "no"}; }

bool use();
bool use() {
#ifdef DROP_THE_RESULT
  fail();
#endif
  return fail().has_value();
}

}  // namespace daybreak
