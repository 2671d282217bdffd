// SPDX-License-Identifier: Apache-2.0
#include "engine/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/fixed_math.h"
#include "engine/gumbel.h"
#include "engine/logprobs.h"
#include "engine/mask.h"

namespace daybreak::engine {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Status check_finite(std::span<const float> logits, std::size_t position) {
  // x * 0 is 0 for finite x and NaN otherwise: one pass without branches, located only on failure.
  float zero = 0.0F;
  for (const float logit : logits) {
    zero += logit * 0.0F;
  }
  if (zero == 0.0F) {
    return ok();
  }
  const auto bad =
      std::find_if(logits.begin(), logits.end(), [](float logit) { return !std::isfinite(logit); });
  return Error{
      Errc::kCorrupt,
      fmt::format("logits: expected finite numbers, found {} for token id {} at position {}", *bad,
                  bad - logits.begin(), position)};
}

// Ties go to the lowest id.
TokenId argmax(std::span<const float> row) {
  return static_cast<TokenId>(std::max_element(row.begin(), row.end()) - row.begin());
}

// Keeps the largest noisy weight, ties to the lowest id, whatever the order of offers.
class GumbelArgmax {
 public:
  explicit GumbelArgmax(GumbelRow noise) : noise_(noise) {}

  void offer(TokenId id, float weight) {
    const auto w = static_cast<double>(weight);
    if (w == kNever || w + kMaxGumbel < best_) {  // cannot win: most ids stop here, unhashed
      return;
    }
    const std::uint64_t hash = noise_.hash(id);
    if (w + GumbelRow::bound(hash) < best_) {  // nor with this hash: saves two logarithms
      return;
    }
    const double value = w + GumbelRow::noise(hash);
    if (value > best_ || (value == best_ && id < id_)) {
      best_ = value;
      id_ = id;
    }
  }

  // REQUIRES: an id of finite weight was offered.
  [[nodiscard]] TokenId winner() const { return id_; }

 private:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  GumbelRow noise_;
  double best_ = kNever;
  TokenId id_ = std::numeric_limits<TokenId>::max();
};

}  // namespace

Sampler::Sampler(const GenerateRequest& request)
    : params_(request.sampling),
      stop_ids_(request.stop_ids),
      min_tokens_(request.min_tokens),
      prompt_tokens_(request.prompt.size()),
      history_(request.prompt),
      bad_words_(request.sampling.bad_words),
      make_constraint_(request.constraint) {
  std::sort(stop_ids_.begin(), stop_ids_.end());
  stop_ids_.erase(std::unique(stop_ids_.begin(), stop_ids_.end()), stop_ids_.end());
}

bool Sampler::is_stop(TokenId id) const {
  return std::binary_search(stop_ids_.begin(), stop_ids_.end(), id);
}

void Sampler::prepare_mask() {
  accept_drawn();
  if (!make_constraint_ || mask_ready_ || refused_) {
    return;
  }
  if (constraint_ == nullptr) {
    constraint_ = make_constraint_();
  }
  mask_ = constraint_->mask();
  mask_ready_ = true;
}

void Sampler::accept_drawn() {
  if (to_accept_) {
    refused_ = !constraint_->accept(drawn_);
    to_accept_ = false;
  }
}

Status Sampler::accepted() {
  if (!refused_) {
    return ok();
  }
  return broken(fmt::format("token id {} is in the mask and refused", drawn_),
                prompt_tokens_ + generated_ - 1);
}

Error Sampler::broken(const std::string& why, std::size_t position) {
  if (constraint_->overrun()) {
    return {Errc::kTooLarge,
            fmt::format("grammar: expected alternatives that can be followed in bounded steps and "
                        "memory, found more at position {}",
                        position)};
  }
  constraint_broken_ = true;
  return {Errc::kCorrupt, fmt::format("constraint: {} at position {}", why, position)};
}

Status Sampler::check_mask(std::size_t vocab_size) {
  const std::size_t words = mask_words(vocab_size);
  const std::size_t position = prompt_tokens_ + generated_;
  if (mask_.size() < words) {
    return broken(fmt::format("expected a mask of {} words, found {}", words, mask_.size()),
                  position);
  }
  const auto used = mask_.first(words - 1);  // the last word may have bits beyond the vocabulary
  const bool some = std::ranges::any_of(used, [](std::uint32_t word) { return word != 0; }) ||
                    count_mask(mask_, vocab_size) > 0;
  return some ? ok() : Status(broken("expected an id that may come next, found none", position));
}

Result<GeneratedToken> Sampler::next(std::span<float> logits, SamplerScratch& scratch) {
  DAYBREAK_TRY(GeneratedToken token, choose(logits, scratch));
  accept_drawn();
  DAYBREAK_CHECK_OK(accepted());
  return token;
}

