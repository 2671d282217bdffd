// SPDX-License-Identifier: Apache-2.0
#include "cli/server_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/edit_distance.h"
#include "engine/adapter_registry.h"
#include "engine/model_runner.h"
#include "engine/prompt_lookup.h"
#include "engine/step_timeline.h"
#include "grammar/grammar_service.h"

namespace daybreak::cli {
namespace {

using C = ServerConfig;

constexpr std::size_t kDay = 86'400;  // seconds
constexpr std::size_t kMaxThreads = 1024;

std::vector<ServerKey> make_keys() {
  return {
      {"model", "model directory; empty: the bundled model", TextField{&C::model}},
      {"host", "address to listen on; 0.0.0.0 for every interface", TextField{&C::host}},
      {"port", "TCP port; 0: any free one", CountField{&C::port, 0, 65'535}},
      {"served_model_name", "names clients may use; the first is reported; empty: the directory's",
       ListField{&C::served_model_name}, Reload::kLive},
      {"threads", "threads that compute; 0: the CPUs this process may use",
       CountField{&C::threads, 0, kMaxThreads}},
      {"numerics", "exact: bit-identical results; fast is not available yet",
       ChoiceField{&C::numerics, {"exact", "fast"}}},
      {"isa", "instruction set, such as scalar or avx2; empty: the best this CPU has",
       TextField{&C::isa}},
      {"max_sequences", "answers generated at the same time",
       CountField{&C::max_sequences, 1, 1024}},
      {"max_positions", "tokens of prompts and answers in memory, all sequences together",
       CountField{&C::max_positions, 1, std::size_t{1} << 32U}},
      {"max_queue", "requests waiting for a sequence; one more gets 429",
       CountField{&C::max_queue, 1, 65'536}},
      {"step_tokens", "tokens per step of the model, all sequences together",
       CountField{&C::step_tokens, 1, 65'536}},
      {"max_tokens", "most tokens of an answer when the request does not say",
       CountField{&C::max_tokens, 1, std::size_t{1} << 32U}},
      {"prefix_reuse", "on: prompts that go on from an earlier request compute what is new",
       ChoiceField{&C::prefix_reuse, {"on", "off"}}},
      {"state_checkpoints",
       "copies of a sequence's state that later requests can start from; 0: none "
       "(docs/prefix-cache.md)",
       CountField{&C::state_checkpoints, 0, engine::kMaxCheckpoints}},
      {"linear_cache_interval",
       "tokens of a prompt between such copies, rounded up to blocks of 64; 0: only where they are "
       "likely to be of use",
       CountField{&C::linear_cache_interval, 0, std::size_t{1} << 32U}},
      {"cache_directory",
       "directory for what the prefix cache has no memory for (docs/prefix-cache.md); empty: none",
       TextField{&C::cache_directory}},
      {"cache_disk_mb", "bytes of its files there, MiB",
       CountField{&C::cache_disk_mb, 1, std::size_t{1} << 30U}},
      {"cache_keep", "on: what is there outlives the server",
       ChoiceField{&C::cache_keep, {"off", "on"}}},
      {"cache_min_tokens", "tokens that must not be computed again to be written or read there",
       CountField{&C::cache_min_tokens, 0, std::size_t{1} << 32U}},
      {"kv_events_config",
       "JSON as vLLM's: what enters and leaves the prefix cache is published (docs/kv-events.md); "
       "empty: nothing is",
       TextField{&C::kv_events_config}},
      {"speculation",
       "ngram: guess the next tokens from what was there before; same answers, often sooner "
       "(docs/speculation.md)",
       ChoiceField{&C::speculation, {"off", "ngram"}}},
      {"num_speculative_tokens", "tokens guessed at a time, at most",
       CountField{&C::num_speculative_tokens, 1, engine::kMaxDraftTokens}},
      {"prompt_lookup_min", "last tokens that must have been there before to guess what follows",
       CountField{&C::prompt_lookup_min, 1, engine::kMaxLookupIds}},
      {"kept_sequence_seconds",
       "seconds a sequence is kept that no prompt goes on from (docs/slots.md)",
       CountField{&C::kept_sequence_seconds, 1, kDay}},
      {"slot_save_path", "directory for POST /slots/{id}?action=save; empty: nothing is saved",
       TextField{&C::slot_save_path}},
      {"lora_modules", "LoRA adapters, each NAME=DIRECTORY, served as models (docs/lora.md)",
       ListField{&C::lora_modules}},
      {"max_loras", "adapters in memory at the same time",
       CountField{&C::max_loras, 0, engine::kMaxAdapters}},
      {"lora_dir", "directory below which POST /v1/load_lora_adapter finds adapters",
       TextField{&C::lora_dir}},
      {"allow_runtime_lora_updating",
       "on: administrators load and unload adapters while serving; needs lora_dir",
       ChoiceField{&C::allow_runtime_lora_updating, {"off", "on"}}},
      {"vendor_compat", "on: requests follow the rules of the vendor's own API (docs/chat.md)",
       ChoiceField{&C::vendor_compat, {"off", "on"}}},
      {"access_db",
       "API keys and usage ledger, made by `daybreak keys` (docs/access.md); empty: open",
       TextField{&C::access_db}},
      {"access_pepper", "the server's secret beside the keys; empty: access_db with .pepper added",
       TextField{&C::access_pepper}},
      {"prices", "YAML or JSON of prices per million tokens; empty: nothing costs anything",
       TextField{&C::prices}, Reload::kLive},
      {"content_log",
       "file of requests and answers, redacted (docs/observability.md); empty: written nowhere",
       TextField{&C::content_log}},
      {"content_log_mb", "size at which the content log starts anew, MiB; one older one is kept",
       CountField{&C::content_log_mb, 1, std::size_t{1} << 20U}},
      {"grammar_threads", "threads that compile what answers must look like",
       CountField{&C::grammar_threads, 1, grammar::kMaxGrammarThreads}},
      {"grammar_cache_mb", "memory for compiled grammars, MiB",
       CountField{&C::grammar_cache_mb, 0, std::size_t{1} << 20U}},
      {"grammar_steps", "steps one grammar may take to compile; more gets 400",
       CountField{&C::grammar_steps, 1000, std::size_t{1} << 40U}},
      {"response_store_mb", "memory for responses kept for previous_response_id, MiB; 0: none kept",
       CountField{&C::response_store_mb, 0, std::size_t{1} << 20U}},
      {"response_store_seconds", "seconds a response is kept at most",
       CountField{&C::response_store_seconds, 1, kDay}},
      {"retry_grace_seconds",
       "seconds an answer goes on being made for a client that left and may ask again; 0: none",
       CountField{&C::retry_grace_seconds, 0, kDay}},
      {"retry_store_mb", "memory for answers kept for clients that ask again, MiB; 0: none kept",
       CountField{&C::retry_store_mb, 0, std::size_t{1} << 20U}},
      {"retry_store_seconds", "seconds such an answer is kept at most",
       CountField{&C::retry_store_seconds, 1, kDay}},
      {"files_dir", "directory for /v1/files and /v1/batches; empty: they are off",
       TextField{&C::files_dir}},
      {"files_mb", "bytes of all files together, MiB",
       CountField{&C::files_mb, 1, std::size_t{1} << 20U}},
      {"files_owner_percent",
       "share of files_mb, files and unfinished batches that one tenant or key may have, percent",
       CountField{&C::files_owner_percent, 1, 100}},
      {"batch_in_flight", "requests of batches answered at the same time",
       CountField{&C::batch_in_flight, 1, 1024}},
      {"http_threads", "threads that serve connections", CountField{&C::http_threads, 1, 256}},
      {"workers", "threads that parse and tokenize requests", CountField{&C::workers, 1, 256}},
      {"max_connections", "open connections; one more gets 503",
       CountField{&C::max_connections, 1, std::size_t{1} << 20U}, Reload::kLive},
      {"max_header_bytes", "request line and headers, bytes; more gets 431",
       CountField{&C::max_header_bytes, 256, std::size_t{1} << 20U}, Reload::kLive},
      {"max_request_bytes", "request body, bytes; more gets 413",
       CountField{&C::max_request_bytes, 1, std::size_t{1} << 34U}, Reload::kLive},
      {"header_timeout", "seconds for a request's head to arrive",
       CountField{&C::header_timeout, 1, kDay}, Reload::kLive},
      {"body_timeout", "seconds for a request's body to arrive",
       CountField{&C::body_timeout, 1, kDay}, Reload::kLive},
      {"idle_timeout", "seconds a connection may wait between requests",
       CountField{&C::idle_timeout, 1, kDay}, Reload::kLive},
      {"write_timeout", "seconds for a client to take 64 KiB before it is dropped",
       CountField{&C::write_timeout, 1, kDay}, Reload::kLive},
      {"keep_alive_comments",
       "seconds without an event after which a stream sends a comment; 0: never",
       CountField{&C::keep_alive_comments, 0, kDay}},
      {"cors_origin", "Access-Control-Allow-Origin, such as *; empty: none",
       TextField{&C::cors_origin}},
      {"allowed_hosts",
       "names of the server in requests' Host, without access_db (docs/api.md); *: any",
       ListField{&C::allowed_hosts}},
      {"deploy_id", "header X-Msh-ProviderDeployId of every answer; empty: none",
       TextField{&C::deploy_id}},
      {"tls_certificate", "PEM file: certificate and its chain; empty: plain HTTP",
       TextField{&C::tls_certificate}, Reload::kLive},
      {"tls_key", "PEM file: private key of tls_certificate", TextField{&C::tls_key},
       Reload::kLive},
      {"tls_client_ca", "PEM file: who signs clients' certificates; empty: clients need none",
       TextField{&C::tls_client_ca}, Reload::kLive},
      {"drain_seconds", "on SIGTERM, seconds for running answers to finish",
       CountField{&C::drain_seconds, 0, kDay}, Reload::kLive},
      {"otlp_endpoint",
       "URL of an OpenTelemetry collector (docs/observability.md); empty: nothing is exported",
       TextField{&C::otlp_endpoint}},
      {"otlp_headers_file", "file of NAME: VALUE lines sent to the collector; empty: none",
       TextField{&C::otlp_headers_file}},
      {"step_timeline", "steps of the model kept for GET /debug/timeline; 0: none",
       CountField{&C::step_timeline, 0, engine::kMaxTimelineSteps}},
      {"log_level", "least level that is logged",
       ChoiceField{&C::log_level, {"debug", "info", "warning", "error", "off"}}, Reload::kLive},
      {"log_format", "one line per event as text or as JSON",
       ChoiceField{&C::log_format, {"text", "json"}}},
  };
}

Error expected(std::string what, std::string_view found) {
  return {Errc::kInvalidArgument, fmt::format("expected {}, found '{}'", what, found)};
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    out.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

struct Setter {
  C& config;
  std::string_view text;

  Status operator()(const CountField& field) const {
    std::size_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end || value < field.min || value > field.max) {
      return expected(fmt::format("a whole number from {} to {}", field.min, field.max), text);
    }
    config.*field.member = value;
    return ok();
  }
  Status operator()(const TextField& field) const {
    config.*field.member = std::string(text);
    return ok();
  }
  Status operator()(const ChoiceField& field) const {
    if (std::ranges::find(field.choices, text) == field.choices.end()) {
      return expected(fmt::format("{}", fmt::join(field.choices, " or ")), text);
    }
    config.*field.member = std::string(text);
    return ok();
  }
  Status operator()(const ListField& field) const {
    std::vector<std::string> items = split(text);
    if (std::ranges::find(items, "") != items.end()) {
      return expected("names separated by commas, none of them empty", text);
    }
    config.*field.member = std::move(items);
    return ok();
  }
};

struct Getter {
  const C& config;

  std::string operator()(const CountField& field) const {
    return std::to_string(config.*field.member);
  }
  std::string operator()(const TextField& field) const { return config.*field.member; }
  std::string operator()(const ChoiceField& field) const { return config.*field.member; }
  std::string operator()(const ListField& field) const {
    return fmt::format("{}", fmt::join(config.*field.member, ","));
  }
};

}  // namespace

std::string ServerKey::flag() const {
  if (name == "model") {
    return "MODEL";
  }
  std::string out = "--" + std::string(name);
  std::ranges::replace(out, '_', '-');
  return out;
}

std::string ServerKey::environment() const {
  std::string out = "DAYBREAK_" + std::string(name);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return out;
}

std::string ServerKey::value(const ServerConfig& config) const {
  return std::visit(Getter{config}, field);
}

Status ServerKey::set(ServerConfig& config, std::string_view text) const {
  return std::visit(Setter{config, text}, field);
}

std::span<const ServerKey> server_keys() {
  static const std::vector<ServerKey> keys = make_keys();
  return keys;
}

const ServerKey* find_server_key(std::string_view name) {
  const auto found = std::ranges::find(server_keys(), name, &ServerKey::name);
  return found == server_keys().end() ? nullptr : &*found;
}

std::string_view nearest_server_key(std::string_view wrong) {
  std::vector<std::string_view> names;
  for (const ServerKey& key : server_keys()) {
    names.push_back(key.name);
  }
  return nearest_name(wrong, names);
}

std::string server_keys_markdown() {
  const ServerConfig defaults;
  std::string out =
      "| key | flag | environment | default | reload | meaning |\n|---|---|---|---|---|---|\n";
  for (const ServerKey& key : server_keys()) {
    const std::string value = key.value(defaults);
    out += fmt::format("| `{}` | `{}` | `{}` | {} | {} | {} |\n", key.name, key.flag(),
                       key.environment(), value.empty() ? "(empty)" : "`" + value + "`",
                       key.reload == Reload::kLive ? "yes" : "no", key.help);
  }
  return out;
}

}  // namespace daybreak::cli
