// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/special_names.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/json_document.h"
#include "tokenizer/special_tokens.h"

namespace daybreak::tokenizer {
namespace {

using nlohmann::json;

Error corrupt(const std::string& what) {
  return {Errc::kCorrupt, "tokenizer_config.json: " + what};
}

// Nesting deeper than any such file has; bounds the sets below.
constexpr int kMaxDepth = 64;

// Parses JSON, refusing what a DOM would hide: a second value for a key. nlohmann is used because
// these files hold integers beyond 64 bits (model_max_length), which simdjson refuses.
Result<json> parse_json(std::string_view text) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  std::optional<Error> problem;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == json::parse_event_t::key && !problem) {
      const auto& key = value.get_ref<const std::string&>();
      if (!keys.back().insert(key).second) {
        problem = corrupt("expected each key once, found '" + printable(key) + "' twice");
      }
    }
    const bool opens =
        event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth >= kMaxDepth && !problem) {
      problem = corrupt("expected at most " + std::to_string(kMaxDepth) + " levels of nesting");
    }
    return true;
  };
  json document = json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  if (problem) {
    return *std::move(problem);
  }
  if (document.is_discarded()) {
    return corrupt("not JSON");
  }
  return document;
}

// Returns the value of a decimal id without sign, blanks or leading zeros.
std::optional<TokenId> parse_id(const std::string& text) {
  TokenId id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || std::to_string(id) != text) {
    return std::nullopt;
  }
  return id;
}

Result<SpecialName> parse_entry(const std::string& key, const json& entry, TokenId first_id) {
  const std::string where = "added_tokens_decoder['" + printable(key) + "']";
  const std::optional<TokenId> id = parse_id(key);
  if (!id || *id < first_id || *id - first_id >= kSpecialSlots) {
    return corrupt(where + ": expected an id from " + std::to_string(first_id) + " to " +
                   std::to_string(first_id + kSpecialSlots - 1) +
                   " (the 256 that follow the ranks), found '" + printable(key) + "'");
  }
  if (!entry.is_object()) {
    return corrupt(where + ": expected an object, found " + entry.type_name());
  }
  const auto content = entry.find("content");
  if (content == entry.end() || !content->is_string()) {
    return corrupt(where + ".content: expected a string, found " +
                   (content == entry.end() ? "nothing" : content->type_name()));
  }
  const auto special = entry.find("special");
  if (special == entry.end() || !special->is_boolean()) {
    return corrupt(where + ".special: expected true or false, found " +
                   (special == entry.end() ? "nothing" : special->type_name()));
  }
  SpecialName name{*id, content->get<std::string>(), special->get<bool>()};
  if (name.content.empty()) {
    return corrupt(where + ".content: expected a spelling, found an empty string");
  }
  if (name.content.size() > kMaxSpellingBytes) {
    return Error{Errc::kTooLarge, "tokenizer_config.json: " + where + ".content: at most " +
                                      std::to_string(kMaxSpellingBytes) +
                                      " bytes expected, found " +
                                      std::to_string(name.content.size())};
  }
  return name;
}

}  // namespace

Result<std::vector<SpecialName>> parse_special_names(std::string_view config_json,
                                                     TokenId first_id) {
  if (config_json.size() > kMaxConfigBytes) {
    return Error{Errc::kTooLarge, "tokenizer_config.json: at most " +
                                      std::to_string(kMaxConfigBytes) + " bytes expected, found " +
                                      std::to_string(config_json.size())};
  }
  DAYBREAK_TRY(const json document, parse_json(config_json));
  if (!document.is_object()) {
    return corrupt(std::string("expected an object, found ") + document.type_name());
  }
  const auto entries = document.find("added_tokens_decoder");
  if (entries == document.end() || !entries->is_object()) {
    return corrupt(std::string("added_tokens_decoder: expected an object, found ") +
                   (entries == document.end() ? "nothing" : entries->type_name()));
  }
  std::vector<SpecialName> names;
  for (const auto& [key, entry] : entries->items()) {
    DAYBREAK_TRY(SpecialName name, parse_entry(key, entry, first_id));
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace daybreak::tokenizer
