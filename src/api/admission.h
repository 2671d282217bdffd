// SPDX-License-Identifier: Apache-2.0
#pragma once

// Admission: who sent a generating request, whether it may run now, and what it took. On a server
// without keys everybody may; without an access policy nothing is written down either.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/access_policy.h"
#include "api/context.h"
#include "api/prepare.h"
#include "base/result.h"
#include "chat/response_json.h"
#include "http/exchange.h"

namespace daybreak::api {

// Returns the key a client sent, as "Authorization: Bearer KEY" or "x-api-key: KEY", or "".
[[nodiscard]] std::string_view key_of(const http::Request& request);

// Returns who sent `request`, or whom it was made for, if his key has `scope`; on a server without
// keys the anonymous caller. Errors: kUnauthenticated, kPermission, with the reason clients know.
[[nodiscard]] Result<access::Caller> caller_of(const Context& context, const http::Request& request,
                                               access::Scope scope);

// The same for a request that generates: one of a batch needs the batch's scope.
[[nodiscard]] Result<access::Caller> generating_caller(const Context& context,
                                                       const http::Request& request);

// Returns the names under which the model and adapters are served and `caller` may use them.
[[nodiscard]] std::vector<std::string> usable_models(const Context& context,
                                                     const access::ApiKey& caller);

// Beside status 429 it tells that a rate of the caller's is the reason, and after how many
// milliseconds the same request would pass.
inline constexpr std::string_view kRateWaitNote = "rate_wait_ms";

// What a generating request may take at most.
struct Demand {
  std::string model;  // ServedModel::name
  std::size_t prompt_tokens = 0;
  std::size_t answer_tokens = 0;  // of all answers together
  std::size_t sequences = 1;      // answers, each of which takes a place in the generator
  bool stream = false;
};

// Of one request, on its strand. The context must outlive it.
class Admission {
 public:
  Admission(const Context& context, http::Exchange& exchange);

  // Reserves what the request may take. Errors: those of caller_of(), kPermission for the model,
  // kResourceLimit (a rate, a quota), kTooLarge (more than a limit allows at any time); headers()
  // then say when to retry.
  [[nodiscard]] Status begin(std::string_view model, const Demand& demand);

  // Whether begin() refused the request for the tokens it may use: a shorter answer may be let in.
  [[nodiscard]] bool refused_for_length() const;

  // In place of begin(), for an answer that generates nothing, such as one that was made for an
  // earlier try: reserves one request of the minute and nothing else. Without count() it comes
  // back. Errors: those of caller_of(), kResourceLimit, kTooLarge; see begin().
  [[nodiscard]] Status begin_request();
  // The answer is given. REQUIRES: begin_request() was ok; at most once.
  void count();

  // Errors: kPermission unless the key may use `model`; empty: the one that is served.
  // REQUIRES: begin() or begin_request() was ok.
  [[nodiscard]] Status check_model(std::string_view model) const;

  // Says in an unknown_model() which names the caller may use; other errors stay as they are.
  void add_models(Error& error) const;

  // Sets what the engine has to know of the caller: whose prompts may share what was computed,
  // which are those of one tenant with one cache_salt, and how early the request starts. REQUIRES:
  // begin() was ok.
  void identify(PreparedChat& chat) const;

  // access::owner_of() the caller; "" of one without a key. REQUIRES: begin() was ok.
  [[nodiscard]] std::string owner() const;

  // X-RateLimit-* as the request found them, or as they are if it was not let in; after a refusal
  // by a limit also Retry-After, retry-after-ms and x-should-retry.
  [[nodiscard]] std::vector<http::Header> headers() const;

  // The request did not happen: what was reserved comes back.
  void withdraw() { permit_.reset(); }

  // Writes down what the request took, and returns once that is on the disk or could not be put
  // there now, which is logged and does not fail the answer: the ledger goes on trying. Does
  // nothing the second time.
  http::Task<void> finish(const chat::TokenUsage& usage, access::Outcome outcome);

 private:
  // Keeps it, and leaves kRateWaitNote.
  [[nodiscard]] Error refused(access::Refusal refusal);

  const Context& context_;
  http::Exchange& exchange_;
  // Shared, so that it outlives the permit whatever ends first.
  const std::shared_ptr<access::AccessPolicy> policy_;
  std::optional<access::Permit> permit_;
  std::optional<access::Lease> request_;
  access::Caller caller_;  // null before begin() and begin_request()
  std::optional<access::Refusal> refusal_;
  std::optional<access::RateStatuses> rates_;  // as the request found them
};

// Puts `headers` into the response in place of those with the same names.
void replace_headers(http::Response& response, std::vector<http::Header> headers);

// What a route makes of a body, on a worker: its answer, and the model that the body names ("":
// none).
struct Counted {
  std::string model;
  http::Response response;
};

// Answers with what `work` makes, for a route that generates nothing: held to the key's models and
// requests per minute, of which an answer takes one and an error none. `refuse` writes errors.
http::Task<void> answer_counted(
    Context& context, http::Exchange& exchange,
    const std::function<http::Response(const http::Request&, const Error&)>& refuse,
    const std::function<Result<Counted>(const http::Request&, const Context&)>& work);

// Guards a handler: without a key of that scope it is not run. `refuse` writes the error. The id of
// a key that is let in becomes the note "key".
[[nodiscard]] http::Handler with_key(
    Context& context, access::Scope scope,
    std::function<http::Response(const http::Request&, const Error&)> refuse,
    http::Handler handler);

}  // namespace daybreak::api
