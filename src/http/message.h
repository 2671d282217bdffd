// SPDX-License-Identifier: Apache-2.0
#pragma once

// Request and Response: what a handler is given and what it answers. Plain values; nothing here
// knows sockets, JSON or models.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybreak::http {

struct Header {
  std::string name;
  std::string value;

  friend bool operator==(const Header&, const Header&) = default;
};

// Returns whether two ASCII names are equal without regard to case (RFC 9110, 5.1).
[[nodiscard]] bool same_name(std::string_view a, std::string_view b);

// Returns the value of the first header of that name, or "".
[[nodiscard]] std::string_view header_of(const std::vector<Header>& headers, std::string_view name);

// One complete request: head and body have been received within every limit.
struct Request {
  std::string method;  // upper case as sent, such as "POST"
  std::string path;    // as sent, without the query and without any decoding
  std::string query;   // after '?', may be empty
  std::vector<Header> headers;
  std::string body;
  std::string id;        // value of x-request-id: the client's if it is well-formed, else ours
  std::string trace_id;  // of the header traceparent; empty if there is none that is well-formed
  // Whom this process has made the request for by itself, in terms of the layer above. Nothing for
  // what a client sent, whatever that is.
  std::optional<std::int64_t> principal = {};
  unsigned version = 11;  // 10 or 11
  bool keep_alive = true;

  // Returns the first header of that name, or "".
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

// One complete answer. Content-Length, Connection, Date, x-request-id and x-trace-id are added when
// it is sent.
struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<Header> headers = {};
};

// Returns the reason phrase, such as "Not Found"; "Unknown" for a status this server never sends.
[[nodiscard]] std::string_view reason(int status);

}  // namespace daybreak::http
