// SPDX-License-Identifier: Apache-2.0
#include "cli/tokenize_lines.h"

#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json_tree.h"
#include "chat/python_json.h"
#include "chat/request_fields.h"
#include "cli/json_lines.h"

namespace daybreak::cli {
namespace {

using chat::Field;
using tokenizer::AllowSpecial;
using tokenizer::Slicing;
using tokenizer::Tokenizer;

constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();  // the line is bounded

Result<JsonNode> parse(std::string_view line) {
  return parse_json_tree(line, {.max_values = kMaxDetokenizeIds + 8});
}

// Returns the member `key`. Errors: kInvalidArgument if it is absent or null.
Result<Field> required(const Field& root, std::string_view key, std::string_view what) {
  if (auto field = root.find(key)) {
    return *std::move(field);
  }
  return Error{Errc::kInvalidArgument,
               std::string(key) + ": expected " + std::string(what) + ", found nothing"};
}

Result<bool> flag(const Field& root, std::string_view key, bool fallback) {
  const auto field = root.find(key);
  return field ? field->boolean() : Result<bool>(fallback);
}

}  // namespace

Result<std::string> tokenize_line(const Tokenizer& tokenizer, std::string line) {
  replace_lone_surrogates(line);
  DAYBREAK_TRY(const JsonNode tree, parse(line));
  const Field root(tree, "");
  DAYBREAK_CHECK_OK(root.object_of({"text", "special", "sliced"}));
  DAYBREAK_TRY(const Field field, required(root, "text", "a string"));
  DAYBREAK_TRY(const std::string text, field.string(kAnySize));
  DAYBREAK_TRY(const bool special, flag(root, "special", false));
  DAYBREAK_TRY(const bool sliced, flag(root, "sliced", true));
  std::vector<TokenId> ids;
  tokenizer.encode(text, special ? AllowSpecial::kYes : AllowSpecial::kNo,
                   sliced ? Slicing::kOn : Slicing::kOff, ids);
  std::string out = "{\"ids\":[";
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out += (i > 0 ? "," : "") + std::to_string(ids[i]);
  }
  return out + "]}";
}

Result<std::string> detokenize_line(const Tokenizer& tokenizer, const std::string& line) {
  DAYBREAK_TRY(const JsonNode tree, parse(line));
  const Field root(tree, "");
  DAYBREAK_CHECK_OK(root.object_of({"ids", "skip_special"}));
  DAYBREAK_TRY(const Field field, required(root, "ids", "an array"));
  DAYBREAK_TRY(const std::vector<Field> items, field.array(kMaxDetokenizeIds));
  DAYBREAK_TRY(const bool skip_special, flag(root, "skip_special", false));
  std::vector<TokenId> ids;
  for (const Field& item : items) {
    DAYBREAK_TRY(const std::uint64_t value, item.integer(0, tokenizer.vocab_size() - 1));
    const auto id = static_cast<TokenId>(value);
    if (!skip_special || !tokenizer.skip_special(id)) {
      ids.push_back(id);
    }
  }
  std::string out = "{\"text\":";
  chat::append_python_string(out, tokenizer.decode(ids));
  return out + "}";
}

}  // namespace daybreak::cli
