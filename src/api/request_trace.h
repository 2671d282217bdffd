// SPDX-License-Identifier: Apache-2.0
#pragma once

// RequestTrace: gathers what telemetry says about one generating request while a handler answers
// it, and reports it when the handler is done, however that ends.

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "api/context.h"
#include "api/prepare.h"
#include "api/request_facts.h"
#include "http/exchange.h"

namespace daybreak::api {

// Of one request, on its strand. What it is given must outlive it.
class RequestTrace {
 public:
  using RefuseFn = std::function<http::Response(const http::Request&, const Error&)>;

  // `operation`: a literal, as the conventions name it.
  RequestTrace(const Context& context, http::Exchange& exchange, std::string_view operation);
  ~RequestTrace();  // reports
  RequestTrace(const RequestTrace&) = delete;
  RequestTrace& operator=(const RequestTrace&) = delete;

  // Returns `refuse`, taking note of the errors that it tells. The trace must outlive the result.
  [[nodiscard]] RefuseFn noting(RefuseFn refuse);

  // What is asked for. `choices`: of all prompts together.
  void asked(const PreparedChat& chat, std::size_t choices);

  // The request was refused before that; `model` is the name it used, one of those served, or "".
  void refused(std::string model) { facts_.asked_model = std::move(model); }

  // What came of it: `generation` was submitted, and its answer ended in whatever way.
  template <class Generation>
  void answered(const Generation& generation, std::string_view response_id) {
    if (generation.engine_ids().empty()) {
      return;  // refused by the engine, which was noted
    }
    Answered& answer = facts_.answered.emplace();
    answer.response_id = response_id;
    answer.usage = generation.usage();
    for (const std::string_view reason : generation.finish_reasons()) {
      answer.finish_reasons.emplace_back(reason);
    }
    answer.times = generation.times();
    answer.engine_ids.assign(generation.engine_ids().begin(), generation.engine_ids().end());
    answer.first_token = generation.first_token();
    answer.longest_choice = generation.longest_choice();
    if (!generation.done()) {
      facts_.error = generation.failure().value_or(Errc::kCancelled);
    }
    exchange_.note({"engine_id", static_cast<std::int64_t>(answer.engine_ids.front())});
  }

 private:
  const Context& context_;
  http::Exchange& exchange_;
  RequestFacts facts_;
};

}  // namespace daybreak::api
