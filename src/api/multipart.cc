// SPDX-License-Identifier: Apache-2.0
#include "api/multipart.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json_document.h"
#include "http/message.h"

namespace daybreak::api {
namespace {

constexpr std::size_t kMaxBoundaryBytes = 70;  // RFC 2046, 5.1.1

Error bad(const char* what) {
  return {Errc::kInvalidArgument, std::string("multipart/form-data: ") + what};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

// Takes the next "; NAME=VALUE" from the front of `rest`; a quoted value may hold anything.
std::optional<std::pair<std::string_view, std::string>> take_parameter(std::string_view& rest) {
  const std::size_t semicolon = rest.find(';');
  if (semicolon == std::string_view::npos) {
    return std::nullopt;
  }
  rest.remove_prefix(semicolon + 1);
  const std::size_t equals = rest.find('=');
  if (equals == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view name = trimmed(rest.substr(0, equals));
  rest.remove_prefix(equals + 1);
  std::string value;
  if (!rest.starts_with('"')) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    value = trimmed(rest.substr(0, end));
    rest.remove_prefix(end);
    return std::pair(name, std::move(value));
  }
  std::size_t at = 1;
  for (; at < rest.size() && rest[at] != '"'; ++at) {
    at += rest[at] == '\\' && at + 1 < rest.size() ? 1 : 0;
    value += rest[at];
  }
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return std::pair(name, std::move(value));
}

Result<std::string> boundary_of(std::string_view content_type) {
  const std::string_view type = trimmed(content_type.substr(0, content_type.find(';')));
  if (!http::same_name(type, "multipart/form-data")) {
    return Error{Errc::kInvalidArgument,
                 "Content-Type: expected multipart/form-data, found " +
                     (type.empty() ? "nothing" : "'" + printable(type, 64) + "'")};
  }
  std::string_view rest = content_type;
  while (auto parameter = take_parameter(rest)) {
    if (http::same_name(parameter->first, "boundary")) {
      if (parameter->second.empty() || parameter->second.size() > kMaxBoundaryBytes) {
        break;
      }
      return std::move(parameter->second);
    }
  }
  return bad("expected a boundary of 1 to 70 bytes in Content-Type");
}

// Reads the head of a part: lines up to an empty one.
Result<Part> parse_part(std::string_view text) {
  Part part;
  bool named = false;
  while (!text.starts_with("\r\n")) {
    const std::size_t end = text.find("\r\n");
    if (end == std::string_view::npos) {
      return bad("expected an empty line after the headers of a part");
    }
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 2);
    if (!http::same_name(line.substr(0, line.find(':')), "content-disposition")) {
      continue;
    }
    std::string_view rest = line;
    while (auto parameter = take_parameter(rest)) {
      if (http::same_name(parameter->first, "name")) {
        part.name = std::move(parameter->second);
        named = true;
      } else if (http::same_name(parameter->first, "filename")) {
        part.filename = std::move(parameter->second);
      }
    }
  }
  if (!named) {
    return bad("expected Content-Disposition with a name in each part");
  }
  part.body = text.substr(2);
  return part;
}

}  // namespace

Result<std::vector<Part>> parse_multipart(std::string_view content_type, std::string_view body) {
  DAYBREAK_TRY(const std::string boundary, boundary_of(content_type));
  const std::string first = "--" + boundary;
  const std::string delimiter = "\r\n" + first;
  if (!body.starts_with(first)) {
    return bad("expected the body to begin with its boundary");
  }
  body.remove_prefix(first.size());
  std::vector<Part> parts;
  while (!body.starts_with("--")) {
    if (!body.starts_with("\r\n")) {
      return bad("expected a line break after a boundary");
    }
    body.remove_prefix(2);
    const std::size_t end = body.find(delimiter);
    if (end == std::string_view::npos) {
      return bad("expected a boundary after the last part");
    }
    if (parts.size() == kMaxParts) {
      return bad("expected at most 16 parts");
    }
    DAYBREAK_TRY(Part part, parse_part(body.substr(0, end)));
    parts.push_back(std::move(part));
    body.remove_prefix(end + delimiter.size());
  }
  return parts;
}

}  // namespace daybreak::api
