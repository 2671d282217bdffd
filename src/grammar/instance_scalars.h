// SPDX-License-Identifier: Apache-2.0
#pragma once

// Strings and numbers for random_instance: members of what several schemas ask at once.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/rng.h"
#include "grammar/dfa.h"
#include "grammar/random_instance.h"
#include "grammar/schema.h"

namespace daybreak::grammar {

// Patterns compiled once per instance; one that cannot be compiled is null.
class SampledPatterns {
 public:
  [[nodiscard]] const Dfa* find(const std::string& pattern);
  // Returns whether the pattern matches; false for one that cannot be compiled.
  [[nodiscard]] bool matches(const std::string& pattern, std::string_view text);

 private:
  std::map<std::string, std::optional<Dfa>> compiled_;
};

// Returns a string of the language with between `min` and `max` code points, or nothing if a few
// walks found none.
[[nodiscard]] std::optional<std::string> random_member(const Dfa& dfa, std::uint64_t min,
                                                       std::uint64_t max,
                                                       RandomInstanceOptions::Text text, Rng& rng);

// Returns a string (unescaped) that all of `schemas` allow: lengths, patterns and formats.
[[nodiscard]] std::optional<std::string> random_string_of(std::span<const Schema* const> schemas,
                                                          RandomInstanceOptions::Text text,
                                                          SampledPatterns& patterns, Rng& rng);

enum class Integer : bool { kNo, kYes };
// Returns the spelling of a number that all of `schemas` allow: bounds and multiples.
[[nodiscard]] std::optional<std::string> random_number_of(std::span<const Schema* const> schemas,
                                                          Integer integer, Rng& rng);

}  // namespace daybreak::grammar
