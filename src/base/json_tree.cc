// SPDX-License-Identifier: Apache-2.0
#include "base/json_tree.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/json_document.h"
#include "base/utf8.h"

namespace daybreak {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_value(char c) {
  if (is_digit(c)) {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Recursive descent; the nesting limit bounds the stack. Each function returns false after fail().
class TreeParser {
 public:
  TreeParser(std::string_view text, const JsonTreeLimits& limits) : text_(text), limits_(limits) {}

  Result<JsonNode> parse() {
    if (!is_valid_utf8(text_)) {
      return invalid_utf8();
    }
    JsonNode root;
    skip_space();
    if (!value(root, 0) || !end()) {
      return error();
    }
    return root;
  }

 private:
  bool value(JsonNode& node, std::size_t depth) {
    if (++values_ > limits_.max_values) {
      return fail("more than " + std::to_string(limits_.max_values) + " values");
    }
    const std::size_t begin = at_;
    if (!value_body(node, depth)) {
      return false;
    }
    node.raw = text_.substr(begin, at_ - begin);
    return true;
  }

  bool value_body(JsonNode& node, std::size_t depth) {
    switch (peek()) {
      case '{':
        node.kind = JsonNode::Kind::kObject;
        return deeper(depth) && object(node, depth + 1);
      case '[':
        node.kind = JsonNode::Kind::kArray;
        return deeper(depth) && array(node, depth + 1);
      case '"':
        node.kind = JsonNode::Kind::kString;
        return string(node.text);
      case 't':
      case 'f':
        node.kind = JsonNode::Kind::kBoolean;
        node.boolean = peek() == 't';
        return word(node.boolean ? "true" : "false");
      case 'n':
        return word("null");
      default:
        node.kind = JsonNode::Kind::kNumber;
        return number();
    }
  }

  bool deeper(std::size_t depth) {
    return depth < limits_.max_depth ||
           fail("nested deeper than " + std::to_string(limits_.max_depth) + " levels");
  }

  bool array(JsonNode& node, std::size_t depth) {
    ++at_;
    skip_space();
    if (take(']')) {
      return true;
    }
    for (;;) {
      node.items.emplace_back();
      if (!value(node.items.back(), depth)) {
        path_.insert(0, "[" + std::to_string(node.items.size() - 1) + "]");
        return false;
      }
      skip_space();
      if (take(']')) {
        return true;
      }
      if (!take(',')) {
        return fail("expected ',' or ']'");
      }
      skip_space();
    }
  }

  bool object(JsonNode& node, std::size_t depth) {
    ++at_;
    skip_space();
    if (take('}')) {
      return true;
    }
    for (;;) {
      std::string key;
      if (peek() != '"') {
        return fail("expected a key in quotes");
      }
      if (!string(key)) {
        return false;
      }
      skip_space();
      if (!take(':')) {
        return fail("expected ':'");
      }
      skip_space();
      node.keys.push_back(std::move(key));
      node.items.emplace_back();
      if (!value(node.items.back(), depth)) {
        path_.insert(0, "." + printable(node.keys.back(), 40));
        return false;
      }
      skip_space();
      if (take('}')) {
        merge_duplicates(node);
        return true;
      }
      if (!take(',')) {
        return fail("expected ',' or '}'");
      }
      skip_space();
    }
  }

  // Last value, first place: what Python's dict makes of repeated keys. Sorts instead of hashing,
  // so that no choice of keys makes it slow.
  static void merge_duplicates(JsonNode& node) {
    std::vector<std::size_t> order(node.keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      const int compared = node.keys[a].compare(node.keys[b]);
      return compared < 0 || (compared == 0 && a < b);
    });
    std::vector<std::size_t> repeated;
    for (std::size_t i = 0, first = 0; i < order.size(); ++i) {
      if (node.keys[order[i]] != node.keys[order[first]]) {
        first = i;
      } else if (i > first) {
        node.items[order[first]] = std::move(node.items[order[i]]);
        node.duplicate = std::min(node.duplicate, static_cast<std::uint32_t>(order[first]));
        repeated.push_back(order[i]);
      }
    }
    if (!repeated.empty()) {
      std::ranges::sort(repeated);
      remove_members(node, repeated);
    }
  }

  // Removes the members at `indices`, which are ascending, in one pass.
  static void remove_members(JsonNode& node, const std::vector<std::size_t>& indices) {
    std::size_t kept = indices.front();
    auto next = indices.begin();
    for (std::size_t i = kept; i < node.keys.size(); ++i) {
      if (next != indices.end() && *next == i) {
        ++next;
        continue;
      }
      node.keys[kept] = std::move(node.keys[i]);
      node.items[kept++] = std::move(node.items[i]);
    }
    node.keys.resize(kept);
    node.items.resize(kept);
  }

  bool string(std::string& out) {
    const std::size_t start = at_++;
    for (;;) {
      const std::size_t run = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<unsigned char>(text_[at_]) >= 0x20) {
        ++at_;
      }
      out.append(text_, run, at_ - run);
      if (at_ == text_.size()) {
        at_ = start;
        return fail("string without an end");
      }
      if (take('"')) {
        return true;
      }
      if (text_[at_] != '\\') {
        return fail("control character in a string");
      }
      if (!escape(out)) {
        return false;
      }
    }
  }

