// SPDX-License-Identifier: Apache-2.0
#include "access/usage_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace daybreak::access {
namespace {

using Json = nlohmann::ordered_json;

// Quoted only where a reader would misread it.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string out = "\"";
  for (const char c : text) {
    out += c == '"' ? "\"\"" : std::string(1, c);
  }
  return out + '"';
}

std::string csv_counts(const TokenCounts& tokens) {
  return fmt::format("{},{},{},{}", tokens.prompt, tokens.cached, tokens.completion,
                     tokens.reasoning);
}

std::string name_of(KeyId key, const KeyNames& names) {
  const auto found = names.find(key);
  return found == names.end() ? std::string() : found->second;
}

void add_counts(Json& json, const TokenCounts& tokens, std::int64_t cost) {
  json["prompt_tokens"] = tokens.prompt;
  json["cached_tokens"] = tokens.cached;
  json["completion_tokens"] = tokens.completion;
  json["reasoning_tokens"] = tokens.reasoning;
  json["cost_micro_usd"] = cost;
}

}  // namespace

std::string usage_csv_header() {
  return "time,request_id,key_id,key_name,model,prompt_tokens,cached_tokens,completion_tokens,"
         "reasoning_tokens,cost_micro_usd,outcome,stream\n";
}

std::string usage_csv(const Usage& usage, const KeyNames& names) {
  return fmt::format("{},{},{},{},{},{},{},{},{}\n", format_utc(usage.time),
                     csv_field(usage.request_id), static_cast<std::int64_t>(usage.key),
                     csv_field(name_of(usage.key, names)), csv_field(usage.model),
                     csv_counts(usage.tokens), usage.cost_micro_usd, to_string(usage.outcome),
                     usage.stream);
}

std::string usage_json(const Usage& usage, const KeyNames& names) {
  Json json;
  json["time"] = format_utc(usage.time);
  json["request_id"] = usage.request_id;
  json["key_id"] = static_cast<std::int64_t>(usage.key);
  json["key_name"] = name_of(usage.key, names);
  json["model"] = usage.model;
  add_counts(json, usage.tokens, usage.cost_micro_usd);
  json["outcome"] = to_string(usage.outcome);
  json["stream"] = usage.stream;
  return json.dump() + "\n";
}

std::string total_csv_header(const std::vector<UsageGroup>& by) {
  const auto wanted = [&](UsageGroup group) { return std::ranges::find(by, group) != by.end(); };
  return fmt::format(
      "{}{}{}{}{}requests,prompt_tokens,cached_tokens,completion_tokens,"
      "reasoning_tokens,cost_micro_usd\n",
      wanted(UsageGroup::kDay) ? "day," : "", wanted(UsageGroup::kMonth) ? "month," : "",
      wanted(UsageGroup::kTenant) ? "tenant," : "",
      wanted(UsageGroup::kKey) ? "key_id,key_name," : "",
      wanted(UsageGroup::kModel) ? "model," : "");
}

std::string total_csv(const UsageTotal& total, const KeyNames& names) {
  std::string out;
  if (total.period) {
    out += *total.period + ",";
  }
  if (total.tenant) {
    out += csv_field(*total.tenant) + ",";
  }
  if (total.key) {
    out += fmt::format("{},{},", static_cast<std::int64_t>(*total.key),
                       csv_field(name_of(*total.key, names)));
  }
  if (total.model) {
    out += csv_field(*total.model) + ",";
  }
  return out +
         fmt::format("{},{},{}\n", total.requests, csv_counts(total.tokens), total.cost_micro_usd);
}

std::string total_json(const UsageTotal& total, const KeyNames& names) {
  Json json;
  if (total.period) {
    json["period"] = *total.period;
  }
  if (total.tenant) {
    json["tenant"] = *total.tenant;
  }
  if (total.key) {
    json["key_id"] = static_cast<std::int64_t>(*total.key);
    json["key_name"] = name_of(*total.key, names);
  }
  if (total.model) {
    json["model"] = *total.model;
  }
  json["requests"] = total.requests;
  add_counts(json, total.tokens, total.cost_micro_usd);
  return json.dump() + "\n";
}

}  // namespace daybreak::access
