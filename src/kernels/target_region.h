// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compiles the functions between BEGIN and END for a wider instruction set than the rest of the
// program, so that no file needs an -m flag and nothing wide can leak into code that must run
// anywhere. Standard headers go above BEGIN: a std:: template compiled inside could be the copy the
// linker keeps for every caller.

#define DAYBREAK_PRAGMA(x) _Pragma(#x)
#if defined(__clang__)
#define DAYBREAK_TARGET_BEGIN(isa) \
  DAYBREAK_PRAGMA(clang attribute push(__attribute__((target(isa))), apply_to = function))
#define DAYBREAK_TARGET_END DAYBREAK_PRAGMA(clang attribute pop)
#else
#define DAYBREAK_TARGET_BEGIN(isa) \
  DAYBREAK_PRAGMA(GCC push_options) DAYBREAK_PRAGMA(GCC target(isa))
#define DAYBREAK_TARGET_END DAYBREAK_PRAGMA(GCC pop_options)
#endif
