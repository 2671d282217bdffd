// SPDX-License-Identifier: Apache-2.0
// Equality of JSON values as JSON Schema Core 2020-12, section 4.2.2, has it.

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>

#include "base/hash.h"
#include "grammar/schema.h"
#include "grammar/validator.h"

namespace daybreak::grammar {
namespace {

using Kind = JsonNode::Kind;

std::uint64_t hash_bytes(std::string_view bytes) {
  return fnv1a64(std::as_bytes(std::span(bytes)));
}

bool equal_numbers(std::string_view a, std::string_view b) {
  if (a == b) {
    return true;
  }
  const auto left = Decimal::parse(a);
  const auto right = Decimal::parse(b);
  // Beyond Decimal's exponents only equal spellings are taken for equal.
  return left && right && *left == *right;
}

std::vector<std::uint32_t> key_order(const JsonNode& object) {
  std::vector<std::uint32_t> order(object.keys.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {},
                    [&](std::uint32_t i) -> const std::string& { return object.keys[i]; });
  return order;
}

bool equal_objects(const JsonNode& a, const JsonNode& b) {
  if (a.items.size() != b.items.size()) {
    return false;
  }
  const auto left = key_order(a);
  const auto right = key_order(b);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (a.keys[left[i]] != b.keys[right[i]]) {
      return false;
    }
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!equal_values(a.items[left[i]], b.items[right[i]])) {
      return false;
    }
  }
  return true;
}

std::uint64_t hash_number(std::string_view raw) {
  const auto number = Decimal::parse(raw);
  if (!number) {
    return hash_bytes(raw);
  }
  return mix64(hash_bytes(number->digits()) + static_cast<std::uint64_t>(number->exponent()) * 2 +
               static_cast<std::uint64_t>(number->negative()));
}

}  // namespace

bool equal_values(const JsonNode& a, const JsonNode& b) {
  if (a.kind != b.kind) {
    return false;
  }
  switch (a.kind) {
    case Kind::kNull:
      return true;
    case Kind::kBoolean:
      return a.boolean == b.boolean;
    case Kind::kNumber:
      return equal_numbers(a.raw, b.raw);
    case Kind::kString:
      return a.text == b.text;
    case Kind::kArray:
      return std::ranges::equal(a.items, b.items, equal_values);
    case Kind::kObject:
      return equal_objects(a, b);
  }
  __builtin_unreachable();
}

std::uint64_t hash_value(const JsonNode& node) {
  std::uint64_t hash = mix64(static_cast<std::uint64_t>(node.kind));
  switch (node.kind) {
    case Kind::kNull:
      return hash;
    case Kind::kBoolean:
      return mix64(hash + static_cast<std::uint64_t>(node.boolean));
    case Kind::kNumber:
      return mix64(hash + hash_number(node.raw));
    case Kind::kString:
      return mix64(hash + hash_bytes(node.text));
    case Kind::kArray:
      for (const JsonNode& item : node.items) {
        hash = mix64(hash ^ hash_value(item));
      }
      return hash;
    case Kind::kObject:
      // A sum: the members' order does not count.
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        hash += mix64(hash_bytes(node.keys[i]) ^ mix64(hash_value(node.items[i])));
      }
      return mix64(hash);
  }
  __builtin_unreachable();
}

}  // namespace daybreak::grammar
