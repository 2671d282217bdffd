// SPDX-License-Identifier: Apache-2.0
#pragma once

// The signals that end a server, taken one by one by whoever waits for them.

#include <signal.h>

#include <initializer_list>

namespace daybreak::cli {

// SIGINT and SIGTERM.
[[nodiscard]] sigset_t stop_signals();

// Blocks these and `others`, so that only sigwait() and its kin see them, and ignores SIGPIPE.
// Returns what is blocked. To be called before threads start: they inherit it.
sigset_t block_stop_signals(std::initializer_list<int> others = {});

}  // namespace daybreak::cli
