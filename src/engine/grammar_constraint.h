// SPDX-License-Identifier: Apache-2.0
#pragma once

// A grammar as the constraint of an answer.

#include <memory>
#include <vector>

#include "engine/token_constraint.h"
#include "grammar/grammar.h"
#include "grammar/vocabulary_index.h"

namespace daybreak::engine {

// Returns the factory of constraints that follow `grammar`, one matcher for each answer. `stop_ids`
// may come where the answer is complete, and nowhere else.
[[nodiscard]] ConstraintFactory grammar_constraint(
    std::shared_ptr<const grammar::Grammar> grammar,
    std::shared_ptr<const grammar::VocabularyIndex> vocabulary, std::vector<TokenId> stop_ids);

}  // namespace daybreak::engine
