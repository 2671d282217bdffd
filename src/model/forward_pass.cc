// SPDX-License-Identifier: Apache-2.0
#include "model/forward_pass.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <variant>

#include "kernels/float_environment.h"
#include "kernels/matmul.h"
#include "model/layer_linear.h"

namespace daybreak::model {
namespace {

std::size_t row_count(const Chunk& chunk) {
  switch (chunk.rows) {
    case LogitRows::kNone:
      return 0;
    case LogitRows::kLast:
      return 1;
    case LogitRows::kAll:
      return chunk.ids.size();
  }
  return 0;
}

bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7f80'0000u;
  bool finite = true;
  for (const float value : values) {
    finite &= (std::bit_cast<std::uint32_t>(value) & kExponent) != kExponent;
  }
  return finite;
}

Error invalid(std::size_t chunk, const std::string& what) {
  return {Errc::kInvalidArgument, "chunk " + std::to_string(chunk) + ": " + what};
}

// The fingerprint binds saved bytes; a state in memory only has to have the right shape.
bool same_shape(StateLayout a, const StateLayout& b) {
  a.fingerprint = b.fingerprint;
  return a == b;
}

}  // namespace

Status ForwardPass::run(std::span<Chunk> chunks) {
  DAYBREAK_CHECK_OK(check(chunks));
  DAYBREAK_CHECK_OK(reserve(chunks));
  kernels::set_float_environment();
  Status status = ok();
  for (Chunk& chunk : chunks) {
    chunk.failed = false;
  }
  for (std::size_t chunk = 0, done = 0; chunk < chunks.size();) {
    const std::size_t tokens = cut_step(chunks, chunk, done);
    embed(chunks);
    run_layers({.segments = ws_.segments_, .tokens = tokens}, 0, config_.layers);
    collect_targets(chunks);
    ++ws_.counters_.steps;
    ws_.counters_.tokens += tokens;
    if (Status step = write_logits(chunks); !step && status) {
      status = std::move(step);
    }
    for (const Segment& segment : ws_.segments_) {
      segment.state->advance(segment.tokens - segment.drafts, segment.drafts);
    }
  }
  return status;
}

Status ForwardPass::check(std::span<const Chunk> chunks) const {
  if (chunks.empty()) {
    return Error{Errc::kInvalidArgument, "forward: expected at least one chunk, found none"};
  }
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    DAYBREAK_CHECK_OK(check_chunk(chunks, i));
  }
  return ok();
}

Status ForwardPass::check_chunk(std::span<const Chunk> chunks, std::size_t index) const {
  const Chunk& chunk = chunks[index];
  if (chunk.state == nullptr) {
    return invalid(index, "has no sequence state");
  }
  if (!same_shape(chunk.state->layout(), layout_)) {
    return invalid(index, "its sequence state was made for another model");
  }
  for (std::size_t i = 0; i < index; ++i) {
    if (chunks[i].state == chunk.state) {
      return invalid(index, "has the same sequence state as chunk " + std::to_string(i));
    }
  }
  if (chunk.ids.empty()) {
    return invalid(index, "has no token ids");
  }
  for (std::size_t i = 0; i < chunk.ids.size(); ++i) {
    if (chunk.ids[i] >= config_.vocab_size) {
      return invalid(index, "token id " + std::to_string(chunk.ids[i]) + " at " +
                                std::to_string(i) + " is outside the vocabulary of " +
                                std::to_string(config_.vocab_size));
    }
  }
  DAYBREAK_CHECK_OK(check_drafts(chunk, index));
  const std::size_t expected = row_count(chunk) * config_.vocab_size;
  if (chunk.logits.size() != expected) {
    return invalid(index, "expected room for " + std::to_string(expected) + " logits, found " +
                              std::to_string(chunk.logits.size()));
  }
  return ok();
}

Status ForwardPass::check_drafts(const Chunk& chunk, std::size_t index) const {
  if (chunk.state->open_drafts() > 0) {
    return invalid(index, std::to_string(chunk.state->open_drafts()) +
                              " drafted ids of its sequence are neither accepted nor refused");
  }
  const std::size_t most = std::min(chunk.state->max_drafts(), chunk.ids.size() - 1);
  if (chunk.draft_ids > most) {
    return invalid(index, "expected at most " + std::to_string(most) + " drafted ids, found " +
                              std::to_string(chunk.draft_ids));
  }
  if (chunk.draft_ids > 0 && chunk.ids.size() > ws_.tokens_) {
    return invalid(index, "expected at most " + std::to_string(ws_.tokens_) +
                              " ids with drafted ones among them, found " +
                              std::to_string(chunk.ids.size()));
  }
  return ok();
}

Status ForwardPass::reserve(std::span<const Chunk> chunks) {
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    SequenceState& state = *chunks[i].state;
    if (Status status = state.reserve(state.position() + chunks[i].ids.size()); !status) {
      return std::move(status).error().in("chunk " + std::to_string(i));
    }
  }
  return ok();
}

std::size_t ForwardPass::cut_step(std::span<const Chunk> chunks, std::size_t& chunk,
                                  std::size_t& done) {
  ws_.segments_.clear();
  ws_.sources_.clear();
  std::size_t tokens = 0;
  while (chunk < chunks.size() && tokens < ws_.tokens_) {
    const Chunk& from = chunks[chunk];
    if (from.draft_ids > 0 && tokens + from.ids.size() > ws_.tokens_) {
      break;  // its state must not move between its ids
    }
    const std::size_t count = std::min(from.ids.size() - done, ws_.tokens_ - tokens);
    ws_.segments_.push_back({.state = from.state,
                             .first_token = tokens,
                             .tokens = count,
                             .position = from.state->position(),
                             .drafts = from.draft_ids,
                             .adapter = from.adapter});
    ws_.sources_.push_back({.chunk = chunk, .first_id = done});
    tokens += count;
    done += count;
    if (done == from.ids.size()) {
      ++chunk;
      done = 0;
    }
  }
  ws_.residual_.begin(tokens);
  ws_.lora_.begin(ws_.segments_);
  return tokens;
}

