// SPDX-License-Identifier: Apache-2.0
#pragma once

// Random JSON texts without a schema: strings, numbers, values. What random_schema and
// random_instance are made of. Everything depends on the Rng alone.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace daybreak::grammar {

// Returns true `percent` times out of a hundred.
[[nodiscard]] inline bool chance(Rng& rng, std::uint32_t percent) {
  return rng.below(100) < percent;
}

// Returns one of `pool`. REQUIRES: not empty.
template <class T, std::size_t N>
[[nodiscard]] const T& pick(Rng& rng, const T (&pool)[N]) {
  return pool[rng.below(static_cast<std::uint32_t>(N))];
}
template <class Container>
[[nodiscard]] const auto& pick(Rng& rng, const Container& pool) {
  return pool[rng.below(static_cast<std::uint32_t>(pool.size()))];
}

// Appends `utf8` as it stands between the quotes of a JSON string: quote, backslash and control
// characters escaped, all else bare.
void append_json_escaped(std::string& out, std::string_view utf8);
// Returns `utf8` as a JSON string. REQUIRES: valid UTF-8.
[[nodiscard]] std::string json_quoted(std::string_view utf8);

// Returns `items`, JSON texts, as an array.
[[nodiscard]] std::string json_list(const std::vector<std::string>& items);
[[nodiscard]] std::string json_list_of_strings(const std::vector<std::string>& strings);

// A JSON object in the making; a key given twice keeps its first value.
class JsonObjectText {
 public:
  void add(std::string_view key, std::string value);
  [[nodiscard]] bool empty() const { return members_.empty(); }
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

// Returns a code point of any kind: mostly letters and digits, also quotes, backslashes, control
// characters, non-ASCII letters, and characters outside the basic plane. Never a surrogate.
[[nodiscard]] std::uint32_t random_code_point(Rng& rng);
// Returns `chars` of them in UTF-8.
[[nodiscard]] std::string random_string(Rng& rng, std::size_t chars);
// Returns the name of a property, from a pool so small that names meet again.
[[nodiscard]] std::string random_name(Rng& rng);

// Returns the spelling of a JSON integer, mostly of few digits.
[[nodiscard]] std::string random_integer(Rng& rng);
// Returns the spelling of a JSON number, with a fraction or an exponent now and then.
[[nodiscard]] std::string random_number(Rng& rng);
// Returns a JSON value, compact, without duplicate keys; arrays and objects nest to `depth`.
[[nodiscard]] std::string random_value(Rng& rng, std::size_t depth);

}  // namespace daybreak::grammar
