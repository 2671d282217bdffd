// SPDX-License-Identifier: Apache-2.0
#include "engine/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/admission.h"

namespace daybreak::engine {

void Session::reset() {
  sequence_.reset();
  processed_.clear();
}

Status Session::continue_or_restart(const GenerateRequest& request) {
  const std::vector<TokenId>& prompt = request.prompt;
  // The state cannot be cut back, and without a new id there would be no logits to draw from: only
  // a proper prefix helps.
  const bool extends = processed_.size() < prompt.size() &&
                       std::equal(processed_.begin(), processed_.end(), prompt.begin());
  if (!extends) {
    reset();
  }
  const std::size_t positions = prompt.size() + request.max_tokens;
  if (sequence_ != nullptr) {
    return sequence_->reserve(positions);
  }
  DAYBREAK_TRY(sequence_, model_->acquire(positions));
  return ok();
}

Status Session::feed(std::span<const TokenId> ids, std::span<float> logits) {
  const StepChunk chunk{.sequence = sequence_.get(), .ids = ids, .logits = logits};
  DAYBREAK_CHECK_OK(model_->forward({&chunk, 1}));
  processed_.insert(processed_.end(), ids.begin(), ids.end());
  return ok();
}

// Returns kStop when the prompt is read, kCancelled when the caller had enough.
Result<FinishReason> Session::read_prompt(std::span<const TokenId> ids,
                                          const SessionCallbacks& callbacks) {
  while (processed_.size() < ids.size()) {
    const std::size_t done = processed_.size();
    if (callbacks.on_prompt && !callbacks.on_prompt(done, ids.size())) {
      return FinishReason::kCancelled;
    }
    const std::size_t count = std::min(kSessionStepTokens, ids.size() - done);
    const bool last = done + count == ids.size();
    DAYBREAK_CHECK_OK(
        feed(ids.subspan(done, count), last ? std::span(logits_) : std::span<float>()));
  }
  if (callbacks.on_prompt && !callbacks.on_prompt(ids.size(), ids.size())) {
    return FinishReason::kCancelled;
  }
  if (callbacks.on_prompt_logits) {
    callbacks.on_prompt_logits(logits_);
  }
  return FinishReason::kStop;
}

Result<SessionAnswer> Session::generate(const GenerateRequest& request,
                                        const SessionCallbacks& callbacks) {
  DAYBREAK_CHECK_OK(check_admissible(request, {model_->vocab_size(), model_->context_tokens()}));
  if (request.prompt_logprobs.has_value()) {
    return Error{Errc::kUnsupported, "prompt_logprobs: a session does not report them"};
  }
  const auto fail = [this](Error error) {
    reset();
    return error;
  };
  if (Status status = continue_or_restart(request); !status) {
    return fail(std::move(status).error());
  }
  logits_.resize(model_->vocab_size());
  SessionAnswer answer;
  answer.usage.prompt_tokens = request.prompt.size();
  answer.usage.cached_tokens = processed_.size();
  Result<FinishReason> read = read_prompt(request.prompt, callbacks);
  if (!read) {
    return fail(std::move(read).error());
  }
  if (*read == FinishReason::kCancelled) {
    answer.finish = FinishReason::kCancelled;
    return answer;
  }
  if (request.max_tokens == 0) {
    answer.finish = FinishReason::kLength;
    return answer;
  }
  Sampler sampler(request);
  while (true) {
    Result<GeneratedToken> token = sampler.next(logits_, scratch_);
    if (!token) {
      return fail(std::move(token).error());
    }
    ++answer.usage.completion_tokens;
    if (callbacks.on_token && !callbacks.on_token(*token)) {
      answer.finish = FinishReason::kCancelled;
      return answer;
    }
    if (sampler.is_stop(token->id)) {
      return answer;
    }
    if (answer.usage.completion_tokens == request.max_tokens) {
      answer.finish = FinishReason::kLength;
      return answer;
    }
    if (Status status = feed({&token->id, 1}, logits_); !status) {
      return fail(std::move(status).error());
    }
  }
}

std::vector<std::byte> Session::save() const {
  return sequence_ == nullptr ? std::vector<std::byte>() : sequence_->save();
}

Status Session::restore(std::span<const std::byte> state, std::vector<TokenId> processed) {
  reset();
  if (processed.empty() && state.empty()) {
    return ok();
  }
  DAYBREAK_TRY(std::unique_ptr<Sequence> sequence, model_->acquire(processed.size()));
  DAYBREAK_CHECK_OK(sequence->restore(state));
  if (sequence->position() != processed.size()) {
    return Error{Errc::kCorrupt,
                 fmt::format("saved state: expected {} positions, one per id, found {}",
                             processed.size(), sequence->position())};
  }
  sequence_ = std::move(sequence);
  processed_ = std::move(processed);
  return ok();
}

}  // namespace daybreak::engine
