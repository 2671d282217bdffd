// SPDX-License-Identifier: Apache-2.0
#include "cli/stop_signals.h"

namespace daybreak::cli {

sigset_t stop_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGINT);
  ::sigaddset(&set, SIGTERM);
  return set;
}

sigset_t block_stop_signals(std::initializer_list<int> others) {
  sigset_t set = stop_signals();
  for (const int other : others) {
    ::sigaddset(&set, other);
  }
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return set;
}

}  // namespace daybreak::cli
