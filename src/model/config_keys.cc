// SPDX-License-Identifier: Apache-2.0
#include "model/config_keys.h"

#include <algorithm>
#include <utility>

namespace daybreak::model {

void ConfigProblems::missing(std::string where) {
  // Every message starts with the file already.
  where.erase(0, std::min(where.size(), file_.size() + 2));
  missing_.push_back(std::move(where));
}

void ConfigProblems::bad(Error error) { bad_.push_back(std::move(error)); }

Status ConfigProblems::status() const {
  if (missing_.empty() && bad_.empty()) {
    return ok();
  }
  std::string text;
  if (!missing_.empty()) {
    // Values are judged against other keys, so what is bad may only follow from what is missing.
    text = file_ + ": mandatory keys are missing: ";
    for (std::size_t i = 0; i < std::min(missing_.size(), kShown); ++i) {
      text += (i == 0 ? "" : ", ") + missing_[i];
    }
    if (missing_.size() > kShown) {
      text += " and " + std::to_string(missing_.size() - kShown) + " more";
    }
    return Error{Errc::kInvalidArgument, std::move(text)};
  }
  for (std::size_t i = 0; i < std::min(bad_.size(), kShown); ++i) {
    text += (text.empty() ? "" : "; ") + bad_[i].message;
  }
  if (bad_.size() > kShown) {
    text += "; and " + std::to_string(bad_.size() - kShown) + " more problems";
  }
  return Error{bad_.front().code, std::move(text)};
}

template <class T>
T ConfigKeys::take(Result<T> result, T harmless) const {
  if (result) {
    return *std::move(result);
  }
  problems_.bad(std::move(result).error());
  return harmless;
}

void ConfigKeys::need(std::string_view key) const {
  if (!object_.find_set(key)) {
    problems_.missing(object_.where_of(key));
  }
}

std::size_t ConfigKeys::size(std::string_view key, Range range) const {
  need(key);
  return size_or(key, range.min, range);
}

float ConfigKeys::number(std::string_view key, double min, double max) const {
  need(key);
  return number_or(key, static_cast<float>(min), min, max);
}

bool ConfigKeys::boolean(std::string_view key) const {
  need(key);
  return boolean_or(key, false);
}

std::string ConfigKeys::string(std::string_view key) const {
  need(key);
  return string_or(key, "");
}

std::size_t ConfigKeys::size_or(std::string_view key, std::size_t fallback, Range range) const {
  return size_if_set(key, range).value_or(fallback);
}

float ConfigKeys::number_or(std::string_view key, float fallback, double min, double max) const {
  return number_if_set(key, min, max).value_or(fallback);
}

bool ConfigKeys::boolean_or(std::string_view key, bool fallback) const {
  const auto value = object_.find_set(key);
  return value ? take(value->boolean(), fallback) : fallback;
}

std::string ConfigKeys::string_or(std::string_view key, std::string_view fallback) const {
  const auto value = object_.find_set(key);
  return std::string(value ? take(value->string(), fallback) : fallback);
}

std::optional<std::size_t> ConfigKeys::size_if_set(std::string_view key, Range range) const {
  const auto value = object_.find_set(key);
  if (!value) {
    return std::nullopt;
  }
  return take(value->integer(range.min, range.max), range.min);
}

std::optional<float> ConfigKeys::number_if_set(std::string_view key, double min, double max) const {
  const auto value = object_.find_set(key);
  if (!value) {
    return std::nullopt;
  }
  return static_cast<float>(take(value->number(min, max), min));
}

std::optional<std::vector<std::uint64_t>> ConfigKeys::sizes_if_set(std::string_view key,
                                                                   Range range,
                                                                   std::size_t max_items) const {
  const auto value = object_.find_set(key);
  if (!value) {
    return std::nullopt;
  }
  std::vector<std::uint64_t> sizes;
  for (const JsonValue& item : take(value->array(max_items), {})) {
    sizes.push_back(take(item.integer(range.min, range.max), range.min));
  }
  return sizes;
}

std::optional<ConfigKeys> ConfigKeys::object_if_set(std::string_view key) const {
  auto value = object_.find_set(key);
  if (!value) {
    return std::nullopt;
  }
  if (!value->is_object()) {
    problems_.bad(value->expected("an object"));
    return std::nullopt;
  }
  return ConfigKeys(*std::move(value), problems_);
}

void ConfigKeys::add_ids(std::string_view key, std::size_t vocab_size, std::size_t max_ids,
                         std::vector<TokenId>& ids) const {
  const auto value = object_.find_set(key);
  if (!value) {
    return;
  }
  const std::vector<JsonValue> items = value->is_array()
                                           ? take(value->array(max_ids), std::vector<JsonValue>())
                                           : std::vector<JsonValue>{*value};
  for (const JsonValue& item : items) {
    const auto id = item.integer(0, std::max<std::size_t>(vocab_size, 1) - 1);
    if (!id) {
      problems_.bad(id.error());
    } else if (std::ranges::find(ids, static_cast<TokenId>(*id)) == ids.end()) {
      ids.push_back(static_cast<TokenId>(*id));
    }
  }
}

void ConfigKeys::refuse(Errc code, std::string_view key, std::string_view what) const {
  problems_.bad({code, object_.where_of(key) + ": " + std::string(what)});
}

}  // namespace daybreak::model
