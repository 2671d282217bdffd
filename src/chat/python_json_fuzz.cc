// SPDX-License-Identifier: Apache-2.0
// What parses prints to JSON that parses to the same: printing twice changes nothing.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json_tree.h"
#include "chat/python_json.h"

namespace {

std::string printed(const daybreak::JsonNode& node, daybreak::chat::JsonStyle style) {
  std::string out;
  daybreak::chat::append_python_json(out, node, style);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tree = daybreak::parse_json_tree(text);
  if (!tree) {
    return 0;
  }
  for (const auto style :
       {daybreak::chat::JsonStyle::kSortedCompact, daybreak::chat::JsonStyle::kSpaced}) {
    const std::string once = printed(*tree, style);
    if (once.find("Infinity") != std::string::npos) {
      continue;  // Python's spelling of a number that JSON does not have
    }
    const auto again = daybreak::parse_json_tree(once);
    if (!again || printed(*again, style) != once) {
      std::abort();
    }
  }
  return 0;
}
