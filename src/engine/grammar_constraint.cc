// SPDX-License-Identifier: Apache-2.0
#include "engine/grammar_constraint.h"

#include <utility>

namespace daybreak::engine {
namespace {

class GrammarConstraint final : public TokenConstraint {
 public:
  explicit GrammarConstraint(grammar::Matcher matcher) : matcher_(std::move(matcher)) {}

  std::span<const std::uint32_t> mask() override { return matcher_.mask(); }
  bool accept(TokenId id) override { return matcher_.accept(id); }
  bool overrun() const override { return matcher_.overrun(); }

 private:
  grammar::Matcher matcher_;
};

}  // namespace

ConstraintFactory grammar_constraint(std::shared_ptr<const grammar::Grammar> grammar,
                                     std::shared_ptr<const grammar::VocabularyIndex> vocabulary,
                                     std::vector<TokenId> stop_ids) {
  return [grammar = std::move(grammar), vocabulary = std::move(vocabulary),
          stop_ids = std::move(stop_ids)] {
    return std::make_unique<GrammarConstraint>(grammar::Matcher(grammar, vocabulary, stop_ids));
  };
}

}  // namespace daybreak::engine
