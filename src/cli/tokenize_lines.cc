// SPDX-License-Identifier: Apache-2.0
#include "cli/tokenize_lines.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "cli/json_lines.h"

namespace daybreak::cli {
namespace {

using nlohmann::json;
using tokenizer::AllowSpecial;
using tokenizer::Slicing;
using tokenizer::Tokenizer;

Error invalid(const std::string& what) { return {Errc::kInvalidArgument, what}; }

// Parses an object that has no other keys than `known`.
Result<json> parse_object(std::string line, std::initializer_list<std::string_view> known) {
  replace_lone_surrogates(line);
  json object = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) {
    return invalid("expected JSON in UTF-8");
  }
  if (!object.is_object()) {
    return invalid(std::string("expected an object, found ") + object.type_name());
  }
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return invalid("unknown field '" + key + "'");
    }
  }
  return object;
}

Result<bool> bool_field(const json& object, const char* name, bool fallback) {
  const auto field = object.find(name);
  if (field == object.end()) {
    return fallback;
  }
  if (!field->is_boolean()) {
    return invalid(std::string(name) + ": expected true or false, found " + field->type_name());
  }
  return field->get<bool>();
}

}  // namespace

Result<std::string> tokenize_line(const Tokenizer& tokenizer, std::string line) {
  DAYBREAK_TRY(const json request, parse_object(std::move(line), {"text", "special", "sliced"}));
  const auto text = request.find("text");
  if (text == request.end() || !text->is_string()) {
    return invalid(std::string("text: expected a string, found ") +
                   (text == request.end() ? "nothing" : text->type_name()));
  }
  DAYBREAK_TRY(const bool special, bool_field(request, "special", false));
  DAYBREAK_TRY(const bool sliced, bool_field(request, "sliced", true));
  std::vector<TokenId> ids;
  tokenizer.encode(text->get_ref<const std::string&>(),
                   special ? AllowSpecial::kYes : AllowSpecial::kNo,
                   sliced ? Slicing::kOn : Slicing::kOff, ids);
  return json{{"ids", ids}}.dump();
}

Result<std::string> detokenize_line(const Tokenizer& tokenizer, std::string line) {
  DAYBREAK_TRY(const json request, parse_object(std::move(line), {"ids", "skip_special"}));
  const auto field = request.find("ids");
  if (field == request.end() || !field->is_array()) {
    return invalid(std::string("ids: expected an array, found ") +
                   (field == request.end() ? "nothing" : field->type_name()));
  }
  DAYBREAK_TRY(const bool skip_special, bool_field(request, "skip_special", false));
  std::vector<TokenId> ids;
  for (std::size_t i = 0; i < field->size(); ++i) {
    const json& id = (*field)[i];
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= tokenizer.vocab_size()) {
      return invalid("ids[" + std::to_string(i) + "]: expected an integer from 0 to " +
                     std::to_string(tokenizer.vocab_size() - 1) + ", found " +
                     id.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 40));
    }
    const auto token = id.get<TokenId>();
    if (!skip_special || !tokenizer.skip_special(token)) {
      ids.push_back(token);
    }
  }
  return json{{"text", tokenizer.decode(ids)}}.dump();
}

}  // namespace daybreak::cli
