// SPDX-License-Identifier: Apache-2.0
#include "chat/marker_header.h"

#include <algorithm>
#include <array>

#include "chat/segment_writer.h"

namespace daybreak::chat {
namespace {

struct Name {
  std::string_view text;
  Element element;
};
constexpr std::array<Name, 7> kNames = {{{"message", Element::kMessage},
                                         {"think", Element::kThink},
                                         {"response", Element::kResponse},
                                         {"tools", Element::kTools},
                                         {"call", Element::kCall},
                                         {"argument", Element::kArgument},
                                         {"json", Element::kJson}}};

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::string_view trim_front(std::string_view text) {
  const auto* const it = std::ranges::find_if_not(text, is_space);
  return text.substr(static_cast<std::size_t>(it - text.begin()));
}

// Reads KEY="VALUE" from the front of `text` into `header`; false: text is not whole from here on,
// and header.form says how.
bool read_attribute(std::string_view& text, MarkerHeader& header) {
  const std::size_t key_end = std::min(text.find_first_of("=\" \n\t\r"), text.size());
  const std::string_view key = text.substr(0, key_end);
  if (key_end == text.size()) {
    header.form = MarkerHeader::Form::kPrefix;
    return false;
  }
  if (key.empty() || text.substr(key_end, 1) != "=") {
    header.form = MarkerHeader::Form::kBroken;
    return false;
  }
  const std::string_view value = text.substr(key_end + 1);
  const std::size_t quote =
      value.empty() || value.front() != '"' ? std::string_view::npos : value.find('"', 1);
  if (quote == std::string_view::npos) {
    header.form = value.empty() || value.front() == '"' ? MarkerHeader::Form::kPrefix
                                                        : MarkerHeader::Form::kBroken;
    return false;
  }
  header.attributes.emplace_back(key, unescape_attribute(value.substr(1, quote - 1)));
  text = value.substr(quote + 1);
  return true;
}

}  // namespace

std::string_view MarkerHeader::attribute(std::string_view key) const {
  const auto it =
      std::ranges::find(attributes, key, [](const auto& a) { return std::string_view(a.first); });
  return it == attributes.end() ? std::string_view() : std::string_view(it->second);
}

bool MarkerHeader::has(std::string_view key) const {
  return std::ranges::any_of(attributes, [&](const auto& a) { return a.first == key; });
}

MarkerHeader parse_marker_header(std::string_view text) {
  MarkerHeader header;
  text = trim_front(text);
  const auto* const space = std::ranges::find_if(text, is_space);
  const std::string_view word = text.substr(0, static_cast<std::size_t>(space - text.begin()));
  const auto* const name = std::ranges::find(kNames, word, &Name::text);
  if (name == kNames.end()) {
    const bool prefix =
        std::ranges::any_of(kNames, [&](const Name& n) { return n.text.starts_with(text); });
    header.form = prefix ? MarkerHeader::Form::kPrefix : MarkerHeader::Form::kBroken;
    return header;
  }
  header.element = name->element;
  text.remove_prefix(word.size());
  const bool channel = header.element == Element::kThink || header.element == Element::kResponse ||
                       header.element == Element::kTools;
  if (channel && !trim_front(text).empty()) {
    return header;  // these have no attributes: what follows the name is no part of a marker
  }
  for (text = trim_front(text); !text.empty(); text = trim_front(text)) {
    if (!read_attribute(text, header)) {
      return header;
    }
  }
  header.form = MarkerHeader::Form::kWhole;
  return header;
}

}  // namespace daybreak::chat
