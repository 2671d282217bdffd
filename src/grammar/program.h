// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a Grammar holds.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "grammar/automaton.h"
#include "grammar/grammar.h"
#include "grammar/schema.h"

namespace daybreak::grammar {

class Grammar::Impl {
 public:
  AutomatonProgram program;
  std::string prefix;     // what every answer begins with, there already
  std::size_t bytes = 0;  // of memory, about
};

}  // namespace daybreak::grammar
