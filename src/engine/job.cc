// SPDX-License-Identifier: Apache-2.0
#include "engine/job.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/prompt_logprobs.h"

namespace daybreak::engine {

Job::Job(RequestId id, GenerateRequest request, UpdateFn on_update, Clock::TimePoint submitted)
    : times{.submitted = submitted,
            .started = {},
            .displaced = {},
            .first_token = {},
            .finished = {}},
      mask_task([this] {
        if (last_kept()) {
          sampler_.accept_drawn();
        } else {
          sampler_.prepare_mask();
        }
      }),
      id_(id),
      request_(std::move(request)),
      on_update_(std::move(on_update)),
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
  row_kept_ = count == pending().size();
  if (reading()) {
    read_ += count;
  } else {
    fed_.push_back(last_);
  }
}

ProcessedSequence Job::leave() {
  ProcessedSequence left{std::move(sequence_), {}, request_.isolation};
  left.ids.reserve(read_ + fed_.size());
  left.ids.assign(request_.prompt.begin(),
                  request_.prompt.begin() + static_cast<std::ptrdiff_t>(read_));
  left.ids.insert(left.ids.end(), fed_.begin(), fed_.end());
  return left;
}

std::vector<TokenId> Job::processed(std::size_t first, std::size_t count) const {
  std::vector<TokenId> ids;
  for (std::size_t at = first; at < first + count; ++at) {
    ids.push_back(at < read_ ? request_.prompt[at] : fed_[at - read_]);
  }
  return ids;
}

SlotInfo Job::slot_info() const {
  return {.slot = slot_,
          .state = SlotState::kBusy,
          .tokens = sequence_->position(),
          .request = static_cast<std::uint64_t>(id_),
          .prompt_tokens = request_.prompt.size(),
          .cached_tokens = usage_.cached_tokens,
          .generated_tokens = usage_.completion_tokens,
          .max_tokens = request_.max_tokens};
}

Status Job::rate(std::span<const float> rows) {
  const std::size_t vocab_size = logits_.size();
  std::vector<PromptLogprob> rated;
  for (std::size_t at = 0; at < rows.size(); at += vocab_size) {
    const std::span<const float> row = rows.subspan(at, vocab_size);
    const std::size_t position = read_ + at / vocab_size + 1;
    if (position == request_.prompt.size()) {
      std::ranges::copy(row, logits_.begin());
      break;
    }
    DAYBREAK_TRY(PromptLogprob one, rate_prompt_id(row, request_.prompt[position],
                                                   *request_.prompt_logprobs, position));
    rated.push_back(std::move(one));
  }
  on_update_({.tokens = {}, .prompt = rated, .finish = {}, .usage = usage_, .times = times});
  return ok();
}

Result<Job::Drawn> Job::draw(SamplerScratch& scratch) {
  row_kept_ = false;
  DAYBREAK_TRY(GeneratedToken token, sampler_.choose(logits_, scratch));
  last_ = token.id;
  std::optional<FinishReason> finish;
  if (sampler_.is_stop(token.id)) {
    finish = FinishReason::kStop;
  } else if (sampler_.generated() == request_.max_tokens) {
    finish = FinishReason::kLength;
  }
  return Drawn{std::move(token), finish};
}

Result<Job::Drawn> Job::take_last() {
  DAYBREAK_CHECK_OK(sampler_.accepted());
  Drawn drawn = *std::move(last_drawn_);
  last_drawn_.reset();
  return drawn;
}

void Job::report(std::span<const GeneratedToken> tokens, std::optional<FinishReason> finish,
                 const Error* error) {
  usage_.completion_tokens += tokens.size();
  on_update_({.tokens = tokens,
              .prompt = {},
              .finish = finish,
              .error = error,
              .usage = usage_,
              .times = times});
}

}  // namespace daybreak::engine
