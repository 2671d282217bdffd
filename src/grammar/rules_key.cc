// SPDX-License-Identifier: Apache-2.0
#include "grammar/rules_key.h"

#include <string_view>

namespace daybreak::grammar {
namespace {

// Lengths before texts: no text can look like two.
void append(std::string& key, std::string_view text) {
  key += std::to_string(text.size());
  key += ':';
  key += text;
}

void append(std::string& key, bool value) { key += value ? '1' : '0'; }

}  // namespace

std::string rules_key(const MessageRules& rules) {
  std::string key;
  append(key, std::to_string(static_cast<int>(rules.start)));
  append(key, std::to_string(static_cast<int>(rules.body)));
  append(key, std::to_string(static_cast<int>(rules.use)));
  append(key, rules.parallel);
  append(key, rules.body_source);
  append(key, rules.partial);
  append(key, std::to_string(rules.choices.size()));
  for (const std::string& choice : rules.choices) {
    append(key, choice);
  }
  append(key, std::to_string(rules.tools.size()));
  for (const ToolRule& tool : rules.tools) {
    append(key, tool.name);
    append(key, tool.parameters);
    append(key, tool.strict);
  }
  return key;
}

}  // namespace daybreak::grammar
