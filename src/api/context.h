// SPDX-License-Identifier: Apache-2.0
#pragma once

// Context: what every route of the API shares. Made once by Service, outlives all requests.

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "access/access_policy.h"
#include "api/batch_options.h"
#include "api/content_log.h"
#include "api/held_logprobs.h"
#include "api/lora_options.h"
#include "api/replay_store.h"
#include "api/request_metrics.h"
#include "api/response_store.h"
#include "api/served_names.h"
#include "api/shared_bound.h"
#include "api/telemetry.h"
#include "base/log.h"
#include "base/metrics.h"
#include "chat/chat_request.h"
#include "chat/markers.h"
#include "engine/generator.h"
#include "engine/slots.h"
#include "grammar/grammar_service.h"
#include "grammar/vocabulary_index.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::api {

struct ServiceOptions {
  // Names under which the model is served. The first is the one replies carry; the others may have
  // changed since the start: see Context::names.
  std::vector<std::string> model_names;
  std::string version;       // of the program
  std::int64_t created = 0;  // of the model entry, seconds since 1970
  chat::ChatLimits limits;   // vocab_size is filled in by the service
  // Of a completion when the request does not say; fewer if the context leaves fewer.
  std::size_t max_tokens = 131'072;
  // Tokens of the model's own context. A generator with fewer is limited by the server's memory,
  // and errors say so. 0: as the generator's.
  std::size_t model_context = 0;
  bool vision = false;      // images in a request are looked at
  std::size_t workers = 2;  // threads that parse, render and tokenize requests
  // After this long without an event a stream sends a comment, its head before if need be; 0:
  // never.
  std::chrono::milliseconds keep_alive_comments{0};
  ResponseStoreOptions responses = {};                     // kept for previous_response_id
  ReplayOptions replays = {};                              // answers for clients that ask again
  BatchOptions batches = {};                               // without a directory: none
  ContentLogOptions content_log = {};                      // without a file: none
  std::shared_ptr<access::AccessPolicy> access = nullptr;  // keys, limits and the usage ledger
  // What /slots and /reset_prefix_cache act on; outlives the service. Null: there are none.
  engine::SlotControl* slots = nullptr;
  std::string slot_save_path = {};  // directory of the files of /slots; empty: nothing is saved
  LoraOptions lora = {};
  std::optional<TelemetryOptions> telemetry = {};  // unset: nothing is exported
  grammar::GrammarServiceOptions grammars = {};
  grammar::GrammarService::CompileFn compile_grammar = nullptr;  // null: grammar::compile()
};

// Log-probabilities of prompts that one request may ask for, alternatives and all choices counted,
// and that all requests may hold while they are answered. One takes about 100 bytes.
inline constexpr std::size_t kMaxPromptLogprobs = 1'000'000;
inline constexpr std::size_t kMaxHeldPromptLogprobs = 2 * kMaxPromptLogprobs;

struct Context {
  ServiceOptions options;
  ServedNames names;  // options.model_names at first
  // Shared with whoever loaded it, because the command line may keep it for other uses.
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  chat::MarkerIds markers;
  engine::Generator& generator;
  Metrics& metrics;
  Log& log;
  std::shared_ptr<const grammar::VocabularyIndex> vocabulary;
  std::shared_ptr<grammar::GrammarService> grammars;
  std::shared_ptr<access::AccessPolicy> access;  // null: everybody may, nothing is recorded
  std::shared_ptr<ResponseStore> responses;
  std::shared_ptr<ContentLog> content_log;  // null: content is written down nowhere
  std::shared_ptr<ReplayStore> replays;
  mutable RequestMetrics request_metrics;
  mutable SharedBound prompt_logprobs{kMaxHeldPromptLogprobs, kMaxPromptLogprobs};
  SharedBound logprobs{kMaxHeldLogprobs, kMaxHeldLogprobsOfOwner};
  std::shared_ptr<Telemetry> telemetry;  // null: nothing is exported
  boost::asio::thread_pool workers;
  boost::asio::thread_pool lora_loader{1};  // reads adapters, beside which requests are prepared
  std::atomic<bool> draining{false};
};

}  // namespace daybreak::api
