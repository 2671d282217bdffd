// SPDX-License-Identifier: Apache-2.0
#include "model/mla_layer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/matmul.h"
#include "kernels/mla.h"
#include "kernels/norm.h"
#include "model/layer_linear.h"

namespace daybreak::model {
namespace {

static_assert(kPagePositions == kernels::kMlaTile, "a tile must not cross a page");

// Everything that reads the layer input: the query's first product, the latent, the gate.
void project_inputs(const MlaLayer& layer, std::size_t tokens, const float* x, MlaScratch& scratch,
                    ThreadTeam& team) {
  const MlaWeights& w = layer.weights;
  std::array<LinearJob, 3> jobs;
  std::size_t count = 0;
  const auto add = [&](const MatrixView& matrix, LoraModule module, AlignedBuffer<float>& y) {
    jobs[count++] = {matrix, x, layer.hidden, y.data(), matrix.rows, tokens, module};
  };
  if (w.q_low_rank) {
    add(w.q_low_rank->a, LoraModule::kQA, scratch.q_low);
  } else {
    add(w.q, LoraModule::kQ, scratch.q);
  }
  add(w.kv_a, LoraModule::kKvA, scratch.latent);
  if (w.gate) {
    add(*w.gate, LoraModule::kG, scratch.gate);
  }
  run_linears(team, std::span(jobs).first(count), layer.lora);
}

// Normalises the latents and writes them to the cache, from which attention reads them back, those
// of this step included. The rope part is cached as it is.
void store_latents(const MlaLayer& layer, const Step& step, MlaScratch& scratch) {
  const std::size_t rank = layer.config.kv_lora_rank;
  const std::size_t width = layer.config.cache_width();
  for (const Segment& segment : step.segments) {
    for (std::size_t t = 0; t < segment.tokens; ++t) {
      const float* latent = scratch.latent.data() + (segment.first_token + t) * width;
      const std::size_t position = segment.position + t;
      float* cached = segment.state->latent_tile(layer.index, position / kPagePositions) +
                      position % kPagePositions * width;
      kernels::rms_norm(latent, layer.weights.kv_norm.data(), layer.low_rank_norm_eps, rank,
                        cached);
      std::copy(latent + rank, latent + width, cached + rank);
    }
  }
}

void finish_query(const MlaLayer& layer, std::size_t tokens, MlaScratch& scratch,
                  ThreadTeam& team) {
  const MlaWeights& w = layer.weights;
  const std::size_t rank = w.q_low_rank->a.rows;
  for (std::size_t t = 0; t < tokens; ++t) {
    float* row = scratch.q_low.data() + t * rank;
    kernels::rms_norm(row, w.q_low_rank->norm.data(), layer.low_rank_norm_eps, rank, row);
  }
  const std::array jobs = {LinearJob{w.q, scratch.q_low.data(), rank, scratch.q.data(), w.q.rows,
                                     tokens, LoraModule::kQB}};
  run_linears(team, jobs, layer.lora);
}

// The heads [begin, end) of all tokens: independent of every other head from here to the gate.
class HeadRange {
 public:
  HeadRange(const MlaLayer& layer, const Step& step, MlaScratch& scratch, std::size_t begin,
            std::size_t end)
      : layer_(layer),
        step_(step),
        scratch_(scratch),
        begin_(begin),
        end_(end),
        heads_(layer.config.heads),
        rank_(layer.config.kv_lora_rank),
        width_(layer.config.cache_width()),
        nope_(layer.config.qk_nope_head_dim),
        v_(layer.config.v_head_dim),
        scale_(1.0f / std::sqrt(static_cast<float>(layer.config.qk_head_dim()))) {}

  void run() {
    for (std::size_t head = begin_; head < end_; ++head) {
      absorb(head);
    }
    for (const Segment& segment : step_.segments) {
      attend(segment);
    }
    for (std::size_t head = begin_; head < end_; ++head) {
      carry_out(head);
    }
  }

 private:
  // absorbed[h] = [W_UK[h]^T q_nope, q_rope] for all tokens.
  void absorb(std::size_t head) {
    const std::size_t q_dim = layer_.config.qk_head_dim();
    const float* q = scratch_.q.data() + head * q_dim;
    float* absorbed = scratch_.absorbed.data() + head * width_;
    const MatrixView k_up =
        row_slice(layer_.weights.k_up_transposed, head * rank_, (head + 1) * rank_);
    kernels::matmul(k_up, 0, rank_, q, heads_ * q_dim, step_.tokens, absorbed, heads_ * width_);
    add_absorbed(head, q, absorbed);
    for (std::size_t t = 0; t < step_.tokens; ++t) {
      const float* rope = q + t * heads_ * q_dim + nope_;
      std::copy_n(rope, width_ - rank_, absorbed + t * heads_ * width_ + rank_);
    }
  }

