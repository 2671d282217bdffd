// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the keys of one object of config.json and keeps every problem, so that a user sees all
// missing keys in one message instead of one per attempt. Includes the JSON parser: .cc files only.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_document.h"
#include "base/result.h"
#include "base/token.h"

namespace daybreak::model {

// What was wrong with a config so far.
class ConfigProblems {
 public:
  static constexpr std::size_t kShown = 40;

  explicit ConfigProblems(std::string file) : file_(std::move(file)) {}

  void missing(std::string where);  // "FILE: a.b", as JsonValue::where_of gives it
  void bad(Error error);            // already names file and field

  // False once a value was bad: checks of one value against another would only add noise.
  [[nodiscard]] bool clean() const { return bad_.empty(); }

  // Returns ok, or one error that lists the missing keys and then the bad ones, at most kShown
  // each.
  [[nodiscard]] Status status() const;

 private:
  std::string file_;
  std::vector<std::string> missing_;
  std::vector<Error> bad_;
};

// Typed access to the members of one object. A reader that fails records the problem and returns a
// harmless value, so that reading goes on; ask problems.status() before using what was read.
class ConfigKeys {
 public:
  // REQUIRES: `problems` and the document outlive this.
  ConfigKeys(JsonValue object, ConfigProblems& problems)
      : object_(std::move(object)), problems_(problems) {}

  struct Range {
    std::uint64_t min = 1;
    std::uint64_t max = 1;
  };

  // Mandatory: absent or null is a missing key.
  [[nodiscard]] std::size_t size(std::string_view key, Range range) const;
  [[nodiscard]] float number(std::string_view key, double min, double max) const;
  [[nodiscard]] bool boolean(std::string_view key) const;
  [[nodiscard]] std::string string(std::string_view key) const;

  // Optional: absent or null gives the default, or nothing.
  [[nodiscard]] std::size_t size_or(std::string_view key, std::size_t fallback, Range range) const;
  [[nodiscard]] float number_or(std::string_view key, float fallback, double min, double max) const;
  [[nodiscard]] bool boolean_or(std::string_view key, bool fallback) const;
  [[nodiscard]] std::string string_or(std::string_view key, std::string_view fallback) const;
  [[nodiscard]] std::optional<std::size_t> size_if_set(std::string_view key, Range range) const;
  [[nodiscard]] std::optional<float> number_if_set(std::string_view key, double min,
                                                   double max) const;

  // Returns the integers of the list `key`, or nothing if it is absent or null.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> sizes_if_set(std::string_view key,
                                                                       Range range,
                                                                       std::size_t max_items) const;

  // Returns the member object `key`, or nothing if it is absent or null.
  [[nodiscard]] std::optional<ConfigKeys> object_if_set(std::string_view key) const;

  // Appends the id or ids under `key` that `ids` does not hold yet; absent or null adds none.
  void add_ids(std::string_view key, std::size_t vocab_size, std::size_t max_ids,
               std::vector<TokenId>& ids) const;

  // Records "FILE: key: WHAT" under `code`.
  void refuse(Errc code, std::string_view key, std::string_view what) const;

  [[nodiscard]] bool has(std::string_view key) const { return object_.find_set(key).has_value(); }
  void need(std::string_view key) const;  // records `key` as missing if it is
  [[nodiscard]] bool clean() const { return problems_.clean(); }
  [[nodiscard]] const JsonValue& value() const { return object_; }

 private:
  template <class T>
  [[nodiscard]] T take(Result<T> result, T harmless) const;

  JsonValue object_;
  ConfigProblems& problems_;
};

}  // namespace daybreak::model