void ForwardPass::embed(std::span<const Chunk> chunks) {
  for (std::size_t i = 0; i < ws_.segments_.size(); ++i) {
    const Segment& segment = ws_.segments_[i];
    const SegmentSource& source = ws_.sources_[i];
    for (std::size_t t = 0; t < segment.tokens; ++t) {
      kernels::dequantise_row(
          weights_.embedding, chunks[source.chunk].ids[source.first_id + t],
          ws_.residual_.stream() + (segment.first_token + t) * config_.hidden_size);
    }
  }
}

void ForwardPass::run_layers(const Step& step, std::size_t begin, std::size_t end) {
  std::size_t kda_index = 0;
  std::size_t mla_index = 0;
  for (std::size_t i = 0; i < end; ++i) {
    if (i >= begin) {
      run_layer(step, i, kda_index, mla_index);
    }
    ++(config_.is_kda(i) ? kda_index : mla_index);
  }
}

void ForwardPass::run_layer(const Step& step, std::size_t index, std::size_t kda_index,
                            std::size_t mla_index) {
  const LayerWeights& layer = weights_.layers[index];
  float* x = ws_.sublayer_in_.data();
  float* y = ws_.sublayer_out_.data();
  const LoraLayer lora{&ws_.lora_, index};
  ws_.residual_.enter_attention(index, layer, x, team_);
  if (const auto* kda = std::get_if<KdaWeights>(&layer.attention)) {
    run_kda({.weights = *kda,
             .config = config_.kda,
             .hidden = config_.hidden_size,
             .norm_eps = config_.rms_norm_eps,
             .index = kda_index,
             .lora = lora},
            step, x, y, ws_.kda_, team_);
  } else {
    run_mla({.weights = std::get<MlaWeights>(layer.attention),
             .config = config_.mla,
             .hidden = config_.hidden_size,
             .low_rank_norm_eps = low_rank_norm_eps_,
             .index = mla_index,
             .lora = lora},
            step, x, y, ws_.mla_, team_);
  }
  ws_.residual_.enter_feed_forward(index, layer, y, x, team_);
  const GatedActivation activation = GatedActivation::from(config_);
  if (const auto* moe = std::get_if<MoeWeights>(&layer.feed_forward)) {
    run_moe({.weights = *moe,
             .config = *config_.moe,
             .activation = activation,
             .hidden = config_.hidden_size,
             .norm_eps = config_.rms_norm_eps,
             .lora = lora},
            step.tokens, x, y, ws_.moe_, team_);
  } else {
    run_mlp(std::get<MlpWeights>(layer.feed_forward), activation, step.tokens, x, y, ws_.mlp_,
            team_, lora);
  }
  ws_.residual_.leave_layer(y, team_);
}

void ForwardPass::collect_targets(std::span<const Chunk> chunks) {
  ws_.targets_.clear();
  for (std::size_t i = 0; i < ws_.segments_.size(); ++i) {
    const Segment& segment = ws_.segments_[i];
    const SegmentSource& source = ws_.sources_[i];
    const Chunk& chunk = chunks[source.chunk];
    for (std::size_t t = 0; t < segment.tokens; ++t) {
      const std::size_t id = source.first_id + t;
      const bool last = id + 1 == chunk.ids.size();
      if (chunk.rows == LogitRows::kAll || (chunk.rows == LogitRows::kLast && last)) {
        ws_.targets_.push_back({.token = segment.first_token + t,
                                .chunk = source.chunk,
                                .row = chunk.rows == LogitRows::kAll ? id : 0,
                                .position = segment.position + t});
      }
    }
  }
}

Status ForwardPass::write_logits(std::span<Chunk> chunks) {
  const std::size_t rows = ws_.targets_.size();
  if (rows == 0) {
    return ok();
  }
  ++ws_.counters_.logit_steps;
  ws_.counters_.logit_rows += rows;
  const std::size_t hidden = config_.hidden_size;
  const std::size_t vocab = config_.vocab_size;
  team_.for_ranges(rows, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      ws_.residual_.finish(ws_.targets_[i].token, weights_, ws_.sublayer_in_.data() + i * hidden);
    }
  });
  // One product for the rows of all chunks reads the head once; the rows then go where they belong.
  const std::array jobs = {LinearJob{weights_.lm_head, ws_.sublayer_in_.data(), hidden,
                                     ws_.logits_.data(), vocab, rows}};
  run_linears(team_, jobs);
  Status status = ok();
  for (std::size_t i = 0; i < rows; ++i) {
    const LogitTarget& target = ws_.targets_[i];
    Chunk& chunk = chunks[target.chunk];
    const std::span logits = ws_.logits_.span().subspan(i * vocab, vocab);
    std::ranges::copy(logits, chunk.logits.subspan(target.row * vocab, vocab).begin());
    if (!all_finite(logits)) {
      chunk.failed = true;
      if (status) {
        status = Error{Errc::kCorrupt, "chunk " + std::to_string(target.chunk) +
                                           ": the logits at position " +
                                           std::to_string(target.position) + " are not finite"};
      }
    }
  }
  return status;
}

}  // namespace daybreak::model
