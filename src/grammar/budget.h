// SPDX-License-Identifier: Apache-2.0
#pragma once

// Budget: how many steps one compilation may take. A schema of a few lines can describe an
// automaton of millions of states; every loop that grows with what a client sent spends from here,
// and a client whose grammar costs too much gets an error instead of everybody's time.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace daybreak::grammar {

// Used by one thread at a time.
class Budget {
 public:
  explicit Budget(std::uint64_t steps) : left_(steps), steps_(steps) {}

  // Takes `steps` away. Errors: kTooLarge naming `what` grew too large and the budget.
  [[nodiscard]] Status spend(std::uint64_t steps, std::string_view what) {
    if (steps <= left_) {
      left_ -= steps;
      return ok();
    }
    left_ = 0;
    return Error{Errc::kTooLarge, std::string(what) + ": expected a grammar of at most " +
                                      std::to_string(steps_) + " compilation steps, found more"};
  }

  [[nodiscard]] std::uint64_t left() const { return left_; }
  [[nodiscard]] std::uint64_t spent() const { return steps_ - left_; }

 private:
  std::uint64_t left_;
  std::uint64_t steps_;
};

}  // namespace daybreak::grammar
