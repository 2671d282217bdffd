// SPDX-License-Identifier: Apache-2.0
#include "cli/otlp_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "api/gen_ai_spans.h"

namespace daybreak::cli {
namespace {

using Pair = std::pair<std::string, std::string>;
using std::chrono::milliseconds;

Error wrong(std::string_view name, std::string_view expected) {
  return {Errc::kInvalidArgument, fmt::format("{}: expected {}", name, expected)};
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

bool is_header_name(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

// Undoes %XX; nothing if a '%' has no two hexadecimal digits behind it.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned value = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || error != std::errc{} || end != digits.data() + 2) {
      return std::nullopt;
    }
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

// "a=1,b=2" with percent-encoded values. Values are secrets: errors do not show them.
Result<std::vector<Pair>> parse_pairs(std::string_view name, std::string_view text) {
  std::vector<Pair> out;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = trimmed(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (item.empty()) {
      continue;
    }
    const std::size_t equals = item.find('=');
    const auto value = equals == std::string_view::npos
                           ? std::nullopt
                           : percent_decoded(trimmed(item.substr(equals + 1)));
    const std::string_view key = trimmed(item.substr(0, std::min(equals, item.size())));
    if (!value || key.empty() || out.size() == kMaxOtlpHeaders) {
      return wrong(name, fmt::format("at most {} NAME=VALUE separated by commas, values "
                                     "percent-encoded",
                                     kMaxOtlpHeaders));
    }
    out.emplace_back(key, *value);
  }
  return out;
}

// Lines "NAME: VALUE"; empty ones and those that begin with '#' are skipped.
Result<std::vector<Pair>> read_headers(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxOtlpHeadersBytes + 1, '\0');
  if (!file) {
    return Error{Errc::kIo, fmt::format("otlp_headers_file: {} cannot be read", path)};
  }
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxOtlpHeadersBytes) {
    return wrong("otlp_headers_file", fmt::format("at most {} bytes", kMaxOtlpHeadersBytes));
  }
  std::vector<Pair> out;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty() || line.front() == '#') {
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || out.size() == kMaxOtlpHeaders) {
      return wrong("otlp_headers_file",
                   fmt::format("at most {} lines NAME: VALUE", kMaxOtlpHeaders));
    }
    out.emplace_back(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  }
  return out;
}

// Reads the variables of one environment.
class Variables {
 public:
  using Environment = std::function<const char*(const std::string&)>;
  explicit Variables(const Environment& environment) : environment_(environment) {}

