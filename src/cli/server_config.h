// SPDX-License-Identifier: Apache-2.0
#pragma once

// ServerConfig: everything `daybreak serve` can be told, one field per key. The table of keys is
// the only list: flags, environment, file, `daybreak config` and docs/configuration.md all come
// from it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace daybreak::cli {

struct ServerConfig {
  std::string model;
  std::string host = "127.0.0.1";
  std::size_t port = 8000;
  std::vector<std::string> served_model_name;

  std::size_t threads = 0;
  std::string numerics = "exact";
  std::string isa;
  std::size_t max_sequences = 8;
  std::size_t max_positions = 65'536;
  std::size_t max_queue = 256;
  std::size_t step_tokens = 512;
  std::size_t max_tokens = 131'072;
  std::string prefix_reuse = "on";
  std::size_t state_checkpoints = 16;
  std::size_t linear_cache_interval = 8192;
  std::string cache_directory;
  std::size_t cache_disk_mb = 16'384;
  std::string cache_keep = "off";
  std::size_t cache_min_tokens = 256;
  std::string kv_events_config;
  std::string speculation = "off";
  std::size_t num_speculative_tokens = 7;
  std::size_t prompt_lookup_min = 3;
  std::size_t kept_sequence_seconds = 3'600;
  std::string slot_save_path;
  std::vector<std::string> lora_modules;
  std::size_t max_loras = 8;
  std::string lora_dir;
  std::string allow_runtime_lora_updating = "off";
  std::string vendor_compat = "off";

  std::string access_db;
  std::string access_pepper;
  std::string prices;

  std::string content_log;
  std::size_t content_log_mb = 256;

  std::size_t grammar_threads = 1;
  std::size_t grammar_cache_mb = 64;
  std::size_t grammar_steps = 4'000'000;

  std::size_t response_store_mb = 64;
  std::size_t response_store_seconds = 3'600;

  std::size_t retry_grace_seconds = 2;
  std::size_t retry_store_mb = 16;
  std::size_t retry_store_seconds = 120;

  std::string files_dir;
  std::size_t files_mb = 256;
  std::size_t files_owner_percent = 50;
  std::size_t batch_in_flight = 2;

  std::size_t http_threads = 2;
  std::size_t workers = 2;
  std::size_t max_connections = 2048;
  std::size_t max_header_bytes = std::size_t{8} * 1024;
  std::size_t max_request_bytes = std::size_t{16} * 1024 * 1024;
  std::size_t header_timeout = 10;
  std::size_t body_timeout = 30;
  std::size_t idle_timeout = 60;
  std::size_t write_timeout = 30;
  std::size_t keep_alive_comments = 0;
  std::string cors_origin;
  std::vector<std::string> allowed_hosts;
  std::string deploy_id;
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_client_ca;

  std::size_t drain_seconds = 30;
  std::string otlp_endpoint;
  std::string otlp_headers_file;
  std::size_t step_timeline = 256;
  std::string log_level = "info";
  std::string log_format = "text";
};

// The kinds of values a key can have.
struct CountField {
  std::size_t ServerConfig::* member;
  std::size_t min;
  std::size_t max;
};
struct TextField {
  std::string ServerConfig::* member;
};
struct ChoiceField {
  std::string ServerConfig::* member;
  std::vector<std::string_view> choices;
};
struct ListField {  // separated by commas
  std::vector<std::string> ServerConfig::* member;
};

// Whether a running server takes a new value over.
enum class Reload : std::uint8_t { kRestart, kLive };

struct ServerKey {
  std::string_view name;  // as in the file, such as "max_queue"
  std::string_view help;  // one line, unit included
  std::variant<CountField, TextField, ChoiceField, ListField> field;
  Reload reload = Reload::kRestart;

  [[nodiscard]] std::string flag() const;         // "--max-queue"; "MODEL" for the model
  [[nodiscard]] std::string environment() const;  // "DAYBREAK_MAX_QUEUE"
  // The value as text, lists joined by commas.
  [[nodiscard]] std::string value(const ServerConfig& config) const;
  // Parses and sets. Errors: kInvalidArgument with what was expected and found.
  Status set(ServerConfig& config, std::string_view text) const;
};

// Every key, in the order in which they are shown.
std::span<const ServerKey> server_keys();

// Returns the key of that name, or null.
const ServerKey* find_server_key(std::string_view name);
// Returns the key that `wrong` must have meant, or "" if it is like none.
std::string_view nearest_server_key(std::string_view wrong);

// The table of docs/configuration.md.
std::string server_keys_markdown();

}  // namespace daybreak::cli