  bool escape(std::string& out) {
    static constexpr std::string_view kFrom = "\"\\/bfnrt";
    static constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (c == 'u') {
      return unicode_escape(out);
    }
    const std::size_t i = kFrom.find(c);
    if (c == '\0' || i == std::string_view::npos) {
      return fail("unknown escape");
    }
    out += kTo[i];
    at_ += 2;
    return true;
  }

  bool unicode_escape(std::string& out) {
    const std::size_t start = at_;
    std::uint32_t unit = 0;
    if (!hex4(unit)) {
      return false;
    }
    if (unit < 0xD800 || unit > 0xDFFF) {
      append_utf8(unit, out);
      return true;
    }
    std::uint32_t low = 0;
    const bool paired = unit < 0xDC00 && text_.substr(at_, 2) == "\\u";
    if (paired && !hex4(low)) {
      return false;
    }
    if (!paired || low < 0xDC00 || low > 0xDFFF) {
      at_ = start;
      return fail("lone surrogate " + std::string(text_.substr(start, 6)));
    }
    append_utf8(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), out);
    return true;
  }

  bool hex4(std::uint32_t& unit) {
    for (std::size_t i = at_ + 2; i < at_ + 6; ++i) {
      const int digit = i < text_.size() ? hex_value(text_[i]) : -1;
      if (digit < 0) {
        return fail("\\u without four hex digits");
      }
      unit = unit * 16 + static_cast<std::uint32_t>(digit);
    }
    at_ += 6;
    return true;
  }

  bool number() {
    const std::size_t begin = at_;
    take('-');
    if (!is_digit(peek())) {
      at_ = begin;
      return fail(at_ == text_.size() ? "expected a value, found the end" : "expected a value");
    }
    if (!take('0')) {
      skip_digits();
    }
    if (take('.') && !skip_digits()) {
      return fail("expected a digit after '.'");
    }
    if (take('e') || take('E')) {
      if (!take('+')) {
        take('-');
      }
      if (!skip_digits()) {
        return fail("expected a digit in the exponent");
      }
    }
    return at_ - begin <= limits_.max_number_bytes ||
           fail("number longer than " + std::to_string(limits_.max_number_bytes) + " bytes");
  }

  bool skip_digits() {
    const std::size_t begin = at_;
    while (is_digit(peek())) {
      ++at_;
    }
    return at_ > begin;
  }

  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) {
      return fail("expected '" + std::string(expected) + "'");
    }
    at_ += expected.size();
    return true;
  }

  bool end() {
    skip_space();
    return at_ == text_.size() || fail("unexpected text after the value");
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char c) {
    if (peek() != c) {
      return false;
    }
    ++at_;
    return true;
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  bool fail(std::string why) {
    why_ = std::move(why);
    return false;
  }

  Error error() const {
    std::string message = path_.starts_with('.') ? path_.substr(1) : path_;
    message += (message.empty() ? "not valid JSON: " : ": not valid JSON: ") + why_ + " at byte " +
               std::to_string(at_);
    return {Errc::kInvalidArgument, std::move(message)};
  }

  Error invalid_utf8() const {
    std::size_t at = 0;
    while (at < text_.size() && utf8_step(text_, at).kind == Utf8Step::Kind::kValid) {
      at += utf8_step(text_, at).length;
    }
    return {Errc::kInvalidArgument, "not valid JSON: invalid UTF-8 at byte " + std::to_string(at)};
  }

  std::string_view text_;
  JsonTreeLimits limits_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
  std::string path_;  // filled from the inside out after a failure
  std::string why_;
};

}  // namespace

const JsonNode* JsonNode::find(std::string_view key) const {
  const auto it = std::find(keys.begin(), keys.end(), key);
  return it == keys.end() ? nullptr : &items[static_cast<std::size_t>(it - keys.begin())];
}

std::string_view to_string(JsonNode::Kind kind) {
  switch (kind) {
    case JsonNode::Kind::kNull:
      return "null";
    case JsonNode::Kind::kBoolean:
      return "boolean";
    case JsonNode::Kind::kNumber:
      return "number";
    case JsonNode::Kind::kString:
      return "string";
    case JsonNode::Kind::kArray:
      return "array";
    case JsonNode::Kind::kObject:
      return "object";
  }
  __builtin_unreachable();
}

Result<JsonNode> parse_json_tree(std::string_view text, const JsonTreeLimits& limits) {
  return TreeParser(text, limits).parse();
}

}  // namespace daybreak