  // An empty variable is one that is not set.
  [[nodiscard]] std::string text(const char* name) const {
    const char* value = environment_ ? environment_(name) : nullptr;
    return value == nullptr ? "" : std::string(trimmed(value));
  }
  [[nodiscard]] Result<milliseconds> time(const char* name, milliseconds otherwise) const {
    constexpr std::int64_t kDayMs = 86'400'000;
    const std::string given = text(name);
    if (given.empty()) {
      return otherwise;
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (error != std::errc{} || end != given.data() + given.size() || value < 1 || value > kDayMs) {
      return wrong(name, fmt::format("milliseconds from 1 to {}, found '{}'", kDayMs, given));
    }
    return milliseconds(value);
  }

 private:
  const Environment& environment_;
};

// "HOST", "HOST:PORT", "[ADDRESS]:PORT".
bool is_host_and_port(std::string_view text) {
  const std::size_t address_end = text.starts_with('[') ? text.find(']') : 0;
  const std::size_t colon = text.find(':', std::min(address_end, text.size()));
  if (colon == std::string_view::npos) {
    return !text.empty() && address_end != std::string_view::npos;
  }
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return colon > 0 && error == std::errc{} && end == digits.data() + digits.size() && port != 0;
}

// Empty, or a URL that can be posted to. The log and `daybreak config` show it: there must be no
// password in it.
Status check_endpoint(std::string_view name, std::string_view url) {
  const std::size_t scheme = std::min(url.find("://"), url.size());
  const std::size_t host = scheme == url.size() ? 0 : scheme + 3;
  const std::string_view authority = url.substr(host, url.find_first_of("/?#", host) - host);
  if (authority.find('@') != std::string_view::npos || has_control(url)) {
    return wrong(name, "a URL without user and password; put credentials into otlp_headers_file");
  }
  const bool known = url.starts_with("http://") || url.starts_with("https://");
  if (!url.empty() && (!known || !is_host_and_port(authority))) {
    return wrong(name, fmt::format("http://HOST[:PORT] or https://HOST[:PORT], found '{}'",
                                   url.substr(0, 200)));
  }
  return ok();
}

// What is posted to: the signal's own variable as it is, or the endpoint with the signal's path.
Result<std::string> signal_url(const Variables& variables, std::string endpoint, const char* signal,
                               const char* path) {
  const std::string exporter = fmt::format("OTEL_{}_EXPORTER", signal);
  const std::string chosen = variables.text(exporter.c_str());
  if (chosen == "none") {
    return std::string();
  }
  if (!chosen.empty() && chosen != "otlp") {
    return wrong(exporter, fmt::format("otlp or none, found '{}'", chosen));
  }
  const std::string name = fmt::format("OTEL_EXPORTER_OTLP_{}_ENDPOINT", signal);
  const std::string own = variables.text(name.c_str());
  DAYBREAK_CHECK_OK(check_endpoint(name, own));
  if (!own.empty() || endpoint.empty()) {
    return own;
  }
  while (endpoint.ends_with('/')) {
    endpoint.pop_back();
  }
  return endpoint + path;
}

Status add_headers(const ServerConfig& config, const Variables& variables,
                   telemetry::ExporterOptions& out) {
  const std::string given = variables.text("OTEL_EXPORTER_OTLP_HEADERS");
  DAYBREAK_TRY(std::vector<Pair> pairs, parse_pairs("OTEL_EXPORTER_OTLP_HEADERS", given));
  if (!config.otlp_headers_file.empty()) {
    DAYBREAK_TRY(pairs, read_headers(config.otlp_headers_file));
  }
  for (auto& [name, value] : pairs) {
    if (!is_header_name(name) || has_control(value)) {
      return wrong("OTLP headers",
                   "names of letters, digits and marks, values without control "
                   "characters");
    }
    out.headers.push_back({std::move(name), std::move(value)});
  }
  return ok();
}

// service.name: of the attributes, unless a variable of its own says it.
Status add_resource(const Variables& variables, const std::string& version,
                    telemetry::Source& out) {
  const std::string given = variables.text("OTEL_RESOURCE_ATTRIBUTES");
  DAYBREAK_TRY(std::vector<Pair> pairs, parse_pairs("OTEL_RESOURCE_ATTRIBUTES", given));
  const auto set = [&](const std::string& key, const std::string& value, bool replaces) {
    const auto found = std::ranges::find(pairs, key, &Pair::first);
    if (found == pairs.end()) {
      pairs.emplace_back(key, value);
    } else if (replaces) {
      found->second = value;
    }
  };
  const std::string service = variables.text("OTEL_SERVICE_NAME");
  std::string instance;
  for (const std::uint8_t byte : api::random_trace_id()) {
    instance += fmt::format("{:02x}", byte);
  }
  set("service.name", service.empty() ? "daybreak" : service, !service.empty());
  set("service.version", version, false);
  set("service.instance.id", instance, false);
  for (auto& [key, value] : pairs) {
    out.resource.push_back({std::move(key), std::move(value)});
  }
  out.scope = "daybreak";
  out.version = version;
  return ok();
}

Status check_protocol(const Variables& variables) {
  const std::string protocol = variables.text("OTEL_EXPORTER_OTLP_PROTOCOL");
  if (protocol.empty() || protocol == "http/json") {
    return ok();
  }
  return wrong("OTEL_EXPORTER_OTLP_PROTOCOL",
               fmt::format("http/json, the one spoken here, found '{}'", protocol));
}

}  // namespace

Result<std::optional<api::TelemetryOptions>> otlp_options(
    const ServerConfig& config, const std::string& version,
    const std::function<const char*(const std::string&)>& environment) {
  const Variables variables(environment);
  api::TelemetryOptions out;
  telemetry::ExporterOptions& exporter = out.exporter;
  const std::string endpoint = config.otlp_endpoint.empty()
                                   ? variables.text("OTEL_EXPORTER_OTLP_ENDPOINT")
                                   : config.otlp_endpoint;
  DAYBREAK_CHECK_OK(check_endpoint(
      config.otlp_endpoint.empty() ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "otlp_endpoint", endpoint));
  DAYBREAK_TRY(exporter.traces_url, signal_url(variables, endpoint, "TRACES", "/v1/traces"));
  DAYBREAK_TRY(exporter.metrics_url, signal_url(variables, endpoint, "METRICS", "/v1/metrics"));
  const bool nothing = exporter.traces_url.empty() && exporter.metrics_url.empty();
  if (nothing || variables.text("OTEL_SDK_DISABLED") == "true") {
    return std::optional<api::TelemetryOptions>();
  }
  DAYBREAK_CHECK_OK(check_protocol(variables));
  DAYBREAK_CHECK_OK(add_headers(config, variables, exporter));
  DAYBREAK_CHECK_OK(add_resource(variables, version, exporter.source));
  exporter.ca_file = variables.text("OTEL_EXPORTER_OTLP_CERTIFICATE");
  DAYBREAK_TRY(exporter.timeout, variables.time("OTEL_EXPORTER_OTLP_TIMEOUT", exporter.timeout));
  DAYBREAK_TRY(exporter.schedule_delay,
               variables.time("OTEL_BSP_SCHEDULE_DELAY", exporter.schedule_delay));
  DAYBREAK_TRY(exporter.metric_interval,
               variables.time("OTEL_METRIC_EXPORT_INTERVAL", exporter.metric_interval));
  DAYBREAK_TRY(out.sampler, telemetry::parse_sampler(variables.text("OTEL_TRACES_SAMPLER"),
                                                     variables.text("OTEL_TRACES_SAMPLER_ARG")));
  return std::optional(std::move(out));
}

}  // namespace daybreak::cli
