// SPDX-License-Identifier: Apache-2.0
#pragma once

// ProcessedSequence: what is left of a request that has ended, to be kept or gone on from.

#include <memory>
#include <string>
#include <vector>

#include "base/token.h"
#include "engine/step_model.h"

namespace daybreak::engine {

// A sequence and what it has processed.
struct ProcessedSequence {
  std::unique_ptr<Sequence> sequence;
  std::vector<TokenId> ids;     // sequence->position() of them
  std::string scope;            // Job::scope() of the request
  bool zero_retention = false;  // of the request, see GenerateRequest
};

}  // namespace daybreak::engine
