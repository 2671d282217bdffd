// SPDX-License-Identifier: Apache-2.0
#include "api/batch_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

#include "base/hash.h"
#include "base/json_document.h"
#include "chat/response_json.h"

namespace daybreak::api {
namespace {

constexpr auto kUrls =
    std::to_array<std::string_view>({"/v1/chat/completions", "/v1/completions", "/v1/responses"});
constexpr std::string_view kIdPrefix = "batch_req_";
// A request's own limits hold where it is answered.
constexpr JsonLimits kLimits{.max_bytes = std::size_t{1} << 30U, .max_depth = 512};

Result<std::string_view> text(const JsonValue& root, std::string_view key) {
  const auto value = root.find(key);
  if (!value) {
    return Error{Errc::kInvalidArgument, root.where_of(key) + ": expected text, found nothing"};
  }
  return value->string();
}

Result<std::string_view> read_custom_id(const JsonValue& root) {
  DAYBREAK_TRY(const std::string_view id, text(root, "custom_id"));
  if (id.empty() || id.size() > kMaxCustomIdBytes) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("{}: expected 1 to {} bytes, found {}", root.where_of("custom_id"),
                             kMaxCustomIdBytes, id.size())};
  }
  return id;
}

// A line break outside of strings is white space, inside it cannot be.
std::string on_one_line(std::string_view json) {
  std::string out(json);
  std::ranges::replace_if(out, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return out;
}

// The bytes of the member "body" as they stand in `line`, which is valid JSON with one such member:
// nothing of a request may change on its way.
Result<std::string> raw_body(std::string_view line) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(line);
  simdjson::ondemand::document document;
  simdjson::ondemand::object root;
  simdjson::ondemand::object body;
  std::string_view raw;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.get_object().get(root) != simdjson::SUCCESS ||
      root.find_field_unordered("body").get_object().get(body) != simdjson::SUCCESS ||
      body.raw_json().get(raw) != simdjson::SUCCESS) {
    return Error{Errc::kInvalidArgument, "body: expected an object"};
  }
  return on_one_line(raw.substr(0, raw.rfind('}') + 1));  // white space may follow
}

std::string head(const BatchLineId& id, std::string_view custom_id) {
  std::string out = "{\"id\":\"" + id.text() + "\",\"custom_id\":";
  if (custom_id.empty()) {
    return out + "null";
  }
  chat::append_json_text(out, custom_id);
  return out;
}

Error corrupt(std::string_view found) {
  return {Errc::kCorrupt,
          "expected a line that a batch has written, found '" + printable(found, 64) + "'"};
}

}  // namespace

bool can_be_batched(std::string_view url) { return std::ranges::find(kUrls, url) != kUrls.end(); }

std::string batch_urls() { return fmt::format("{}", fmt::join(kUrls, " or ")); }

Result<BatchRequest> parse_batch_request(std::string_view line, std::string_view endpoint) {
  DAYBREAK_TRY(const JsonDocument document, JsonDocument::parse(line, "request", kLimits));
  const JsonValue root = document.root();
  if (!root.is_object()) {
    return root.expected("an object");
  }
  BatchRequest request;
  DAYBREAK_TRY(request.custom_id, read_custom_id(root));
  DAYBREAK_TRY(const std::string_view method, text(root, "method"));
  if (method != "POST") {
    return Error{Errc::kInvalidArgument, root.where_of("method") + ": expected \"POST\", found '" +
                                             printable(method, 32) + "'"};
  }
  DAYBREAK_TRY(request.url, text(root, "url"));
  if (!(endpoint.empty() ? can_be_batched(request.url) : request.url == endpoint)) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("{}: expected {}, found '{}'", root.where_of("url"),
                             endpoint.empty() ? batch_urls() : std::string(endpoint),
                             printable(request.url, 64))};
  }
  const auto body = root.find("body");
  if (!body || !body->is_object()) {
    return body ? body->expected("an object")
                : Error{Errc::kInvalidArgument,
                        root.where_of("body") + ": expected an object, found nothing"};
  }
  if (const auto stream = body->find_set("stream")) {
    DAYBREAK_TRY(const bool streamed, stream->boolean());
    if (streamed) {
      return Error{Errc::kInvalidArgument,
                   stream->where() + ": an answer of a batch is whole, expected false"};
    }
  }
  DAYBREAK_TRY(request.body, raw_body(line));
  return request;
}

std::string custom_id_of(std::string_view line) {
  const auto document = JsonDocument::parse(line, "request", kLimits);
  if (!document || !document->root().is_object()) {
    return "";
  }
  const auto id = read_custom_id(document->root());
  return id ? std::string(*id) : "";
}

BatchLineId BatchLineId::of(std::uint64_t line, std::string_view bytes) {
  return {.line = line, .hash = fnv1a64(std::as_bytes(std::span(bytes)))};
}

std::string BatchLineId::text() const { return fmt::format("{}{}_{:016x}", kIdPrefix, line, hash); }

Result<BatchLineId> BatchLineId::parse(std::string_view text) {
  BatchLineId id;
  std::string_view rest = text.substr(std::min(text.size(), kIdPrefix.size()));
  const std::size_t bar = std::min(rest.find('_'), rest.size());
  const auto number = [](std::string_view digits, std::uint64_t& to, int base) {
    return std::from_chars(digits.data(), digits.data() + digits.size(), to, base).ec ==
           std::errc{};
  };
  if (!number(rest.substr(0, bar), id.line, 10) || bar == rest.size() ||
      !number(rest.substr(bar + 1), id.hash, 16) || id.text() != text) {
    return corrupt(text);
  }
  return id;
}

std::string batch_answer_json(const BatchLineId& id, std::string_view custom_id,
                              std::string_view request_id, const http::Response& response) {
  std::string out = head(id, custom_id);
  out += ",\"response\":{\"status_code\":" + std::to_string(response.status) + ",\"request_id\":";
  chat::append_json_text(out, request_id);
  return out + ",\"body\":" + on_one_line(response.body) + "},\"error\":null}";
}

std::string batch_error_json(const BatchLineId& id, std::string_view custom_id,
                             std::string_view code, std::string_view message) {
  std::string out = head(id, custom_id) + ",\"response\":null,\"error\":{\"code\":";
  chat::append_json_text(out, code);
  out += ",\"message\":";
  chat::append_json_text(out, message);
  return out + "}}";
}

Result<BatchOutcome> parse_batch_outcome(std::string_view line) {
  const auto document = JsonDocument::parse(line, "line", kLimits);
  if (!document) {
    return corrupt(line);
  }
  const auto id = document->root().find("id");
  const auto response = document->root().find("response");
  const auto id_text = id ? id->string() : Result<std::string_view>(corrupt(line));
  if (!id_text || !response) {
    return corrupt(line);
  }
  DAYBREAK_TRY(const BatchLineId parsed, BatchLineId::parse(*id_text));
  const auto status = response->find("status_code");
  const auto code = status ? status->integer(0, 999) : Result<std::uint64_t>(std::uint64_t{0});
  return BatchOutcome{.id = parsed, .completed = code && *code == 200};
}

}  // namespace daybreak::api
