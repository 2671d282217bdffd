// SPDX-License-Identifier: Apache-2.0
#include "http/request_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <limits>

#include "http/request_target.h"

namespace daybreak::http {

namespace beast = boost::beast;
using beast::http::field;
using BeastError = beast::http::error;

struct RequestParser::Impl {
  explicit Impl(RequestLimits given) : limits(given) {
    parser.header_limit(static_cast<std::uint32_t>(
        std::min<std::size_t>(given.head_bytes, std::numeric_limits<std::uint32_t>::max())));
    // The head is judged by us first, so that an oversized body gets its own message.
    parser.body_limit(boost::none);
  }

  void fail(int status, std::string message) {
    state = State::kFailed;
    refusal = {status, std::move(message)};
  }

  // `unread` starts where the fault was found.
  void fail_with(const beast::error_code& error, std::string_view unread);
  void check_head_size(std::size_t pending);
  void check_head();

  RequestLimits limits;
  beast::http::request_parser<beast::http::string_body> parser;
  State state = State::kHead;
  std::size_t head_bytes = 0;  // of the head, consumed so far
  bool started = false;        // a byte of the request line has been seen
  Refusal refusal;
};

namespace {

std::string text(beast::string_view view) { return {view.data(), view.size()}; }

std::string body_too_large(std::size_t limit) {
  return "request body is larger than the limit of " + std::to_string(limit) + " bytes";
}

// "0\r\n\r\n": whatever is left of a chunked body is at least this long, and the parser below
// asserts that it is given as much once it has seen the last chunk's size.
constexpr std::size_t kShortestChunkedEnd = 5;

// Returns whether the request line ends in a well-formed version, which then is not ours.
bool names_other_version(std::string_view line) {
  line = line.substr(0, line.find('\r'));
  const std::string_view version = line.substr(line.rfind(' ') + 1);
  const auto digit = [&](std::size_t i) { return version[i] >= '0' && version[i] <= '9'; };
  return version != "HTTP/1.1" && version != "HTTP/1.0" && version.size() == 8 &&
         version.starts_with("HTTP/") && digit(5) && version[6] == '.' && digit(7);
}

}  // namespace

void RequestParser::Impl::fail_with(const beast::error_code& error, std::string_view unread) {
  if (error == BeastError::header_limit) {
    return check_head_size(limits.head_bytes + 1);
  }
  if (error == BeastError::body_limit || error == BeastError::buffer_overflow) {
    return fail(413, body_too_large(limits.body_bytes));
  }
  if (error == BeastError::bad_version && names_other_version(unread)) {
    return fail(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
  }
  if (error == BeastError::bad_transfer_encoding &&
      parser.get().count(field::content_length) == 0) {
    return fail(501, "the only transfer coding understood is chunked");
  }
  fail(400, "malformed HTTP request: " + error.message());
}

// The limit is on the whole head, request line included.
void RequestParser::Impl::check_head_size(std::size_t pending) {
  if (head_bytes + pending > limits.head_bytes) {
    fail(431, "request head is larger than the limit of " + std::to_string(limits.head_bytes) +
                  " bytes");
  }
}

// What the grammar allows and this server refuses, decided before any of the body is read.
void RequestParser::Impl::check_head() {
  const auto& head = parser.get();
  if (!parse_target(text(head.method_string()), text(head.target()))) {
    return fail(400,
                "malformed HTTP request: the target must be an absolute path or an http(s) URL");
  }
  const auto hosts = head.count(field::host);
  if (hosts > 1 || (hosts == 0 && head.version() == 11)) {
    return fail(400, "malformed HTTP request: exactly one Host header is needed, found " +
                         std::to_string(hosts));
  }
  if (head.count(field::transfer_encoding) > 0) {
    // Two framings of one body is how requests are smuggled past a proxy.
    if (head.count(field::content_length) > 0) {
      return fail(400, "malformed HTTP request: both Content-Length and Transfer-Encoding");
    }
    if (!parser.chunked() || !beast::iequals(head[field::transfer_encoding], "chunked")) {
      return fail(501, "the only transfer coding understood is chunked");
    }
  }
  if (const auto length = parser.content_length(); length && *length > limits.body_bytes) {
    return fail(
        413, body_too_large(limits.body_bytes) + ", Content-Length is " + std::to_string(*length));
  }
  if (const auto expect = head[field::expect];
      !expect.empty() && !beast::iequals(expect, "100-continue")) {
    return fail(417, "the only expectation understood is 100-continue");
  }
  state = State::kHeadDone;
}

RequestParser::RequestParser(RequestLimits limits) : impl_(std::make_unique<Impl>(limits)) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

std::size_t RequestParser::feed(std::string_view bytes) {
  std::size_t used = 0;
  if (!impl_->started) {  // empty lines before a request are skipped (RFC 9112, 2.2)
    while (bytes.substr(used).starts_with("\r\n")) {
      used += 2;
    }
    impl_->started = !bytes.substr(used).empty() && bytes.substr(used) != "\r";
    if (!impl_->started) {
      return used;
    }
  }
  while (impl_->state == State::kHead || impl_->state == State::kBody) {
    beast::error_code error;
    const std::string_view rest = bytes.substr(used);
    if (impl_->state == State::kBody && impl_->parser.chunked() &&
        rest.size() < kShortestChunkedEnd) {
      break;
    }
    const std::size_t taken =
        impl_->parser.put(boost::asio::const_buffer(rest.data(), rest.size()), error);
    used += taken;
    const bool in_head = impl_->state == State::kHead;
    const bool head_done = impl_->parser.is_header_done();
    if (in_head) {
      impl_->head_bytes += taken;
      impl_->check_head_size(head_done ? 0 : bytes.size() - used);
    }
    if (impl_->state == State::kFailed) {
      break;
    }
    if (error && error != BeastError::need_more) {
      impl_->fail_with(error, bytes.substr(used));
    } else if (in_head && head_done) {
      impl_->check_head();
    } else if (impl_->parser.is_done()) {
      impl_->state = State::kDone;
    } else if (error == BeastError::need_more || taken == 0 || used == bytes.size()) {
      if (bytes.size() - used > impl_->limits.head_bytes) {
        impl_->fail(400, "malformed HTTP request: a chunk header is longer than " +
                             std::to_string(impl_->limits.head_bytes) + " bytes");
      }
      break;
    }
  }
  return used;
}

void RequestParser::continue_body() {
  impl_->parser.body_limit(impl_->limits.body_bytes);
  impl_->parser.eager(true);
  impl_->state = impl_->parser.is_done() ? State::kDone : State::kBody;
}

RequestParser::State RequestParser::state() const { return impl_->state; }

bool RequestParser::wants_continue() const {
  const auto& head = impl_->parser.get();
  return head.version() == 11 && !head[field::expect].empty();
}

const Refusal& RequestParser::refusal() const { return impl_->refusal; }

std::size_t RequestParser::body_bytes() const { return impl_->parser.get().body().size(); }

std::optional<Request> RequestParser::head() const {
  if (!impl_->parser.is_header_done()) {
    return std::nullopt;
  }
  const auto& message = impl_->parser.get();
  Request request;
  request.keep_alive = impl_->parser.keep_alive();
  request.method = text(message.method_string());
  request.version = message.version();
  // A refused head may have any target; its path still says whose errors the client expects.
  RequestTarget target =
      parse_target(request.method, text(message.target()))
          .value_or(RequestTarget{.path = text(message.target()), .query = {}, .authority = {}});
  request.path = std::move(target.path);
  request.query = std::move(target.query);
  // The authority of a URL counts, and the Host header does not (RFC 9112, 3.2.2): nobody after
  // this may look at the wrong one.
  const bool replaced = !target.authority.empty();
  if (replaced) {
    request.headers.push_back({"Host", std::move(target.authority)});
  }
  for (const auto& header : message) {
    if (!replaced || header.name() != field::host) {
      request.headers.push_back({text(header.name_string()), text(header.value())});
    }
  }
  return request;
}

Request RequestParser::take() {
  Request request = *head();
  request.body = std::move(impl_->parser.release().body());
  return request;
}

}  // namespace daybreak::http
