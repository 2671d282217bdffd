// SPDX-License-Identifier: Apache-2.0
#include "chat/responses_item.h"

#include "chat/response_json.h"

namespace daybreak::chat {

std::string ResponsesItem::json() const {
  std::string out = "{\"id\":";
  append_json_text(out, id);
  if (body.size() > 2) {
    out += ',';
  }
  out.append(body, 1);
  return out;
}

void append_minified(std::string& out, std::string_view raw) {
  bool in_string = false;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if (!in_string && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
      continue;
    }
    out += c;
    if (in_string && c == '\\') {
      out += raw[++i];
    } else if (c == '"') {
      in_string = !in_string;
    }
  }
}

}  // namespace daybreak::chat
