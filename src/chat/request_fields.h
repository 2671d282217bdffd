// SPDX-License-Identifier: Apache-2.0
#pragma once

// Typed reading of a request's JSON: every error says which field, what was expected and what was
// found. A null member counts as absent, since many clients send their defaults as null.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_tree.h"
#include "base/result.h"

namespace daybreak::chat {

// A value and its path in the request, such as messages[3].tool_call_id. Borrows the tree.
class Field {
 public:
  Field(const JsonNode& node, std::string path) : node_(&node), path_(std::move(path)) {}

  [[nodiscard]] const JsonNode& node() const { return *node_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is(JsonNode::Kind kind) const { return node_->kind == kind; }

  // Returns the member `key` unless absent or null.
  [[nodiscard]] std::optional<Field> find(std::string_view key) const;
  // Returns path() extended by a key.
  [[nodiscard]] std::string path_of(std::string_view key) const;

  // The readers. Errors: kInvalidArgument for another type, a value out of range, too many bytes or
  // items.
  [[nodiscard]] Result<std::string> string(std::size_t max_bytes) const;
  [[nodiscard]] Result<bool> boolean() const;
  [[nodiscard]] Result<double> number(double min, double max) const;
  [[nodiscard]] Result<std::uint64_t> integer(std::uint64_t min, std::uint64_t max) const;
  [[nodiscard]] Result<std::int64_t> signed_integer() const;
  [[nodiscard]] Result<std::vector<Field>> array(std::size_t max_items) const;
  // Checks that this is an object without repeated keys.
  [[nodiscard]] Status object() const;
  // Checks that this is what clients may attach to what is kept: at most 16 pairs of text, keys of
  // at most 64 bytes, values of at most 512.
  [[nodiscard]] Status text_pairs() const;
  // Checks that this is an object without repeated keys and with no others than `known`.
  [[nodiscard]] Status object_of(std::initializer_list<std::string_view> known) const;

  // Returns "PATH: expected WHAT, found ...".
  [[nodiscard]] Error expected(std::string_view what) const;
  // Returns "PATH: WHY".
  [[nodiscard]] Error wrong(std::string_view why, Errc code = Errc::kInvalidArgument) const;

 private:
  const JsonNode* node_;
  std::string path_;
};

// Returns what an error message shows of a value: its bytes when short, else its type.
[[nodiscard]] std::string describe(const JsonNode& node);

}  // namespace daybreak::chat
