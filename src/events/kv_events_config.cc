// SPDX-License-Identifier: Apache-2.0
#include "events/kv_events_config.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace daybreak::events {
namespace {

using Json = nlohmann::json;

Error wrong(std::string_view key, std::string_view expected, const Json& found) {
  return {Errc::kInvalidArgument,
          fmt::format("{}: expected {}, found {}", key, expected, found.dump())};
}

Status read(std::string_view key, const Json& value, bool& out) {
  if (!value.is_boolean()) {
    return wrong(key, "true or false", value);
  }
  out = value.get<bool>();
  return ok();
}

Status read(std::string_view key, const Json& value, std::string& out) {
  if (value.is_null()) {
    return ok();
  }
  if (!value.is_string()) {
    return wrong(key, "text", value);
  }
  out = value.get<std::string>();
  return ok();
}

Status read(std::string_view key, const Json& value, std::size_t max, std::size_t& out) {
  if (!value.is_number_integer() || value < 1 || value > max) {
    return wrong(key, fmt::format("1 to {}", max), value);
  }
  out = value.get<std::size_t>();
  return ok();
}

Status read_one(std::string_view key, const Json& value, KvEventsConfig& config,
                std::string& publisher) {
  if (key == "enable_kv_cache_events") {
    return read(key, value, config.enabled);
  }
  if (key == "publisher") {
    return read(key, value, publisher);
  }
  if (key == "endpoint") {
    return read(key, value, config.endpoint);
  }
  if (key == "replay_endpoint") {
    return read(key, value, config.replay_endpoint);
  }
  if (key == "topic") {
    return read(key, value, config.topic);
  }
  if (key == "buffer_steps") {
    return read(key, value, kMaxBufferSteps, config.buffer_steps);
  }
  if (key == "hwm") {
    return read(key, value, kMaxHwm, config.hwm);
  }
  if (key == "max_queue_size") {
    return read(key, value, kMaxHwm, config.max_queue_size);
  }
  return Error{Errc::kInvalidArgument,
               fmt::format("unknown key '{}', expected enable_kv_cache_events, publisher, "
                           "endpoint, replay_endpoint, topic, buffer_steps, hwm or max_queue_size",
                           key)};
}

Result<KvEventsConfig> parse(const Json& object) {
  KvEventsConfig config;
  std::string publisher = "zmq";
  for (const auto& [key, value] : object.items()) {
    DAYBREAK_CHECK_OK(read_one(key, value, config, publisher));
  }
  if (publisher != "zmq" && publisher != "null") {
    return wrong("publisher", "\"zmq\" or \"null\"", publisher);
  }
  config.enabled = config.enabled && publisher == "zmq";
  if (config.enabled && config.endpoint.empty()) {
    return wrong("endpoint", "an endpoint such as \"tcp://*:5557\"", "");
  }
  return config;
}

}  // namespace

Result<KvEventsConfig> parse_kv_events_config(std::string_view text) {
  if (text.empty()) {
    return KvEventsConfig{};
  }
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("kv_events_config: expected a JSON object, found '{}'", text)};
  }
  Result<KvEventsConfig> config = parse(object);
  return config ? std::move(config) : std::move(config).error().in("kv_events_config");
}

}  // namespace daybreak::events