  // What adapters of kv_b_proj add there: W_UK + scale B A, transposed, is W_UK^T + scale A^T B^T.
  void add_absorbed(std::size_t head, const float* q, float* absorbed) const {
    for (const Segment& segment : step_.segments) {
      if (const LoraPair* pair = kv_b_pair(segment)) {
        const LoraKeyUp& up = *segment.adapter->key_up(layer_.lora.layer);
        const std::size_t q_stride = heads_ * layer_.config.qk_head_dim();
        const std::size_t y_stride = heads_ * width_;
        add_low_rank(row_slice(up.b_transposed, head * pair->a.rows, (head + 1) * pair->a.rows),
                     up.a_transposed, pair->scale, q + segment.first_token * q_stride, q_stride,
                     segment.tokens, absorbed + segment.first_token * y_stride, y_stride);
      }
    }
  }

  // And to out[h] = (W_UV[h] + scale B A) context[h]: `first` is the head's first row of these.
  void add_carried(std::size_t head, std::size_t first, float* out) const {
    for (const Segment& segment : step_.segments) {
      if (const LoraPair* pair = kv_b_pair(segment)) {
        add_low_rank(pair->a, row_slice(pair->b, first, first + v_), pair->scale,
                     scratch_.context.data() + (segment.first_token * heads_ + head) * rank_,
                     heads_ * rank_, segment.tokens, out + segment.first_token * heads_ * v_,
                     heads_ * v_);
      }
    }
  }

  const LoraPair* kv_b_pair(const Segment& segment) const {
    return segment.adapter == nullptr ? nullptr
                                      : segment.adapter->pair(layer_.lora.layer, LoraModule::kKvB);
  }

  // Queries that go over the positions together, and where their results go.
  struct Batch {
    kernels::MlaTileQueries queries;
    std::size_t seen_first = 0;  // positions of the first query; each later one sees `seen_step`
    std::size_t seen_step = 0;   // more
    float* context = nullptr;
    std::size_t context_stride = 0;

    [[nodiscard]] std::size_t seen(std::size_t i) const { return seen_first + i * seen_step; }
    [[nodiscard]] std::size_t seen_most() const { return seen(queries.heads - 1); }
  };

  // Attention over all positions up to a token's own. As many tokens as fill a batch share it for
  // one head after the other, those that are left for several heads: a query's arithmetic is the
  // same in any batch.
  void attend(const Segment& segment) {
    std::size_t t = 0;
    for (; t + kQueriesPerTile <= segment.tokens; t += kQueriesPerTile) {
      for (std::size_t head = begin_; head < end_; ++head) {
        attend_batch(segment, batch(segment, t, head, kQueriesPerTile, heads_, 1));
      }
    }
    for (; t < segment.tokens; ++t) {
      for (std::size_t head = begin_; head < end_; head += kQueriesPerTile) {
        const std::size_t count = std::min(kQueriesPerTile, end_ - head);
        attend_batch(segment, batch(segment, t, head, count, 1, 0));
      }
    }
  }

  // `step`: rows of [tokens, heads] from one query to the next.
  [[nodiscard]] Batch batch(const Segment& segment, std::size_t t, std::size_t head,
                            std::size_t count, std::size_t step, std::size_t seen_step) const {
    const std::size_t row = (segment.first_token + t) * heads_ + head;
    return {.queries = {.q = scratch_.absorbed.data() + row * width_,
                        .stride = step * width_,
                        .heads = count,
                        .scale = scale_},
            .seen_first = segment.position + t + 1,
            .seen_step = seen_step,
            .context = scratch_.context.data() + row * rank_,
            .context_stride = step * rank_};
  }

  void attend_batch(const Segment& segment, const Batch& batch) {
    constexpr std::size_t kTilesPerSuperTile = kernels::kMlaSuperTile / kernels::kMlaTile;
    const std::size_t count = batch.queries.heads;
    std::array<kernels::MlaAccumulator, kQueriesPerTile> tile{};
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = begin_ * kQueriesPerTile + i;
      tile[i] = {&scratch_.tile_max[place], &scratch_.tile_sum[place],
                 scratch_.tile_value.data() + place * rank_};
      kernels::mla_reset(full(i), rank_);
    }
    const std::size_t tiles = pages_for(batch.seen_most());
    for (std::size_t first = 0; first < tiles; first += kTilesPerSuperTile) {
      for (std::size_t i = 0; i < count; ++i) {
        kernels::mla_reset(tile[i], rank_);
      }
      for (std::size_t index = first; index < std::min(tiles, first + kTilesPerSuperTile);
           ++index) {
        attend_tile(segment, batch, index, tile.data());
      }
      for (std::size_t i = 0; i < count; ++i) {
        kernels::mla_merge(full(i), tile[i], rank_);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      kernels::mla_finish(full(i), rank_, batch.context + i * batch.context_stride);
    }
  }

