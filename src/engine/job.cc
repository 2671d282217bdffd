// SPDX-License-Identifier: Apache-2.0
#include "engine/job.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cache/scope.h"
#include "engine/prompt_logprobs.h"
#include "model/lora_adapter.h"

namespace daybreak::engine {
namespace {

// Ids of a prompt that one step adds to what guesses are made from: a long one delays nobody.
constexpr std::size_t kCatchUpIds = 16'384;
// For answers of so many ids what guesses are made from has room at once.
constexpr std::size_t kExpectedAnswerIds = 4'096;

std::string scope_of(const GenerateRequest& request) {
  const model::LoraAdapter* const adapter = request.adapter.get();
  return cache::make_scope({.isolation = request.isolation,
                            .lora_name = adapter == nullptr ? "" : adapter->name(),
                            .lora_digest = adapter == nullptr ? "" : adapter->digest()});
}

}  // namespace

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
      scope_(scope_of(request_)),
      sampler_(request_) {
  usage_.prompt_tokens = request_.prompt.size();
}

std::size_t Job::positions_ahead(std::size_t ahead) const {
  const std::size_t known = std::max(position(), text().size());
  return request_.prompt_logprobs ? positions() : known + std::min(ahead, positions() - known);
}

std::span<const TokenId> Job::pending() const {
  if (reading()) {
    return text().subspan(read_);
  }
  return next_;
}

void Job::guess(const SpeculationOptions& options, std::size_t most) {
  guess_nothing();
  if (!guesses_) {
    guesses_.emplace(options,
                     request_.prompt.size() + std::min(request_.max_tokens, kExpectedAnswerIds));
  }
  // What it has not seen yet of the text, of the answer behind it, and the token drawn last.
  const std::size_t read = text().size();
  if (const std::size_t known = guesses_->size(); known < read) {
    const std::span<const TokenId> unknown = text().subspan(known);
    guesses_->append(unknown.first(std::min(unknown.size(), kCatchUpIds)));
    if (guesses_->size() < read) {
      return;
    }
  }
  guesses_->append(std::span(fed_).subspan(guesses_->size() - read));
  guesses_->append(next_);
  guesses_->make(most, next_);
}

void Job::consume(std::size_t count) {
  const bool all = count == pending().size();
  row_ = 0;
  right_ = 0;
  if (reading()) {
    read_ += count;
    rows_ = all ? 1 : 0;
    return;
  }
  fed_.push_back(next_.front());
  next_.resize(count);
  rows_ = count;
}

GuessOutcome Job::settle() {
  const GuessOutcome outcome{.guessed = rows_ == 0 ? 0 : next_.size() - 1, .accepted = right_};
  rows_ = 0;
  row_ = 0;
  if (outcome.guessed > 0) {
    sequence_->accept(right_);
    fed_.insert(fed_.end(), next_.begin() + 1,
                next_.begin() + 1 + static_cast<std::ptrdiff_t>(right_));
    guesses_->learn(outcome);
  }
  next_.assign(1, last_);
  return outcome;
}

ProcessedSequence Job::leave() {
  std::vector<TokenId> ids;
  ids.reserve(position());
  const std::span<const TokenId> read = text().first(read_);
  ids.assign(read.begin(), read.end());
  ids.insert(ids.end(), fed_.begin(), fed_.end());
  return {std::move(sequence_), std::move(ids), scope_, request_.zero_retention};
}

ProcessedSequence Job::preempt() {
  std::vector<TokenId> again(text().begin(), text().end());
  if (!reading()) {
    again.insert(again.end(), fed_.begin(), fed_.end());
    again.push_back(last_);
  }
  ProcessedSequence left = leave();
  again_ = std::move(again);
  fed_.clear();
  read_ = 0;
  return left;
}

std::vector<TokenId> Job::processed(std::size_t first, std::size_t count) const {
  std::vector<TokenId> ids;
  for (std::size_t at = first; at < first + count; ++at) {
    ids.push_back(at < read_ ? text()[at] : fed_[at - read_]);
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
  std::vector<PromptLogprob> rated;
  for (std::size_t at = 0; at < rows.size(); at += vocab_size_) {
    const std::span<const float> row = rows.subspan(at, vocab_size_);
    const std::size_t position = read_ + at / vocab_size_ + 1;
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
  DAYBREAK_TRY(GeneratedToken token,
               sampler_.choose(logits_.subspan(row_ * vocab_size_, vocab_size_), scratch));
  last_ = token.id;
  ++row_;
  std::optional<FinishReason> finish;
  if (sampler_.is_stop(token.id)) {
    finish = FinishReason::kStop;
  } else if (sampler_.generated() == request_.max_tokens) {
    finish = FinishReason::kLength;
  }
  if (!finish && row_ < rows_ && next_[row_] == last_) {
    ++right_;
  } else {
    rows_ = row_;  // those that are left follow a wrong guess
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
