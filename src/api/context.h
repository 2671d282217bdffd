// SPDX-License-Identifier: Apache-2.0
#pragma once

// Context: what every route of the API shares. Made once by Service, outlives all requests.

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/batch_options.h"
#include "api/response_store.h"
#include "base/log.h"
#include "base/metrics.h"
#include "chat/chat_request.h"
#include "chat/markers.h"
#include "engine/generator.h"
#include "grammar/grammar_service.h"
#include "grammar/vocabulary_index.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::api {

struct ServiceOptions {
  // Names under which the model is served. The first is the one replies carry.
  std::vector<std::string> model_names;
  std::string version;                              // of the program
  std::int64_t created = 0;                         // of the model entry, seconds since 1970
  chat::ChatLimits limits;                          // vocab_size is filled in by the service
  chat::Contract contract = chat::Contract::kOpen;  // of chat completions
  // Of a completion when the request does not say; fewer if the even share is smaller.
  std::size_t max_tokens = 131'072;
  // Tokens of the model's own context. A generator with fewer is limited by the server's memory,
  // and errors say so. 0: as the generator's.
  std::size_t model_context = 0;
  bool vision = false;                  // images in a request are looked at
  std::size_t workers = 2;              // threads that parse, render and tokenize requests
  ResponseStoreOptions responses = {};  // kept for previous_response_id
  BatchOptions batches = {};            // without a directory: none
  grammar::GrammarServiceOptions grammars = {};
  grammar::GrammarService::CompileFn compile_grammar = nullptr;  // null: grammar::compile()
};

struct Context {
  ServiceOptions options;
  // Shared with whoever loaded it, because the command line may keep it for other uses.
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  chat::MarkerIds markers;
  engine::Generator& generator;
  Metrics& metrics;
  Log& log;
  std::shared_ptr<const grammar::VocabularyIndex> vocabulary;
  std::shared_ptr<grammar::GrammarService> grammars;
  std::shared_ptr<ResponseStore> responses;
  boost::asio::thread_pool workers;
  std::atomic<bool> draining{false};
};

}  // namespace daybreak::api
