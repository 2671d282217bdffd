// SPDX-License-Identifier: Apache-2.0
#include "api/request_trace.h"

#include <utility>

namespace daybreak::api {

RequestTrace::RequestTrace(const Context& context, http::Exchange& exchange,
                           std::string_view operation)
    : context_(context), exchange_(exchange) {
  const http::Request& request = exchange.request();
  facts_.operation = operation;
  facts_.path = request.path;
  facts_.request_id = request.id;
  facts_.traceparent = request.header("traceparent");
  facts_.served_model = context.options.model_names.front();
  facts_.began = std::chrono::steady_clock::now();
  facts_.began_utc = std::chrono::system_clock::now();
}

RequestTrace::~RequestTrace() {
  facts_.ended = std::chrono::steady_clock::now();
  if (!facts_.answered && !facts_.error) {
    facts_.error = Errc::kIo;  // the handler threw: the client gets 500
  }
  if (facts_.asked && facts_.answered && !facts_.error) {
    context_.request_metrics.observe(facts_.asked->choices, facts_.asked->max_tokens,
                                     facts_.answered->longest_choice);
  }
  if (context_.telemetry) {
    context_.telemetry->record(facts_);
  }
}

RequestTrace::RefuseFn RequestTrace::noting(RefuseFn refuse) {
  return [this, refuse = std::move(refuse)](const http::Request& request, const Error& error) {
    facts_.error = error.code;
    return refuse(request, error);
  };
}

void RequestTrace::asked(const PreparedChat& chat, std::size_t choices) {
  const chat::ChatRequest& request = chat.request;
  const chat::SamplingOptions& sampling = request.sampling;
  facts_.served_model = chat.served.name;
  facts_.asked_model = request.model.empty() ? facts_.served_model : request.model;
  facts_.asked = AskedFor{.stream = request.stream,
                          .json = request.response_format.kind != chat::ResponseFormatKind::kText,
                          .choices = choices,
                          .max_tokens = chat.max_tokens,
                          .temperature = sampling.temperature,
                          .top_p = sampling.top_p,
                          .top_k = sampling.top_k,
                          .presence_penalty = sampling.presence_penalty,
                          .frequency_penalty = sampling.frequency_penalty,
                          .seed = sampling.seed};
}

}  // namespace daybreak::api
