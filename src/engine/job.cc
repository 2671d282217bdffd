// SPDX-License-Identifier: Apache-2.0
#include "engine/job.h"

#include <utility>

namespace daybreak::engine {

Job::Job(RequestId id, GenerateRequest request, UpdateFn on_update, Clock::TimePoint submitted)
    : id_(id),
      request_(std::move(request)),
      on_update_(std::move(on_update)),
      submitted_(submitted),
      sampler_(request_) {
  usage_.prompt_tokens = request_.prompt.size();
}

std::span<const TokenId> Job::pending() const {
  if (reading()) {
    return std::span(request_.prompt).subspan(read_);
  }
  return {&last_, 1};
}

void Job::consume(std::size_t count) {
  if (reading()) {
    read_ += count;
  }
}

Result<Job::Drawn> Job::draw(std::span<float> logits, SamplerScratch& scratch) {
  DAYBREAK_TRY(GeneratedToken token, sampler_.next(logits, scratch));
  last_ = token.id;
  ++usage_.completion_tokens;
  std::optional<FinishReason> finish;
  if (sampler_.is_stop(token.id)) {
    finish = FinishReason::kStop;
  } else if (usage_.completion_tokens == request_.max_tokens) {
    finish = FinishReason::kLength;
  }
  return Drawn{std::move(token), finish};
}

void Job::report(std::span<const GeneratedToken> tokens, std::optional<FinishReason> finish,
                 const Error* error) const {
  on_update_({.tokens = tokens, .finish = finish, .error = error, .usage = usage_});
}

}  // namespace daybreak::engine
