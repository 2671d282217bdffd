// SPDX-License-Identifier: Apache-2.0
#include "api/error_reply.h"

#include "api/anthropic_reply.h"
#include "api/route_scope.h"
#include "chat/response_json.h"

namespace daybreak::api {
namespace {

// Returns the error whose `type` clients expect beside a status.
Errc code_for(int status) {
  switch (status) {
    case 403:
      return Errc::kPermission;
    case 404:
      return Errc::kNotFound;
    case 413:
      return Errc::kTooLarge;
    case 500:
      return Errc::kIo;
    case 501:
      return Errc::kUnsupported;
    case 503:
      return Errc::kUnavailable;
    default:
      return Errc::kInvalidArgument;
  }
}

}  // namespace

http::Response error_response(const Error& error) {
  http::Response response;
  response.status = http_status(error.code);
  response.body = chat::error_json(error);
  response.headers = error_headers(error.code);
  return response;
}

std::vector<http::Header> error_headers(Errc code) {
  if (code == Errc::kResourceLimit || code == Errc::kUnavailable) {
    return {{"Retry-After", "1"}, {"retry-after-ms", "1000"}, {"x-should-retry", "true"}};
  }
  if (code == Errc::kTooLarge) {
    return {{"x-should-retry", "false"}};
  }
  if (code == Errc::kUnauthenticated) {  // RFC 9110, 11.6.1: a 401 names how to authenticate
    return {{"WWW-Authenticate", "Bearer realm=\"daybreak\""}};
  }
  return {};
}

http::Response protocol_error_response(const http::Request& request, const Error& error) {
  return speaks_anthropic(request) ? anthropic_error_response(request, error)
                                   : error_response(error);
}

http::Response http_error_response(const http::Request& request, int status,
                                   std::string_view message) {
  http::Response response =
      protocol_error_response(request, {code_for(status), std::string(message)});
  response.status = status;
  return response;
}

}  // namespace daybreak::api
