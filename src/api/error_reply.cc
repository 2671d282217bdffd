// SPDX-License-Identifier: Apache-2.0
#include "api/error_reply.h"

#include "chat/response_json.h"

namespace daybreak::api {
namespace {

// Returns the error whose `type` clients expect beside a status.
Errc code_for(int status) {
  switch (status) {
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
  add_retry_headers(response, error);
  return response;
}

void add_retry_headers(http::Response& response, const Error& error) {
  if (error.code == Errc::kResourceLimit || error.code == Errc::kUnavailable) {
    response.headers.push_back({"Retry-After", "1"});
    response.headers.push_back({"retry-after-ms", "1000"});
    response.headers.push_back({"x-should-retry", "true"});
  }
}

std::string http_error_body(int status, std::string_view message) {
  return chat::error_json({code_for(status), std::string(message)});
}

}  // namespace daybreak::api
