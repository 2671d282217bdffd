// SPDX-License-Identifier: Apache-2.0
#include "api/anthropic_reply.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/error_reply.h"
#include "api/ignored_fields.h"
#include "chat/anthropic_json.h"

namespace daybreak::api {
http::Response anthropic_error_response(const http::Request& request, const Error& error) {
  http::Response response;
  response.status = error.code == Errc::kUnsupported ? 400 : http_status(error.code);
  response.body = chat::anthropic_error_json(in_anthropic_terms(error), request.id);
  response.headers = anthropic_headers(request.id, {});
  std::ranges::move(error_headers(error.code), std::back_inserter(response.headers));
  return response;
}

std::vector<http::Header> anthropic_headers(std::string_view request_id,
                                            const std::vector<std::string>& ignored_fields) {
  std::vector<http::Header> headers = ignored_fields_headers(ignored_fields);
  headers.insert(headers.begin(), {"request-id", std::string(request_id)});
  return headers;
}

Error in_anthropic_terms(Error error) {
  static constexpr std::string_view kSchema = "].function.parameters";
  const std::size_t at = error.message.find(kSchema);
  if (error.message.starts_with("tools[") && at < error.message.find(": ")) {
    error.message.replace(at, kSchema.size(), "].input_schema");
  }
  return error;
}

}  // namespace daybreak::api
