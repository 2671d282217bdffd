// SPDX-License-Identifier: Apache-2.0
#include "api/error_reply.h"

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
  if (error.code == Errc::kResourceLimit || error.code == Errc::kUnavailable) {
    response.headers.push_back({"Retry-After", "1"});
  }
  return response;
}

std::string http_error_body(int status, std::string_view message) {
  return chat::error_json({code_for(status), std::string(message)});
}

}  // namespace daybreak::api
