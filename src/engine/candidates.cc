// SPDX-License-Identifier: Apache-2.0
#include "engine/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/fixed_math.h"

namespace daybreak::engine {
namespace {

bool ranks_before(const Candidate& a, const Candidate& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
}

// Sorts the first `count` ranks to the front. The order is total, so the result does not depend on
// the algorithm.
void sort_first(std::span<Candidate> all, std::size_t count) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(count);
  if (count < all.size()) {
    std::nth_element(all.begin(), middle, all.end(), ranks_before);
  }
  std::sort(all.begin(), middle, ranks_before);
}

double probability(const Candidate& c, double log_norm) {
  return fixed_exp(static_cast<double>(c.weight) - log_norm);
}

// Sum in the order given: id or rank order, both fixed.
double log_total(std::span<const Candidate> all) {
  double total = 0;
  for (const Candidate& c : all) {
    total += fixed_exp(static_cast<double>(c.weight));
  }
  return fixed_log(total);
}

// Returns the length of the shortest run of first ranks that sums to top_p. Sorts only as far as it
// has to: usually a few ids hold the mass.
std::size_t sort_to_mass(std::span<Candidate> all, double log_norm, double top_p) {
  double sum = 0;
  std::size_t sorted = 0;
  for (std::size_t step = 64; sorted < all.size(); step *= 8) {
    const std::size_t end = std::min(all.size(), sorted + step);
    sort_first(all.subspan(sorted), end - sorted);
    for (; sorted < end; ++sorted) {
      sum += probability(all[sorted], log_norm);
      if (sum >= top_p) {
        return sorted + 1;
      }
    }
  }
  return all.size();
}

std::span<Candidate> keep_typical(std::span<Candidate> all, double typical_p) {
  struct Surprise {
    double deviation;
    double probability;
    Candidate candidate;
  };
  const double log_norm = log_total(all);
  std::vector<Surprise> ranked;
  ranked.reserve(all.size());
  double entropy = 0;
  for (const Candidate& c : all) {
    const double p = probability(c, log_norm);
    entropy -= p * (static_cast<double>(c.weight) - log_norm);
    ranked.push_back({0, p, c});
  }
  for (Surprise& s : ranked) {
    s.deviation = std::abs(log_norm - static_cast<double>(s.candidate.weight) - entropy);
  }
  std::sort(ranked.begin(), ranked.end(), [](const Surprise& a, const Surprise& b) {
    return a.deviation != b.deviation ? a.deviation < b.deviation : a.candidate.id < b.candidate.id;
  });
  double sum = 0;
  std::size_t kept = 0;
  while (kept < ranked.size() && sum < typical_p) {
    all[kept] = ranked[kept].candidate;
    sum += ranked[kept].probability;
    ++kept;
  }
  return all.first(kept);
}

}  // namespace

bool has_filters(const SamplingParams& params) {
  return params.top_k > 0 || params.top_p < 1.0F || params.min_p > 0.0F || params.typical_p < 1.0F;
}

std::span<const Candidate> filter_candidates(std::span<const float> row,
                                             const SamplingParams& params,
                                             std::vector<Candidate>& storage) {
  const auto k = static_cast<std::size_t>(params.top_k);
  const bool by_rank = k > 0 && k < row.size();
  // min_p is a threshold below the maximum, which is 0; applied early it only shortens the sorting.
  const double floor = params.min_p > 0 ? fixed_log(static_cast<double>(params.min_p))
                                        : std::numeric_limits<double>::lowest();
  storage.clear();
  for (std::size_t id = 0; id < row.size(); ++id) {
    if (static_cast<double>(row[id]) >= floor || (by_rank && std::isfinite(row[id]))) {
      storage.push_back({row[id], static_cast<TokenId>(id)});
    }
  }
  std::span<Candidate> left = storage;
  if (by_rank && k < left.size()) {
    sort_first(left, k);
    left = left.first(k);
  }
  if (params.top_p < 1.0F) {
    const double log_norm = by_rank ? log_total(left) : log_sum_exp(row);
    left = left.first(sort_to_mass(left, log_norm, static_cast<double>(params.top_p)));
  }
  if (by_rank) {
    const auto end = std::remove_if(left.begin(), left.end(), [floor](const Candidate& c) {
      return static_cast<double>(c.weight) < floor;
    });
    left = left.first(static_cast<std::size_t>(end - left.begin()));
  }
  if (params.typical_p < 1.0F) {
    left = keep_typical(left, static_cast<double>(params.typical_p));
  }
  return left;
}

}  // namespace daybreak::engine