Result<GeneratedToken> Sampler::choose(std::span<float> logits, SamplerScratch& scratch) {
  prepare_mask();
  DAYBREAK_CHECK_OK(accepted());
  DAYBREAK_CHECK_OK(check_finite(logits, prompt_tokens_ + generated_));
  if (make_constraint_) {
    DAYBREAK_CHECK_OK(check_mask(logits.size()));
  }
  GeneratedToken token;
  double log_norm = 0;
  if (params_.logprobs.has_value()) {
    log_norm = log_sum_exp(logits);
    token.top = top_logprobs(logits, log_norm, *params_.logprobs);
    scratch.raw.assign(logits.begin(), logits.end());
  }
  prepare_allowed(logits.size());
  shape(logits);
  const TokenId largest = argmax(logits);
  if (!std::isfinite(logits[largest])) {
    return no_choice(logits[largest], largest);
  }
  token.id = params_.temperature == 0.0F ? largest : draw(logits, largest, scratch);
  if (params_.logprobs.has_value()) {
    token.logprob = logprob_of(scratch.raw[token.id], log_norm);
  }
  if (make_constraint_) {
    drawn_ = token.id;
    to_accept_ = true;
    mask_ready_ = false;
  }
  ++generated_;
  history_.add(token.id);
  bad_words_.add(token.id);
  return token;
}

Error Sampler::no_choice(float logit, TokenId largest) const {
  if (logit == kInfinity) {
    return {Errc::kInvalidArgument,
            fmt::format("penalties: the logit of token id {} overflows at position {}", largest,
                        prompt_tokens_ + generated_)};
  }
  std::string first;  // what the error is of
  std::string others;
  const auto name = [&](bool applies, std::string_view field) {
    if (applies && first.empty()) {
      first = field;
    } else if (applies) {
      others += (others.empty() ? " beside " : " and ") + std::string(field);
    }
  };
  name(!allowed_.empty(), "allowed_token_ids");
  name(!bad_words_.empty(), "bad_words");
  name(generated_ < min_tokens_ && !stop_ids_.empty(), "min_tokens");
  if (first.empty()) {  // nothing was forbidden but by the mask, which has an id
    return {
        Errc::kInvalidArgument,
        fmt::format("penalties: the logits of all ids that may come next overflow at position {}",
                    prompt_tokens_ + generated_)};
  }
  return {Errc::kInvalidArgument,
          fmt::format("{}: expected a token id that may come next{}{} at position {}, found none",
                      first, make_constraint_ ? " in the form of the answer" : "", others,
                      prompt_tokens_ + generated_)};
}

void Sampler::prepare_allowed(std::size_t vocab_size) {
  if (params_.allowed_token_ids.empty() || !allowed_.empty()) {
    return;
  }
  allowed_.resize(mask_words(vocab_size));
  for (const TokenId id : params_.allowed_token_ids) {
    allowed_[id / 32] |= std::uint32_t{1} << (id % 32);
  }
}

bool Sampler::only_stops_allowed(std::size_t vocab_size) const {
  const auto stops =
      std::ranges::count_if(stop_ids_, [&](TokenId id) { return in_mask(mask_, id); });
  return count_mask(mask_, vocab_size) == static_cast<std::size_t>(stops);
}

void Sampler::shape(std::span<float> logits) const {
  history_.penalise(logits, params_);
  for (const auto& [id, bias] : params_.logit_bias) {
    logits[id] += bias;
  }
  if (make_constraint_) {
    apply_mask(mask_, logits);
  }
  if (!allowed_.empty()) {
    apply_mask(allowed_, logits);
  }
  bad_words_.apply(logits);
  if (generated_ < min_tokens_ && !(make_constraint_ && only_stops_allowed(logits.size()))) {
    for (const TokenId id : stop_ids_) {
      logits[id] = -kInfinity;
    }
  }
}

TokenId Sampler::draw(std::span<float> logits, TokenId largest, SamplerScratch& scratch) const {
  // Read once: the loop overwrites it. The maximum becomes exactly 0, so no temperature overflows.
  const float max = logits[largest];
  for (float& logit : logits) {
    logit = (logit - max) / params_.temperature;
  }
  GumbelArgmax best(GumbelRow(params_.seed, params_.choice, prompt_tokens_ + generated_));
  if (has_filters(params_)) {
    for (const Candidate& candidate : filter_candidates(logits, params_, scratch.candidates)) {
      best.offer(candidate.id, candidate.weight);
    }
    return best.winner();
  }
  best.offer(largest, logits[largest]);  // first, so that hopeless ids are seen to be so
  for (std::size_t id = 0; id < logits.size(); ++id) {
    best.offer(static_cast<TokenId>(id), logits[id]);
  }
  return best.winner();
}

}  // namespace daybreak::engine
