// SPDX-License-Identifier: Apache-2.0
#pragma once

// What may ask for much memory while a program serves others must not end it when there is none:
// the failure becomes an error of the one thing that asked.

#include <new>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"

namespace daybreak {

// Returns what `work` returns, a Result. If it throws std::bad_alloc: an error of that code whose
// message names `what`; anything else it throws is passed on.
template <class F>
[[nodiscard]] std::invoke_result_t<F> or_out_of_memory(Errc code, std::string_view what, F&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    // What was asked for has been unwound: the few bytes of a message are there.
    return Error{code, std::string(what) + ": not enough memory at the moment, try again later"};
  }
}

}  // namespace daybreak
