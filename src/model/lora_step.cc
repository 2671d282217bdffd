// SPDX-License-Identifier: Apache-2.0
#include "model/lora_step.h"

#include <algorithm>
#include <array>

#include "kernels/matmul.h"

namespace daybreak::model {

void LoraStep::begin(std::span<const Segment> segments) {
  runs_.clear();
  for (const Segment& segment : segments) {
    if (segment.adapter == nullptr) {
      continue;
    }
    Run* const last = runs_.empty() ? nullptr : &runs_.back();
    if (last != nullptr && last->adapter == segment.adapter &&
        last->first_token + last->tokens == segment.first_token) {
      last->tokens += segment.tokens;
    } else {
      runs_.push_back({segment.adapter, segment.first_token, segment.tokens});
    }
  }
}

void LoraStep::run(ThreadTeam& team, std::span<const LinearJob> jobs, std::size_t layer) {
  jobs_.assign(jobs.begin(), jobs.end());
  adds_.clear();
  std::size_t modules = 0;
  for (const LinearJob& job : jobs) {
    if (!job.module) {
      continue;
    }
    float* const low = low_.data() + modules++ * tokens_ * kMaxLoraRank;
    for (const Run& run : runs_) {
      if (const LoraPair* pair = run.adapter->pair(layer, *job.module)) {
        float* const t = low + run.first_token * kMaxLoraRank;
        jobs_.push_back({.w = pair->a,
                         .x = job.x + run.first_token * job.x_stride,
                         .x_stride = job.x_stride,
                         .y = t,
                         .y_stride = kMaxLoraRank,
                         .tokens = run.tokens});
        adds_.push_back({.w = pair->b,
                         .x = t,
                         .x_stride = kMaxLoraRank,
                         .y = job.y + run.first_token * job.y_stride,
                         .y_stride = job.y_stride,
                         .tokens = run.tokens,
                         .added = pair->scale});
      }
    }
  }
  run_linears(team, jobs_);
  if (!adds_.empty()) {
    run_linears(team, adds_);
  }
}

void run_linears(ThreadTeam& team, std::span<const LinearJob> jobs, const LoraLayer& lora) {
  if (lora.step == nullptr || lora.step->empty()) {
    run_linears(team, jobs);
  } else {
    lora.step->run(team, jobs, lora.layer);
  }
}

void add_low_rank(const MatrixView& a, const MatrixView& b, float scale, const float* x,
                  std::size_t x_stride, std::size_t tokens, float* y, std::size_t y_stride) {
  constexpr std::size_t kTokens = 8;
  std::array<float, kTokens * kMaxLoraRank> low{};
  for (std::size_t t = 0; t < tokens; t += kTokens) {
    const std::size_t count = std::min(kTokens, tokens - t);
    kernels::matmul(a, 0, a.rows, x + t * x_stride, x_stride, count, low.data(), kMaxLoraRank);
    add_product({.w = b,
                 .x = low.data(),
                 .x_stride = kMaxLoraRank,
                 .y = y + t * y_stride,
                 .y_stride = y_stride,
                 .tokens = count,
                 .added = scale},
                0, b.rows);
  }
}

}  // namespace daybreak::model
