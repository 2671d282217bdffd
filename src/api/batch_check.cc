// SPDX-License-Identifier: Apache-2.0
#include "api/batch_check.h"

#include <unordered_set>
#include <utility>

#include "api/batch_line.h"
#include "base/line_reader.h"
#include "chat/response_json.h"

namespace daybreak::api {
namespace {

bool blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

BatchCheck check_batch(int input, std::string_view endpoint, std::size_t max_lines,
                       const std::atomic<bool>& stop) {
  BatchCheck check;
  std::unordered_set<std::string> custom_ids;
  LineReader reader(input);
  const auto wrong = [&](std::uint64_t line, std::string code, std::string message) {
    check.errors.push_back({.line = line, .code = std::move(code), .message = std::move(message)});
    return check.errors.size() < kMaxBatchErrors;
  };
  bool more = true;
  for (std::uint64_t number = 1; more && !stop; ++number) {
    const auto line = reader.next();
    if (!line) {
      break;
    }
    if (number > max_lines) {
      wrong(number, "too_many_lines",
            "at most " + std::to_string(max_lines) + " lines are allowed in a batch");
      break;
    }
    if (!*line) {
      more =
          wrong(number, "invalid_line", line->error().message) && line->error().code != Errc::kIo;
      continue;
    }
    if (blank(**line)) {
      continue;
    }
    ++check.lines;
    const auto request = parse_batch_request(**line, endpoint);
    if (!request) {
      more = wrong(number, "invalid_request", request.error().message);
    } else if (!custom_ids.insert(request->custom_id).second) {
      more = wrong(number, "duplicate_custom_id", "custom_id: an earlier line has the same");
    }
  }
  if (check.lines == 0 && check.errors.empty()) {
    wrong(0, "empty_file", "the input has no requests");
  }
  check.ended = !stop;
  return check;
}

std::string batch_errors_json(const std::vector<BatchError>& errors) {
  std::string out = "{\"object\":\"list\",\"data\":[";
  for (const BatchError& error : errors) {
    out += out.back() == '[' ? "{\"code\":" : ",{\"code\":";
    chat::append_json_text(out, error.code);
    out += ",\"line\":" + (error.line == 0 ? "null" : std::to_string(error.line)) + ",\"message\":";
    chat::append_json_text(out, error.message);
    out += ",\"param\":null}";
  }
  return out + "]}";
}

}  // namespace daybreak::api
