// SPDX-License-Identifier: Apache-2.0
#include "loadgen/target.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace daybreak::loadgen {
namespace {

bool visible(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

Result<std::string> route_url(std::string base, Protocol protocol) {
  if (!(base.starts_with("http://") || base.starts_with("https://")) || !visible(base)) {
    return Error{Errc::kInvalidArgument,
                 "--url: expected http://HOST... or https://HOST..., found '" + base + "'"};
  }
  while (base.ends_with('/')) {
    base.pop_back();
  }
  const std::string path = protocol == Protocol::kChat ? "/chat/completions" : "/completions";
  if (base.ends_with(path) &&
      (protocol == Protocol::kChat || !base.ends_with("/chat/completions"))) {
    return base;
  }
  return base + (base.ends_with("/v1") ? "" : "/v1") + path;
}

std::string body_of(const Target& target, std::string_view prompt, std::size_t output_tokens) {
  nlohmann::ordered_json out = {{"model", target.model}};
  if (target.protocol == Protocol::kChat) {
    out["messages"] = nlohmann::ordered_json::array({{{"role", "user"}, {"content", prompt}}});
  } else {
    out["prompt"] = prompt;
  }
  out["max_tokens"] = output_tokens;
  out["stream"] = true;
  out["stream_options"] = {{"include_usage", true}};
  if (target.ignore_eos) {
    out["ignore_eos"] = true;
  }
  if (target.temperature) {
    out["temperature"] = *target.temperature;
  }
  return out.dump();
}

Result<std::unique_ptr<HttpStreams>> connect(const Target& target, std::size_t max_connections) {
  std::vector<telemetry::HttpField> headers;
  if (!target.api_key.empty()) {
    if (!visible(target.api_key)) {
      return Error{Errc::kInvalidArgument,
                   "the API key: expected visible ASCII, found other bytes"};
    }
    headers.push_back({"Authorization", "Bearer " + target.api_key});
  }
  return HttpStreams::create(target.url, std::move(headers), target.ca_file, max_connections);
}

}  // namespace daybreak::loadgen
