// SPDX-License-Identifier: Apache-2.0
#include "chat/python_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace daybreak::chat {
namespace {

void append_members(std::string& out, const JsonNode& node, JsonStyle style) {
  const bool compact = style == JsonStyle::kSortedCompact;
  std::vector<std::size_t> order(node.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (compact) {
    // Byte order of UTF-8 is code point order, which is how Python compares strings.
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::string_view(node.keys[i]); });
  }
  out += '{';
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0) {
      out += compact ? "," : ", ";
    }
    append_python_string(out, node.keys[order[i]]);
    out += compact ? ":" : ": ";
    append_python_json(out, node.items[order[i]], style);
  }
  out += '}';
}

// Returns the power of ten of the first digit that is not zero, clamped to +-2^30.
// REQUIRES: there is such a digit.
std::int64_t leading_exponent(std::string_view spelling) {
  constexpr std::int64_t kClamp = std::int64_t{1} << 30;
  const std::size_t e = std::min(spelling.find_first_of("eE"), spelling.size());
  const std::size_t point = std::min(spelling.find('.'), e);
  const std::size_t first = spelling.find_first_of("123456789");
  const auto distance = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  std::int64_t exponent = 0;
  if (e < spelling.size()) {
    std::string_view text = spelling.substr(e + 1);
    text.remove_prefix(text.front() == '+' ? 1 : 0);
    if (std::from_chars(text.data(), text.data() + text.size(), exponent).ec != std::errc{}) {
      exponent = text.front() == '-' ? -kClamp : kClamp;
    }
  }
  return std::clamp(exponent, -kClamp, kClamp) + (distance > 0 ? distance - 1 : distance);
}

// Splits the shortest scientific spelling "d.ddde+XX" of a positive finite value.
struct Decimal {
  std::string digits;
  int exponent = 0;
};
Decimal shortest_decimal(double value) {
  std::array<char, 40> buffer{};
  char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                  std::chars_format::scientific)
                        .ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t e = text.find('e');
  Decimal decimal{std::string(text.substr(0, 1))};
  if (e > 2) {
    decimal.digits += text.substr(2, e - 2);
  }
  const std::size_t sign = text[e + 1] == '+' ? 1 : 0;
  std::from_chars(text.data() + e + 1 + sign, end, decimal.exponent);
  return decimal;
}

}  // namespace

void append_python_json(std::string& out, const JsonNode& node, JsonStyle style) {
  switch (node.kind) {
    case JsonNode::Kind::kNull:
      out += "null";
      return;
    case JsonNode::Kind::kBoolean:
      out += node.boolean ? "true" : "false";
      return;
    case JsonNode::Kind::kNumber:
      out += python_number(node.raw);
      return;
    case JsonNode::Kind::kString:
      append_python_string(out, node.text);
      return;
    case JsonNode::Kind::kArray:
      out += '[';
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        if (i > 0) {
          out += style == JsonStyle::kSortedCompact ? "," : ", ";
        }
        append_python_json(out, node.items[i], style);
      }
      out += ']';
      return;
    case JsonNode::Kind::kObject:
      append_members(out, node, style);
      return;
  }
  __builtin_unreachable();
}

void append_python_string(std::string& out, std::string_view text) {
  out += '"';
  append_python_escaped(out, text);
  out += '"';
}

void append_python_escaped(std::string& out, std::string_view text) {
  static constexpr std::string_view kFrom = "\"\\\n\r\t\b\f";
  static constexpr std::string_view kTo = "\"\\nrtbf";
  static constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && c != '"' && c != '\\') {
      out += c;
    } else if (const std::size_t i = kFrom.find(c); i != std::string_view::npos) {
      out += '\\';
      out += kTo[i];
    } else {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

std::string python_float(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-Infinity" : "Infinity";
  }
  std::string out = std::signbit(value) ? "-" : "";
  const auto [digits, exponent] = shortest_decimal(std::abs(value));
  if (exponent < -4 || exponent >= 16) {
    out += digits.substr(0, 1);
    if (digits.size() > 1) {
      out += "." + digits.substr(1);
    }
    const std::string magnitude = std::to_string(std::abs(exponent));
    return out + (exponent < 0 ? "e-" : "e+") + (magnitude.size() < 2 ? "0" : "") + magnitude;
  }
  if (exponent < 0) {
    return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    return out + digits + std::string(whole - digits.size(), '0') + ".0";
  }
  return out + digits.substr(0, whole) + "." + digits.substr(whole);
}

double number_value(std::string_view spelling) {
  double value = 0;
  const auto [end, fault] =
      std::from_chars(spelling.data(), spelling.data() + spelling.size(), value);
  if (fault != std::errc::result_out_of_range) {
    return value;
  }
  // from_chars does not say whether it was too large or too small.
  const double magnitude =
      leading_exponent(spelling) < 0 ? 0.0 : std::numeric_limits<double>::infinity();
  return spelling.front() == '-' ? -magnitude : magnitude;
}

bool is_integer(std::string_view spelling) {
  return spelling.find_first_of(".eE") == std::string_view::npos;
}

std::string python_number(std::string_view spelling) {
  if (!is_integer(spelling)) {
    return python_float(number_value(spelling));
  }
  return spelling == "-0" ? "0" : std::string(spelling);
}

}  // namespace daybreak::chat
