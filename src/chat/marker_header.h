// SPDX-License-Identifier: Apache-2.0
#pragma once

// What stands between `open` or `close` and `sep`: an element's name and its attributes.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybreak::chat {

enum class Element : std::uint8_t {
  kUnknown,
  kMessage,
  kThink,
  kResponse,
  kTools,
  kCall,
  kArgument,
  kJson
};

struct MarkerHeader {
  enum class Form : std::uint8_t {
    kWhole,   // NAME (SP KEY="VALUE")*, white space allowed around the parts
    kPrefix,  // more characters could still make it whole
    kBroken,  // nothing can
  };
  Element element = Element::kUnknown;  // by the first word
  Form form = Form::kBroken;
  std::vector<std::pair<std::string, std::string>> attributes;  // values unescaped

  // Returns the value of `key`, "" when absent.
  [[nodiscard]] std::string_view attribute(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const;
};

// Reads a header. Never fails: text that is no header is kBroken, or kPrefix.
[[nodiscard]] MarkerHeader parse_marker_header(std::string_view text);

}  // namespace daybreak::chat
