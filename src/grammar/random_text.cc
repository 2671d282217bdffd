// SPDX-License-Identifier: Apache-2.0
#include "grammar/random_text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/utf8.h"

namespace daybreak::grammar {
namespace {

void append_unicode_escape(std::string& out, std::uint32_t unit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) {
    out += kDigits[(unit >> shift) & 0xF];
  }
}

std::uint32_t in_range(Rng& rng, std::uint32_t low, std::uint32_t high) {
  return low + rng.below(high - low + 1);
}

}  // namespace

void append_json_escaped(std::string& out, std::string_view utf8) {
  for (const char c : utf8) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          append_unicode_escape(out, static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
}

std::string json_quoted(std::string_view utf8) {
  std::string out = "\"";
  append_json_escaped(out, utf8);
  return out + '"';
}

std::string json_list(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) {
    out += (out.size() > 1 ? "," : "") + item;
  }
  return out + "]";
}

std::string json_list_of_strings(const std::vector<std::string>& strings) {
  std::vector<std::string> items;
  for (const std::string& each : strings) {
    items.push_back(json_quoted(each));
  }
  return json_list(items);
}

bool JsonObjectText::has(std::string_view key) const {
  return std::ranges::any_of(members_, [&](const auto& member) { return member.first == key; });
}

void JsonObjectText::add(std::string_view key, std::string value) {
  if (!has(key)) {
    members_.emplace_back(key, std::move(value));
  }
}

std::string JsonObjectText::text() const {
  std::string out = "{";
  for (const auto& [key, value] : members_) {
    out += (out.size() > 1 ? "," : "") + json_quoted(key) + ":" + value;
  }
  return out + "}";
}

std::uint32_t random_code_point(Rng& rng) {
  const std::uint32_t kind = rng.below(40);
  if (kind < 22) {
    return in_range(rng, 'a', 'z');
  }
  if (kind < 26) {
    return in_range(rng, '0', '9');
  }
  if (kind < 28) {
    return ' ';
  }
  if (kind < 31) {
    return in_range(rng, 0x21, 0x7E);
  }
  if (kind < 33) {
    return chance(rng, 50) ? '"' : '\\';
  }
  if (kind < 34) {
    return rng.below(0x20);
  }
  if (kind < 36) {
    return in_range(rng, 0x7F, 0x24F);
  }
  if (kind < 37) {
    return in_range(rng, 0x4E00, 0x9FFF);
  }
  if (kind < 38) {
    return in_range(rng, 0x1F300, 0x1F6FF);
  }
  // The borders of UTF-8's lengths, of the surrogates and of Unicode.
  constexpr std::uint32_t kBorders[] = {0x7F,   0x80,   0x7FF,  0x800,   0xD7FF,
                                        0xE000, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF};
  return pick(rng, kBorders);
}

std::string random_string(Rng& rng, std::size_t chars) {
  std::string out;
  for (std::size_t i = 0; i < chars; ++i) {
    append_utf8(random_code_point(rng), out);
  }
  return out;
}

std::string random_name(Rng& rng) {
  constexpr std::string_view kNames[] = {"a",     "b",    "c",     "d",    "id",       "name",
                                         "kind",  "tags", "value", "x_1",  "x_2",      "foo",
                                         "items", "Foo",  "a/b",   "q\"q", "\xC3\xA9", ""};
  // The odd ones are rare.
  return std::string(kNames[rng.below(chance(rng, 85) ? 13 : std::size(kNames))]);
}

std::string random_integer(Rng& rng) {
  const std::uint32_t kind = rng.below(20);
  if (kind < 14) {
    return std::to_string(static_cast<int>(rng.below(41)) - 20);
  }
  if (kind < 19) {
    return std::to_string(static_cast<std::int64_t>(rng.below(2'000'001)) - 1'000'000);
  }
  constexpr std::string_view kLarge[] = {"9007199254740993", "-9223372036854775809",
                                         "123456789012345678901234567890"};
  return std::string(pick(rng, kLarge));
}

std::string random_number(Rng& rng) {
  const std::uint32_t kind = rng.below(20);
  if (kind < 9) {
    return random_integer(rng);
  }
  if (kind < 17) {
    std::string fraction = std::to_string(rng.below(chance(rng, 70) ? 10 : 1000));
    return random_integer(rng) + "." + fraction;
  }
  if (kind < 18) {
    return random_integer(rng) + ".0";
  }
  constexpr std::string_view kOdd[] = {"1e2", "-1.5e-3", "0.1", "1E+20", "-0", "0.30", "2.50e1"};
  return std::string(pick(rng, kOdd));
}

std::string random_value(Rng& rng, std::size_t depth) {
  switch (rng.below(depth > 0 ? 8 : 6)) {
    case 0:
      return "null";
    case 1:
      return chance(rng, 50) ? "true" : "false";
    case 2:
      return random_integer(rng);
    case 3:
      return random_number(rng);
    case 4:
    case 5:
      return json_quoted(chance(rng, 50) ? random_name(rng) : random_string(rng, rng.below(8)));
    case 6: {
      std::vector<std::string> items;
      for (std::uint32_t n = rng.below(4); n > 0; --n) {
        items.push_back(random_value(rng, depth - 1));
      }
      return json_list(items);
    }
    default: {
      JsonObjectText object;
      for (std::uint32_t n = rng.below(4); n > 0; --n) {
        const std::string name = random_name(rng);
        object.add(name, random_value(rng, depth - 1));
      }
      return object.text();
    }
  }
}

}  // namespace daybreak::grammar
