// SPDX-License-Identifier: Apache-2.0
#include "grammar/mutate_instance.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "base/json_tree.h"
#include "base/utf8.h"
#include "grammar/json_spelling.h"
#include "grammar/random_text.h"

namespace daybreak::grammar {
namespace {

std::size_t count_values(const JsonNode& node) {
  std::size_t count = 1;
  for (const JsonNode& item : node.items) {
    count += count_values(item);
  }
  return count;
}

using Member = std::pair<std::string, std::string>;  // key, value text

std::string object_text(const std::vector<Member>& members) {
  std::string out = "{";
  for (const auto& [key, value] : members) {
    out += (out.size() > 1 ? "," : "") + json_quoted(key) + ":" + value;
  }
  return out + "}";
}

std::string changed_object(const JsonNode& node, Rng& rng) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    members.emplace_back(node.keys[i], compact_json(node.items[i]));
  }
  const auto count = static_cast<std::uint32_t>(members.size());
  const std::uint32_t kind = count == 0 ? 0 : rng.below(12);
  if (kind < 3) {
    std::string key = random_name(rng);
    const std::string value = random_value(rng, 1);
    members.insert(members.begin() + rng.below(count + 1), {std::move(key), value});
    return object_text(members);
  }
  const std::uint32_t at = rng.below(count);
  if (kind < 7) {
    members.erase(members.begin() + at);
  } else if (kind < 9) {
    members[at].first = chance(rng, 50) ? random_name(rng) : members[at].first + "x";
  } else if (kind < 10) {
    members.push_back(members[at]);
  } else {
    std::swap(members[at], members[rng.below(count)]);
  }
  return object_text(members);
}

std::string changed_array(const JsonNode& node, Rng& rng) {
  std::vector<std::string> items;
  for (const JsonNode& item : node.items) {
    items.push_back(compact_json(item));
  }
  const auto count = static_cast<std::uint32_t>(items.size());
  const std::uint32_t kind = count == 0 ? 0 : rng.below(8);
  if (kind < 2) {
    const std::string value = random_value(rng, 1);
    items.insert(items.begin() + rng.below(count + 1), value);
    return json_list(items);
  }
  const std::uint32_t at = rng.below(count);
  if (kind < 4) {
    items.erase(items.begin() + at);
  } else if (kind < 7) {
    const std::string copy = items[at];
    items.insert(items.begin() + rng.below(count + 1), copy);
  } else {
    std::swap(items[at], items[rng.below(count)]);
  }
  return json_list(items);
}

// The last digit of the integer part, or of the fraction, one up or down; or another spelling.
std::string changed_number(std::string text, Rng& rng) {
  const bool plain = text.find_first_of("eE") == std::string::npos;
  const bool fraction = text.find('.') != std::string::npos;
  switch (rng.below(7)) {
    case 0:
      return text.front() == '-' ? text.substr(1) : "-" + text;
    case 1:
      return plain ? text + (fraction ? "0" : ".0") : text;  // the same number
    case 2:
      return plain ? text + (fraction ? "5" : ".5") : text;
    case 3:
      return plain && !fraction && text != "0" && text != "-0" ? text + "0" : text + "e1";
    case 4:
      return random_number(rng);
    default:
      break;
  }
  if (!plain) {
    return random_integer(rng);
  }
  char& digit = text.back();
  const bool up = digit == '0' || (digit != '9' && chance(rng, 50));
  digit = static_cast<char>(up ? digit + 1 : digit - 1);
  return text;
}

std::string changed_string(const std::string& text, Rng& rng) {
  std::vector<std::string> points;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = valid_code_point(text, at);
    points.push_back(text.substr(at, point.length));
    at += point.length;
  }
  const auto count = static_cast<std::uint32_t>(points.size());
  const std::uint32_t kind = count == 0 ? 0 : rng.below(6);
  if (kind < 2) {
    const std::string more = random_string(rng, 1 + (chance(rng, 30) ? rng.below(12) : 0));
    points.insert(points.begin() + rng.below(count + 1), more);
  } else if (kind < 4) {
    points.erase(points.begin() + rng.below(count));
  } else if (kind < 5) {
    points[rng.below(count)] = random_string(rng, 1);
  } else {
    points.assign(1, chance(rng, 50) ? random_name(rng) : "");
  }
  std::string out;
  for (const std::string& point : points) {
    out += point;
  }
  return json_quoted(out);
}

std::string changed(const JsonNode& node, Rng& rng) {
  if (chance(rng, 15)) {
    return random_value(rng, 1);
  }
  switch (node.kind) {
    case JsonNode::Kind::kNull:
      return chance(rng, 50) ? "false" : "\"null\"";
    case JsonNode::Kind::kBoolean:
      return node.boolean ? "false" : "true";
    case JsonNode::Kind::kNumber:
      return changed_number(std::string(node.raw), rng);
    case JsonNode::Kind::kString:
      return changed_string(node.text, rng);
    case JsonNode::Kind::kArray:
      return changed_array(node, rng);
    case JsonNode::Kind::kObject:
      return changed_object(node, rng);
  }
  __builtin_unreachable();
}

// Returns the text of `node` with the value number `left` (in the order of the text) changed.
// Recursion is bounded by the depth parse_json_tree allows.
std::string with_change(const JsonNode& node, std::size_t& left, Rng& rng) {
  if (left-- == 0) {
    return changed(node, rng);
  }
  if (node.items.empty()) {
    return compact_json(node);
  }
  std::vector<Member> members;
  std::vector<std::string> items;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    std::string item = with_change(node.items[i], left, rng);
    if (node.kind == JsonNode::Kind::kObject) {
      members.emplace_back(node.keys[i], std::move(item));
    } else {
      items.push_back(std::move(item));
    }
  }
  return node.kind == JsonNode::Kind::kObject ? object_text(members) : json_list(items);
}

}  // namespace

std::string mutate_instance(std::string_view text, Rng& rng) {
  const auto tree = parse_json_tree(text);
  if (!tree) {
    return std::string(text);
  }
  std::size_t left = rng.below(static_cast<std::uint32_t>(count_values(*tree)));
  return with_change(*tree, left, rng);
}

}  // namespace daybreak::grammar
