// SPDX-License-Identifier: Apache-2.0
#pragma once

// RegexNfa: a regular expression as a graph of nodes that read a class, branch or assert.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "grammar/budget.h"
#include "grammar/regex_ast.h"

namespace daybreak::grammar {

struct RegexNfaNode {
  enum class Kind : std::uint8_t {
    kChars,   // reads one code point of a set, then `next`
    kSplit,   // `next` or `other`
    kAssert,  // asserts AST node `ast` (kBegin, kLook or kBoundary), then `next`
    kAccept,  // the end of the string
    kTail,    // any rest of the string
  };
  Kind kind = Kind::kAccept;
  std::uint32_t set = 0;
  std::uint32_t ast = 0;
  std::uint32_t next = 0, other = 0;
};

class RegexNfa {
 public:
  using Index = std::uint32_t;

  // `ast` outlives this.
  explicit RegexNfa(const RegexAst& ast) : ast_(ast) {}

  [[nodiscard]] const RegexNfaNode& operator[](Index index) const { return nodes_[index]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

  Index add(RegexNfaNode node);
  // Adds the nodes that match `ast_node` and go on at `next`; returns the first. Counted repeats
  // are copies. Errors: kTooLarge when the budget ends.
  [[nodiscard]] Result<Index> build(std::uint32_t ast_node, Index next, Budget& budget);
  // Adds a loop that skips any code points (of set number `any`), then goes on at `next`.
  Index add_search(std::uint32_t any, Index next);

 private:
  [[nodiscard]] Result<Index> repeat(const RegexNode& node, Index next, Budget& budget);

  const RegexAst& ast_;
  std::vector<RegexNfaNode> nodes_;
};

}  // namespace daybreak::grammar
