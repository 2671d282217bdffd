// SPDX-License-Identifier: Apache-2.0
#include "access/prices.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "base/json_document.h"

namespace daybreak::access {
namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::size_t kMaxDecimals = 6;
constexpr const char* kRoot = "usd_per_million_tokens";

static_assert(kMaxPrice * kMaxRequestTokens <= std::numeric_limits<std::int64_t>::max() / 4);

struct Field {
  const char* name;
  std::int64_t Price::* member;
};
constexpr std::array<Field, 3> kFields = {
    {{"prompt", &Price::prompt}, {"cached", &Price::cached}, {"completion", &Price::completion}}};

Error at(const std::string& name, const YAML::Node& node, const std::string& what) {
  return {Errc::kInvalidArgument, fmt::format("{}:{}: {}", name, node.Mark().line + 1, what)};
}

Result<Price> read_price(const YAML::Node& node, const std::string& name,
                         const std::string& model) {
  if (!node.IsMap()) {
    return at(name, node, model + ": expected prompt, cached and completion");
  }
  Price price;
  std::array<bool, kFields.size()> seen{};
  for (const auto& entry : node) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
    const auto* const field =
        std::ranges::find_if(kFields, [&](const Field& f) { return key == f.name; });
    if (field == kFields.end() ||
        std::exchange(seen.at(static_cast<std::size_t>(field - kFields.begin())), true)) {
      return at(name, entry.first,
                fmt::format("{}: expected prompt, cached and completion once each, found '{}'",
                            model, printable(key)));
    }
    auto value = parse_usd(entry.second.IsScalar() ? entry.second.Scalar() : "");
    if (!value || *value > kMaxPrice) {
      return at(name, entry.second,
                fmt::format("{}: {}: expected dollars from 0 to {} with at most {} decimals", model,
                            key, kMaxPrice / kMillion, kMaxDecimals));
    }
    price.*field->member = *value;
  }
  if (std::ranges::count(seen, true) != std::ssize(seen)) {
    return at(name, node, model + ": expected all of prompt, cached and completion");
  }
  if (price.cached > price.prompt) {
    // What a request may cost at most is reckoned with nothing cached.
    return at(name, node, model + ": expected cached tokens to cost no more than others");
  }
  return price;
}

Result<std::map<std::string, Price, std::less<>>> read_models(const YAML::Node& root,
                                                              const std::string& name) {
  if (!root.IsMap() || root.size() != 1 || !root[kRoot] || !root[kRoot].IsMap()) {
    return Error{
        Errc::kInvalidArgument,
        fmt::format("{}: expected {}: with a mapping of models, and nothing else", name, kRoot)};
  }
  const YAML::Node models = root[kRoot];
  if (models.size() == 0 || models.size() > kMaxPricedModels) {
    return Error{models.size() == 0 ? Errc::kInvalidArgument : Errc::kTooLarge,
                 fmt::format("{}: expected prices of 1 to {} models, found {}", name,
                             kMaxPricedModels, models.size())};
  }
  std::map<std::string, Price, std::less<>> out;
  for (const auto& entry : models) {
    const std::string model = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (const Status valid = validate_name("model", model, kMaxModelNameBytes); !valid) {
      return at(name, entry.first, valid.error().message);
    }
    DAYBREAK_TRY(const Price price, read_price(entry.second, name, model));
    if (!out.emplace(model, price).second) {
      return at(name, entry.first, model + ": has a price already");
    }
  }
  return out;
}

}  // namespace

std::int64_t cost_micro_usd(const Price& price, const TokenCounts& tokens) {
  const std::int64_t exact = (tokens.prompt - tokens.cached) * price.prompt +
                             tokens.cached * price.cached + tokens.completion * price.completion;
  return (exact + kMillion / 2) / kMillion;
}

Result<std::int64_t> parse_usd(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view decimals = text.substr(std::min(point + 1, text.size()));
  const auto digits = [](std::string_view s) {
    return !s.empty() && std::ranges::all_of(s, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (!digits(whole) || whole.size() > 10 ||
      (point < text.size() && (!digits(decimals) || decimals.size() > kMaxDecimals))) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("expected dollars with at most {} decimals, such as 0.30, found '{}'",
                             kMaxDecimals, printable(text))};
  }
  std::string micro = std::string(whole) + std::string(decimals);
  micro.append(kMaxDecimals - decimals.size(), '0');
  std::int64_t value = 0;
  for (const char c : micro) {
    value = value * 10 + (c - '0');
  }
  return value;
}

std::string format_usd(std::int64_t micro_usd) {
  std::string out = fmt::format("{}.{:06}", micro_usd / kMillion, micro_usd % kMillion);
  while (out.ends_with('0') && out[out.size() - 3] != '.') {
    out.pop_back();
  }
  return out;
}

Result<Prices> Prices::parse(const std::string& text, const std::string& name) {
  if (text.size() > kMaxPricesBytes) {
    return Error{Errc::kTooLarge, fmt::format("{}: expected at most {} bytes, found {}", name,
                                              kMaxPricesBytes, text.size())};
  }
  try {
    DAYBREAK_TRY(auto models, read_models(YAML::Load(text), name));
    Prices out;
    out.models_ = std::move(models);
    return out;
  } catch (const YAML::Exception& e) {
    return Error{Errc::kInvalidArgument, fmt::format("{}:{}: {}", name, e.mark.line + 1, e.msg)};
  }
}

Result<Prices> Prices::read(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    const bool there = std::filesystem::exists(path, error);
    return Error{Errc::kNotFound,
                 fmt::format("expected a file of prices, found {} '{}'",
                             there ? "something else at" : "nothing at", path.string())};
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxPricesBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad() || (!file && !file.eof())) {
    return Error{Errc::kIo, path.string() + ": cannot read"};
  }
  return parse(text, path.string());
}

Result<Price> Prices::of(std::string_view model) const {
  if (models_.empty()) {
    return Price{};
  }
  const auto found = models_.find(model);
  if (found == models_.end()) {
    return Error{Errc::kNotFound,
                 fmt::format("no price is configured for model '{}'", printable(model))};
  }
  return found->second;
}

}  // namespace daybreak::access
