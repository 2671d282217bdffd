// SPDX-License-Identifier: Apache-2.0
#pragma once

// Generator: turns prompts of token ids into streams of token ids, several at once. Engine does it
// with a model, ScriptedEngine (for tests of what lies above) with given answers. Text, JSON and
// sockets are the caller's affair.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "engine/sampling_params.h"
#include "engine/stats.h"
#include "engine/step_record.h"
#include "engine/token_constraint.h"

namespace daybreak::model {
class LoraAdapter;
}

namespace daybreak::engine {

// A LoRA adapter, kept alive by whoever computes with it.
using AdapterPtr = std::shared_ptr<const model::LoraAdapter>;

// Names one accepted request of one Generator; never reused, never 0.
enum class RequestId : std::uint64_t {};

inline constexpr std::size_t kMaxStopIds = 64;
inline constexpr int kMaxPriority = 9;

struct GenerateRequest {
  std::vector<TokenId> prompt;  // 1 id or more
  SamplingParams sampling;
  // 0: nothing is generated, the prompt is only read (kLength).
  std::size_t max_tokens = 0;  // prompt.size() + max_tokens <= context_tokens()
  // Ids that end the answer. The id itself is delivered as the last token. Empty: only max_tokens
  // ends it ("ignore eos").
  std::vector<TokenId> stop_ids;
  std::size_t min_tokens = 0;  // stop ids are masked until this many tokens exist; <= max_tokens
  // What the answer must look like; empty: anything. An answer whose constraint allows nothing but
  // stop ids is complete: it ends, also before min_tokens. One that max_tokens cuts (kLength) may
  // be incomplete. Its work may be done on another thread, beside that of other answers; an id that
  // it refuses although its mask has it is an error, told after that id unless it is the last one.
  ConstraintFactory constraint = {};
  // Report the log-probabilities of the prompt's ids, with so many alternatives (kMaxTopLogprobs at
  // most). Unset: none.
  std::optional<std::uint32_t> prompt_logprobs = {};
  // Whose prompts may share what was computed: one request goes on from another's state only if
  // both have the same text here. No other effect.
  std::string isolation = {};
  // Whether what is computed for it stays in memory: nothing of it is stored, and nobody is told
  // what the prefix cache has of it. Requests with the same isolation have the same value here.
  bool zero_retention = false;
  // What the answer is computed with beside the model's weights; null: nothing. States of one
  // adapter are shared with requests of the same one only (LoraAdapter::digest()).
  AdapterPtr adapter = nullptr;
  // The queue is in the order of this, higher first; see waiting_queue.h. 0 to kMaxPriority.
  int priority = 0;
  // Whether it may lose its place in a full queue to a request that would start before it: then it
  // ends with kError, kResourceLimit, and has not started.
  bool yields_place = false;
  // Whether it may take such a place. Of a request that is only of use beside others, which may
  // find none, it must not.
  bool may_displace = false;
};

struct TokenLogprob {
  TokenId id = 0;
  float logprob = 0.0F;
  friend bool operator==(const TokenLogprob&, const TokenLogprob&) = default;
};

// One token of an answer. Log-probabilities are natural logarithms under the model's own
// distribution: the softmax of the raw logits, before bias, penalties, temperature and filters.
struct GeneratedToken {
  TokenId id = 0;
  float logprob = 0.0F;           // 0 unless SamplingParams::logprobs is set
  std::vector<TokenLogprob> top;  // SamplingParams::logprobs entries, best first, ties by id
};

// One id of the prompt as the model rates it after all ids before it; log-probabilities as above.
struct PromptLogprob {
  TokenId id = 0;
  float logprob = 0.0F;
  std::uint32_t rank = 0;  // 1: the most probable id, ties by id
  std::vector<TokenLogprob>
      top;  // GenerateRequest::prompt_logprobs entries, best first, ties by id
};

enum class FinishReason : std::uint8_t {
  kStop,       // a stop id was generated, or complete()
  kLength,     // max_tokens reached
  kCancelled,  // cancel(), or stop() at its deadline
  kError,      // Update::error says why
};

// Returns "stop", "length", "cancelled" or "error".
[[nodiscard]] std::string_view to_string(FinishReason reason);
// Returns the count of requests that ended for this reason.
[[nodiscard]] std::uint64_t& ended(Stats& stats, FinishReason reason);

struct Usage {
  std::size_t prompt_tokens = 0;
  std::size_t completion_tokens = 0;  // includes the stop id
  std::size_t cached_tokens = 0;      // of the prompt, not recomputed; <= prompt_tokens
};

// What happened to a request since its last Update. Every pointer and span is valid only during the
// callback.
struct Update {
  std::span<const GeneratedToken> tokens;  // new ones, in order; may be empty
  // The next ids of the prompt, if asked for: all but the first one, which nothing precedes, in
  // order and before the first token.
  std::span<const PromptLogprob> prompt = {};
  std::optional<FinishReason> finish;  // set on the last Update, and only there
  const Error* error = nullptr;        // not null iff finish == kError
  Usage usage;                         // up to and including `tokens`
  RequestTimes times = {};
};

// Called on the generator's own thread, never concurrently for one generator. Must not block, and
// must not call drain() or stop(); cancel() and submit() are allowed.
using UpdateFn = std::function<void(const Update&)>;

class Generator {
 public:
  Generator() = default;
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  virtual ~Generator() = default;

  // Queues a request. After success `on_update` is called any number of times, the last time with
  // `finish` set; after an error never. The first call may come before submit() returns.
  // Errors: kInvalidArgument (empty prompt, id outside the vocabulary, a parameter out of range),
  // kTooLarge (prompt or prompt + max_tokens can never fit), kResourceLimit (queue full, and nobody
  // in it yields to this one; or no memory for it, then nobody has yielded), kUnavailable (draining
  // or stopped). Thread-safe.
  [[nodiscard]] virtual Result<RequestId> submit(GenerateRequest request, UpdateFn on_update) = 0;

  // Ends a request, queued or running, within one model step: its last Update carries kCancelled.
  // Ignored for a request that is finished or was never known. Thread-safe, returns at once.
  virtual void cancel(RequestId id) = 0;
  // As cancel(), for an answer that is known to be complete, as by a stop string: it ends with, and
  // counts as, kStop.
  virtual void complete(RequestId id) = 0;

  [[nodiscard]] virtual Stats stats() const = 0;  // Thread-safe.
  // Returns its last steps, oldest first, as many as it was told to keep. Thread-safe.
  [[nodiscard]] virtual std::vector<StepRecord> steps() const { return {}; }

  // Ids are below this. Constant.
  [[nodiscard]] virtual std::size_t vocab_size() const = 0;
  // Longest prompt + answer of one request, in tokens. Constant.
  [[nodiscard]] virtual std::size_t context_tokens() const = 0;

  // Requests that it can take in at the same time when it has nothing else to do, whatever they
  // are; of more, some get kResourceLimit at any time. Constant.
  [[nodiscard]] virtual std::size_t queue_capacity() const = 0;

  // Refuses new requests from now on; accepted ones go on. Returns at once. Thread-safe.
  virtual void drain() = 0;

  // Drains, waits up to `deadline` for accepted requests, then cancels the rest and joins the
  // thread. Returns how many were cancelled. Idempotent. Destructors do stop(0).
  virtual std::size_t stop(std::chrono::milliseconds deadline) = 0;
};

}  // namespace daybreak::engine
