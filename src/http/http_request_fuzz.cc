// SPDX-License-Identifier: Apache-2.0
// Differential: a request must be judged the same whether it arrives at once or byte by byte, and
// neither may read or keep more than the limits allow.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/request_parser.h"

namespace {

using daybreak::http::RequestParser;
using State = RequestParser::State;

constexpr daybreak::http::RequestLimits kLimits{.head_bytes = 512, .body_bytes = 1024};

struct Outcome {
  State state = State::kHead;
  int status = 0;
  std::string path;
  std::string body;
  bool operator==(const Outcome&) const = default;
};

Outcome run(std::string_view input, std::size_t step) {
  RequestParser parser(kLimits);
  std::string pending;
  while (!input.empty() || !pending.empty()) {
    pending += input.substr(0, step);
    input.remove_prefix(std::min(step, input.size()));
    std::size_t used = 0;
    do {
      used = parser.feed(pending);
      pending.erase(0, used);
      if (parser.state() == State::kHeadDone) {
        parser.continue_body();
        used = 1;
      }
    } while (used > 0 && !pending.empty() && parser.state() == State::kBody);
    if (parser.state() == State::kDone || parser.state() == State::kFailed) {
      break;
    }
    if (pending.size() > kLimits.head_bytes + step) {
      std::abort();  // bytes pile up without a verdict
    }
    if (input.empty()) {
      break;
    }
  }
  Outcome outcome;
  outcome.state = parser.state();
  if (outcome.state == State::kFailed) {
    outcome.status = parser.refusal().status;
  } else if (outcome.state == State::kDone) {
    auto request = parser.take();
    outcome.path = request.path;
    outcome.body = request.body;
    if (outcome.body.size() > kLimits.body_bytes) {
      std::abort();
    }
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  const Outcome whole = run(input, input.size() + 1);
  const Outcome bytewise = run(input, 1);
  // A request refused for one fault may show another one first when it trickles in; accepting is
  // what must not depend on the cut.
  if ((whole.state == State::kDone) != (bytewise.state == State::kDone) ||
      (whole.state == State::kDone && !(whole == bytewise))) {
    std::abort();
  }
  return 0;
}
