// SPDX-License-Identifier: Apache-2.0
#pragma once

// ReadDisplay: shows on a terminal how far reading a checkpoint is, once it has taken a second.

#include <memory>

#include "base/progress.h"
#include "model/checkpoint.h"

namespace daybreak::cli {

// Pass it as a model::ReadCallback by reference. Not thread-safe.
class ReadDisplay {
 public:
  ReadDisplay();  // on stderr, if that is a terminal
  // For tests. `clock` outlives this.
  ReadDisplay(bool terminal, std::size_t columns, ProgressBar::Sink sink, const Clock& clock);

  // Shows a bar and "3/96 model-00003-of-00096.safetensors". Returns true: go on.
  bool operator()(const model::ReadProgress& progress);

 private:
  bool terminal_;
  std::size_t columns_;
  ProgressBar::Sink sink_;
  const Clock* clock_;
  std::unique_ptr<ProgressBar> bar_;  // from the first call on; erased with this
};

}  // namespace daybreak::cli