  // Together where all queries see as much of the tile, else one by one.
  void attend_tile(const Segment& segment, const Batch& batch, std::size_t index,
                   kernels::MlaAccumulator* tile) const {
    const std::size_t begin = index * kernels::kMlaTile;
    const auto valid = [&](std::size_t i) {
      return std::min(kernels::kMlaTile, batch.seen(i) > begin ? batch.seen(i) - begin : 0);
    };
    kernels::MlaTileRows rows{.rows = segment.state->latent_tile(layer_.index, index),
                              .stride = width_,
                              .width = width_,
                              .rank = rank_,
                              .valid = valid(0)};
    if (rows.valid == valid(batch.queries.heads - 1)) {
      return kernels::mla_tile(batch.queries, rows, tile);
    }
    kernels::MlaTileQueries one = batch.queries;
    one.heads = 1;
    for (std::size_t i = 0; i < batch.queries.heads; ++i) {
      rows.valid = valid(i);
      one.q = batch.queries.q + i * batch.queries.stride;
      if (rows.valid > 0) {
        kernels::mla_tile(one, rows, tile + i);
      }
    }
  }

  // out[h] = W_UV[h] context[h], gated, for all tokens.
  void carry_out(std::size_t head) {
    const std::size_t first = head * (nope_ + v_) + nope_;
    const MatrixView v_up = row_slice(layer_.weights.kv_b, first, first + v_);
    float* out = scratch_.out.data() + head * v_;
    kernels::matmul(v_up, 0, v_, scratch_.context.data() + head * rank_, heads_ * rank_,
                    step_.tokens, out, heads_ * v_);
    add_carried(head, first, out);
    if (layer_.weights.gate) {
      for (std::size_t t = 0; t < step_.tokens; ++t) {
        kernels::sigmoid_mul(out + t * heads_ * v_, scratch_.gate.data() + (t * heads_ + head) * v_,
                             v_);
      }
    }
  }

  kernels::MlaAccumulator full(std::size_t i) {
    const std::size_t place = begin_ * kQueriesPerTile + i;
    return {&scratch_.full_max[place], &scratch_.full_sum[place],
            scratch_.full_value.data() + place * rank_};
  }

  const MlaLayer& layer_;
  const Step& step_;
  MlaScratch& scratch_;
  const std::size_t begin_;
  const std::size_t end_;
  const std::size_t heads_;
  const std::size_t rank_;
  const std::size_t width_;
  const std::size_t nope_;
  const std::size_t v_;
  const float scale_;
};

}  // namespace

MlaScratch::MlaScratch(const MlaConfig& config, std::size_t tokens)
    : q_low(tokens * config.q_lora_rank.value_or(0)),
      q(tokens * config.heads * config.qk_head_dim()),
      latent(tokens * config.cache_width()),
      absorbed(tokens * config.heads * config.cache_width()),
      context(tokens * config.heads * config.kv_lora_rank),
      gate(config.output_gate ? tokens * config.heads * config.v_head_dim : 0),
      out(tokens * config.heads * config.v_head_dim),
      tile_max(config.heads * kQueriesPerTile),
      tile_sum(config.heads * kQueriesPerTile),
      tile_value(config.heads * kQueriesPerTile * config.kv_lora_rank),
      full_max(config.heads * kQueriesPerTile),
      full_sum(config.heads * kQueriesPerTile),
      full_value(config.heads * kQueriesPerTile * config.kv_lora_rank) {}

void run_mla(const MlaLayer& layer, const Step& step, const float* x, float* y, MlaScratch& scratch,
             ThreadTeam& team) {
  project_inputs(layer, step.tokens, x, scratch, team);
  store_latents(layer, step, scratch);
  if (layer.weights.q_low_rank) {
    finish_query(layer, step.tokens, scratch, team);
  }
  team.for_ranges(layer.config.heads, 1, [&](std::size_t begin, std::size_t end) {
    HeadRange(layer, step, scratch, begin, end).run();
  });
  const std::size_t width = layer.config.heads * layer.config.v_head_dim;
  const std::array jobs = {LinearJob{layer.weights.o, scratch.out.data(), width, y, layer.hidden,
                                     step.tokens, LoraModule::kO}};
  run_linears(team, jobs, layer.lora);
}

}  // namespace daybreak::model
