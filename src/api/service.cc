// SPDX-License-Identifier: Apache-2.0
#include "api/service.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "access/usage_text.h"
#include "api/admission.h"
#include "api/anthropic_messages.h"
#include "api/balance_route.h"
#include "api/batch_handlers.h"
#include "api/batch_routes.h"
#include "api/engine_metrics.h"
#include "api/error_reply.h"
#include "api/grammar_metrics.h"
#include "api/invocations.h"
#include "api/lora_routes.h"
#include "api/model_routes.h"
#include "api/openai_chat.h"
#include "api/openai_completion.h"
#include "api/openai_responses.h"
#include "api/random.h"
#include "api/response_routes.h"
#include "api/route_scope.h"
#include "api/run_chat.h"
#include "api/slot_routes.h"
#include "api/status_routes.h"
#include "api/token_routes.h"
#include "api/usage_metrics.h"
#include "api/with_replay.h"
#include "chat/request_grammar.h"

namespace daybreak::api {
namespace {

const std::vector<double>& duration_bounds() {
  static const std::vector<double> bounds = {0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1,   2.5,
                                             5,     10,    30,   60,   120, 300,  600, 1800};
  return bounds;
}

// Whose answers are worth keeping for a client that asks again.
constexpr std::array<std::string_view, 6> kReplayedRoutes = {
    "/v1/chat/completions", "/v1/completions", "/v1/responses",
    "/invocations",         "/v1/messages",    "/anthropic/v1/messages"};

Status may_batch(const Context& context, access::KeyId key) {
  http::Request request;
  request.principal = static_cast<std::int64_t>(key);
  auto caller = generating_caller(context, request);
  return caller ? ok() : Status(std::move(caller).error().in("the key of this batch"));
}

// Longest wait for a collector of telemetry, at the end.
constexpr std::chrono::seconds kTelemetryWait{5};
// Shortest wait for usage that is on its way to the ledger, at the end.
constexpr std::chrono::seconds kLedgerWait{10};

}  // namespace

Service::Service(std::unique_ptr<Context> context) : context_(std::move(context)) {}

Service::~Service() { stop_workers(); }

Result<std::unique_ptr<Service>> Service::create(
    ServiceOptions options, std::shared_ptr<const tokenizer::Tokenizer> tokenizer,
    engine::Generator& generator, Metrics& metrics, Log& log) {
  if (options.model_names.empty() || options.workers == 0) {
    return Error{Errc::kInvalidArgument, "the API needs a model name and at least one worker"};
  }
  DAYBREAK_CHECK_OK(check_slot_save_path(options.slot_save_path));
  DAYBREAK_TRY(const chat::MarkerIds markers, chat::MarkerIds::from(*tokenizer));
  options.limits.vocab_size = generator.vocab_size();
  DAYBREAK_TRY(std::shared_ptr<grammar::GrammarService> grammars,
               grammar::GrammarService::start(chat::message_markers(markers), options.grammars,
                                              options.compile_grammar));
  const std::size_t vocab_size = std::max(generator.vocab_size(), tokenizer->vocab_size());
  auto vocabulary = grammar::VocabularyIndex::make(*tokenizer, vocab_size);
  std::shared_ptr<Telemetry> telemetry;
  if (options.telemetry) {
    DAYBREAK_TRY(telemetry, Telemetry::start(*options.telemetry, log));
  }
  auto responses = std::make_shared<ResponseStore>(options.responses, random_bits);
  std::shared_ptr<ContentLog> content_log;
  if (!options.content_log.file.empty()) {
    DAYBREAK_TRY(content_log, ContentLog::open(options.content_log, metrics, log));
  }
  auto replays = std::make_shared<ReplayStore>(options.replays);
  const std::size_t workers = options.workers;
  auto access = options.access;
  const std::vector<std::string> names = options.model_names;
  std::unique_ptr<Context> context(new Context{.options = std::move(options),  // NOLINT: aggregate
                                               .names{names},
                                               .tokenizer = std::move(tokenizer),
                                               .markers = markers,
                                               .generator = generator,
                                               .metrics = metrics,
                                               .log = log,
                                               .vocabulary = std::move(vocabulary),
                                               .grammars = std::move(grammars),
                                               .access = std::move(access),
                                               .responses = std::move(responses),
                                               .content_log = std::move(content_log),
                                               .replays = std::move(replays),
                                               .request_metrics{metrics, names.front()},
                                               .telemetry = std::move(telemetry),
                                               .workers{workers}});
  metrics.add_collector(collect_process_metrics);
  metrics.add_collector([&generator, name = context->options.model_names.front(),
                         version = context->options.version](MetricsSink& sink) {
    sink.gauge("daybreak_build_info", "Always 1", 1, {{"version", version}});
    report_engine(sink, generator.stats(), name);
  });
  if (context->options.lora.adapters != nullptr) {
    metrics.add_collector(
        [&generator, adapters = context->options.lora.adapters](MetricsSink& sink) {
          report_adapters(sink, generator.stats(), adapters->most());
        });
  }
  metrics.add_collector(
      [grammars = context->grammars, vocabulary = context->vocabulary](MetricsSink& sink) {
        report_grammars(sink, grammars->stats(), vocabulary->strings().stats());
      });
  metrics.add_collector(
      [store = context->responses](MetricsSink& sink) { report_responses(sink, store->stats()); });
  metrics.add_collector(
      [store = context->replays](MetricsSink& sink) { report_replays(sink, store->stats()); });
  if (context->access && context->access->ledger() != nullptr) {
    metrics.add_collector([policy = context->access](MetricsSink& sink) {
      report_ledger(sink, policy->ledger()->stats());
    });
  }
  if (context->telemetry) {
    metrics.add_collector(
        [telemetry = context->telemetry](MetricsSink& sink) { telemetry->report(sink); });
  }
  std::unique_ptr<Service> service(new Service(std::move(context)));  // NOLINT: private constructor
  DAYBREAK_CHECK_OK(service->start_batches());
  return service;
}

Status Service::start_batches() {
  if (context_->options.batches.directory.empty()) {
    return ok();
  }
  DAYBREAK_TRY(batches_,
               BatchService::start(
                   context_->options.batches,
                   {.handlers = generation_handlers(*context_),
                    .busy = [this] { return context_->generator.stats().queued > 0; },
                    .may_run = [this](access::KeyId key) { return may_batch(*context_, key); }},
                   random_bits, context_->log));
  return ok();
}

http::Router Service::router() {
  http::Router router;
  http::Handler chat = chat_handler(*context_, openai_chat());
  http::Handler completion = completion_handler(*context_);
  router.add("POST", "/v1/chat/completions", chat);
  router.add("POST", "/v1/completions", completion);
  router.add("POST", "/invocations",
             invocations_handler(*context_, std::move(chat), std::move(completion)));
  router.add("POST", "/v1/responses", chat_handler(*context_, openai_responses()));
  router.add("POST", "/v1/responses/input_tokens", input_tokens_handler(*context_));
  add_anthropic_routes(router, *context_);
  add_response_routes(router, *context_);
  add_file_routes(router, *context_, batches_.get());
  add_batch_routes(router, *context_, batches_.get());
  add_token_routes(router, *context_);
  add_slot_routes(router, *context_);
  add_lora_routes(router, *context_);
  add_model_routes(router, *context_);
  add_balance_route(router, *context_);
  add_status_routes(router, *context_);
  router.wrap([this](std::string_view pattern, http::Handler handler) {
    const std::optional<access::Scope> scope = scope_of(pattern);
    if (!scope) {
      return handler;
    }
    if (std::ranges::find(kReplayedRoutes, pattern) != kReplayedRoutes.end()) {
      handler = with_replay(*context_, protocol_error_response, std::move(handler));
    }
    return with_key(*context_, *scope, protocol_error_response, std::move(handler));
  });
  return router;
}

std::map<std::string, http::Handler, std::less<>> Service::batch_handlers() {
  return generation_handlers(*context_);
}

void Service::attach(http::ServerOptions& options) {
  options.error_reply = http_error_response;
  options.on_body_refused = [refused = context_->metrics.counter(
                                 "daybreak_http_bodies_refused_total",
                                 "Requests refused for want of memory for bodies")]() mutable {
    refused.add();
  };
  options.on_finished = [this](const http::AccessRecord& one) { record(one); };
}

Status Service::check_model_names(const std::vector<std::string>& names) const {
  const std::string& first = context_->options.model_names.front();
  if (names.empty() || names.front() != first) {
    return Error{Errc::kInvalidArgument,
                 "the first name of the model needs a restart to change, expected '" + first +
                     "', found '" + (names.empty() ? "" : names.front()) + "'"};
  }
  return ok();
}

void Service::set_model_names(std::vector<std::string> names) {
  context_->names.set(std::move(names));
}

void Service::start_draining() {
  // First: what a batch has sent on must not be told that the server is going.
  if (batches_) {
    batches_->drain();
  }
  context_->draining = true;
}

void Service::stop_workers(std::chrono::steady_clock::time_point until) {
  if (batches_) {
    batches_->stop();  // its requests need the workers
  }
  context_->workers.join();
  context_->lora_loader.join();
  context_->grammars->stop();
  finish_ledger(std::max(until, std::chrono::steady_clock::now() + kLedgerWait));
  if (context_->telemetry) {
    context_->telemetry->stop(kTelemetryWait);
  }
}

// What is lost is told entry by entry, so that it can be billed all the same.
void Service::finish_ledger(std::chrono::steady_clock::time_point deadline) {
  if (context_->access == nullptr) {
    return;
  }
  const std::vector<access::Usage> lost = context_->access->finish_ledger(deadline);
  for (const access::Usage& usage : lost) {
    std::string entry = access::usage_json(usage, {});
    entry.pop_back();  // the end of the line
    const std::array<LogField, 1> fields = {{{"entry", std::string_view(entry)}}};
    context_->log.write(LogLevel::kError, "usage lost", fields);
  }
  if (!lost.empty()) {
    const std::array<LogField, 1> fields = {{{"entries", static_cast<std::int64_t>(lost.size())}}};
    context_->log.write(LogLevel::kError, "the usage ledger could not be written in time", fields);
  }
}

void Service::record(const http::AccessRecord& record) {
  const double seconds = std::chrono::duration<double>(record.duration).count();
  const MetricLabels labels = {{"method", std::string(record.method)},
                               {"route", std::string(record.route)},
                               {"code", std::to_string(record.status)}};
  context_->metrics.counter("daybreak_http_requests_total", "HTTP requests answered", labels).add();
  context_->metrics
      .histogram("daybreak_http_request_duration_seconds", "From first byte to last byte",
                 duration_bounds(), {{"route", std::string(record.route)}})
      .observe(seconds);
  std::vector<LogField> fields = {{"id", record.id},
                                  {"client", record.client},
                                  {"method", record.method},
                                  {"route", record.route},
                                  {"status", std::int64_t{record.status}}};
  if (!record.trace_id.empty()) {
    fields.push_back({"trace_id", record.trace_id});
  }
  for (const http::Note& note : record.notes) {
    fields.push_back({note.name, note.value});
  }
  fields.push_back({"total_ms", seconds * 1000.0});
  if (!record.error.empty()) {
    fields.push_back({"error", record.error});
  }
  context_->log.write(record.error.empty() ? LogLevel::kInfo : LogLevel::kError, "request", fields);
}

}  // namespace daybreak::api
