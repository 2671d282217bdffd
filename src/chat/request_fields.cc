// SPDX-License-Identifier: Apache-2.0
#include "chat/request_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/json_document.h"
#include "chat/python_json.h"

namespace daybreak::chat {
namespace {

std::string plain(double value) {
  std::array<char, 32> buffer{};
  char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

template <class T>
bool parse_integer(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [at, fault] = std::from_chars(text.data(), end, value);
  return fault == std::errc{} && at == end;
}

}  // namespace

std::optional<Field> Field::find(std::string_view key) const {
  const JsonNode* member = node_->find(key);
  if (member == nullptr || member->is(JsonNode::Kind::kNull)) {
    return std::nullopt;
  }
  return Field(*member, path_of(key));
}

std::string Field::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

Result<std::string> Field::string(std::size_t max_bytes) const {
  if (!is(JsonNode::Kind::kString)) {
    return expected("a string");
  }
  if (node_->text.size() > max_bytes) {
    return wrong("expected at most " + std::to_string(max_bytes) + " bytes, found " +
                 std::to_string(node_->text.size()));
  }
  return node_->text;
}

Result<bool> Field::boolean() const {
  if (!is(JsonNode::Kind::kBoolean)) {
    return expected("true or false");
  }
  return node_->boolean;
}

Result<double> Field::number(double min, double max) const {
  const double value = is(JsonNode::Kind::kNumber) ? number_value(node_->raw) : std::nan("");
  if (!(value >= min && value <= max)) {
    return expected("a number from " + plain(min) + " to " + plain(max));
  }
  return value;
}

Result<std::uint64_t> Field::integer(std::uint64_t min, std::uint64_t max) const {
  std::uint64_t value = 0;
  if (!is(JsonNode::Kind::kNumber) || !parse_integer(node_->raw, value) || value < min ||
      value > max) {
    return expected("an integer from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return value;
}

Result<std::int64_t> Field::signed_integer() const {
  std::int64_t value = 0;
  if (!is(JsonNode::Kind::kNumber) || !parse_integer(node_->raw, value)) {
    return expected("an integer of 64 bits");
  }
  return value;
}

Result<std::vector<Field>> Field::array(std::size_t max_items) const {
  if (!is(JsonNode::Kind::kArray)) {
    return expected("an array");
  }
  if (node_->items.size() > max_items) {
    return wrong("expected at most " + std::to_string(max_items) + " items, found " +
                 std::to_string(node_->items.size()));
  }
  std::vector<Field> fields;
  fields.reserve(node_->items.size());
  for (std::size_t i = 0; i < node_->items.size(); ++i) {
    fields.emplace_back(node_->items[i], path_ + "[" + std::to_string(i) + "]");
  }
  return fields;
}

Status Field::object() const {
  if (!is(JsonNode::Kind::kObject)) {
    return expected("an object");
  }
  if (node_->duplicate != JsonNode::kNoDuplicate) {
    return Error{Errc::kInvalidArgument,
                 path_of(printable(node_->keys[node_->duplicate])) + ": key given more than once"};
  }
  return ok();
}

Status Field::text_pairs() const {
  constexpr std::size_t kMaxPairs = 16;
  constexpr std::size_t kMaxKeyBytes = 64;
  constexpr std::size_t kMaxValueBytes = 512;
  DAYBREAK_CHECK_OK(object());
  if (node_->keys.size() > kMaxPairs) {
    return wrong("expected at most " + std::to_string(kMaxPairs) + " pairs, found " +
                 std::to_string(node_->keys.size()));
  }
  for (std::size_t i = 0; i < node_->keys.size(); ++i) {
    if (node_->keys[i].size() > kMaxKeyBytes) {
      return wrong("expected keys of at most " + std::to_string(kMaxKeyBytes) + " bytes, found " +
                   std::to_string(node_->keys[i].size()));
    }
    const Field value(node_->items[i], path_of(printable(node_->keys[i])));
    DAYBREAK_TRY(const std::string text, value.string(kMaxValueBytes));
  }
  return ok();
}

Status Field::object_of(std::initializer_list<std::string_view> known) const {
  DAYBREAK_CHECK_OK(object());
  for (const std::string& key : node_->keys) {
    if (std::ranges::find(known, std::string_view(key)) == known.end()) {
      return Error{Errc::kInvalidArgument, path_of(printable(key)) + ": no such field"};
    }
  }
  return ok();
}

Error Field::expected(std::string_view what) const {
  return wrong("expected " + std::string(what) + ", found " + describe(*node_));
}

Error Field::wrong(std::string_view why, Errc code) const {
  return {code, (path_.empty() ? "request body" : path_) + ": " + std::string(why)};
}

std::string describe(const JsonNode& node) {
  constexpr std::size_t kShown = 40;
  const bool scalar = !node.is(JsonNode::Kind::kArray) && !node.is(JsonNode::Kind::kObject);
  if (scalar && node.raw.size() <= kShown) {
    return printable(node.raw);
  }
  // A string is as long as limits count it: without quotes and escapes.
  const std::size_t bytes = node.is(JsonNode::Kind::kString) ? node.text.size() : node.raw.size();
  return (node.is(JsonNode::Kind::kArray) || node.is(JsonNode::Kind::kObject) ? "an " : "a ") +
         std::string(to_string(node.kind)) +
         (scalar ? " of " + std::to_string(bytes) + " bytes" : "");
}

}  // namespace daybreak::chat
