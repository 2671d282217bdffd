// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/attn_res.h"
#include "kernels/elementary.h"
#include "kernels/kernel_testing.h"
#include "kernels/mla.h"

namespace daybreak::kernels {
namespace {

using testing::kEpsilon;
using testing::random_floats;
using testing::same_bits;

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

// The running softmax of some heads.
struct Accumulators {
  std::size_t rank;
  std::vector<float> max, sum, values;
  std::vector<MlaAccumulator> heads;

  Accumulators(std::size_t count, std::size_t width)
      : rank(width), max(count), sum(count), values(count * width) {
    for (std::size_t h = 0; h < count; ++h) {
      heads.push_back({&max[h], &sum[h], &values[h * rank]});
      mla_reset(heads.back(), rank);
    }
  }
  [[nodiscard]] std::vector<float> result() const {
    std::vector<float> out(values.size());
    for (std::size_t h = 0; h < heads.size(); ++h) {
      mla_finish(heads[h], rank, out.data() + h * rank);
    }
    return out;
  }
};

class MlaTest : public testing::PerTable {
 protected:
  static constexpr std::size_t kHeads = 7;
  static constexpr std::size_t kRank = 40;
  static constexpr std::size_t kWidth = 52;
  static constexpr float kScale = 0.2f;

  // Attends `positions` latents, tile by tile.
  static Accumulators attend(const KernelTable& table, const std::vector<float>& q,
                             const std::vector<float>& rows, std::size_t positions) {
    Accumulators acc(kHeads, kRank);
    for (std::size_t begin = 0; begin < positions; begin += kMlaTile) {
      table.mla_tile({q.data(), kWidth, kHeads, kScale},
                     {rows.data() + begin * kWidth, kWidth, kWidth, kRank,
                      std::min(kMlaTile, positions - begin)},
                     acc.heads.data());
    }
    return acc;
  }
};
DAYBREAK_PER_TABLE(MlaTest);

TEST_P(MlaTest, AgreesWithASoftmaxInDouble) {
  for (const std::size_t positions : {1u, 2u, 3u, 5u, 63u, 64u, 65u, 200u}) {
    SCOPED_TRACE(positions);
    const std::vector<float> q = random_floats(kHeads * kWidth, 1);
    const std::vector<float> rows = random_floats(positions * kWidth, 2);
    const std::vector<float> out = attend(table(), q, rows, positions).result();
    for (std::size_t h = 0; h < kHeads; ++h) {
      std::vector<double> p(positions);
      double max = -1e300;
      double steepest = 0;  // sum of |terms| of a score: what its rounding error is proportional to
      for (std::size_t i = 0; i < positions; ++i) {
        double score = 0;
        double magnitude = 0;
        for (std::size_t c = 0; c < kWidth; ++c) {
          const double term =
              double{q[h * kWidth + c]} * double{rows[i * kWidth + c]} * double{kScale};
          score += term;
          magnitude += std::abs(term);
        }
        p[i] = score;
        max = std::max(max, score);
        steepest = std::max(steepest, magnitude);
      }
      double sum = 0;
      for (double& x : p) {
        x = std::exp(x - max);
        sum += x;
      }
      for (std::size_t c = 0; c < kRank; ++c) {
        double exact = 0;
        double magnitude = 0;
        for (std::size_t i = 0; i < positions; ++i) {
          exact += p[i] / sum * double{rows[i * kWidth + c]};
          magnitude += p[i] / sum * std::abs(double{rows[i * kWidth + c]});
        }
        // A score is off by at most 12 roundings of its terms; exp makes that a relative error.
        EXPECT_NEAR(out[h * kRank + c], exact, (80 + 24 * steepest) * kEpsilon * magnitude);
      }
    }
  }
}

TEST_P(MlaTest, EqualsTheScalarTwin) {
  for (const std::size_t positions : {1u, 7u, 63u, 64u, 65u, 130u}) {
    const std::vector<float> q = random_floats(kHeads * kWidth, 3);
    const std::vector<float> rows = random_floats(positions * kWidth, 4);
    const Accumulators got = attend(table(), q, rows, positions);
    const Accumulators twin = attend(scalar(), q, rows, positions);
    EXPECT_TRUE(same_bits(got.max, twin.max)) << positions;
    EXPECT_TRUE(same_bits(got.sum, twin.sum)) << positions;
    EXPECT_TRUE(same_bits(got.values, twin.values)) << positions;
  }
}

// A latent of 512 + 64 crosses the chunk of rule 1.
TEST_P(MlaTest, EqualsTheScalarTwinAtTheWidthsOfTheReleasedModel) {
  const std::vector<float> q = random_floats(5 * 576, 5, 0.1f);
  const std::vector<float> rows = random_floats(50 * 576, 6);
  Accumulators got(5, 512);
  Accumulators twin(5, 512);
  table().mla_tile({q.data(), 576, 5, 0.07f}, {rows.data(), 576, 576, 512, 50}, got.heads.data());
  scalar().mla_tile({q.data(), 576, 5, 0.07f}, {rows.data(), 576, 576, 512, 50}, twin.heads.data());
  EXPECT_TRUE(same_bits(got.values, twin.values));
  EXPECT_TRUE(same_bits(got.sum, twin.sum));
}

// Rows past `valid` are slots nobody has written; they may hold anything.
TEST_P(MlaTest, NeverReadsRowsPastTheLastValidOne) {
  const std::vector<float> q = random_floats(kHeads * kWidth, 7);
  for (const std::size_t valid : {1u, 4u, 5u, 63u}) {
    std::vector<float> rows = random_floats(kMlaTile * kWidth, 8);
    const Accumulators clean = attend(table(), q, rows, valid);
    std::fill(rows.begin() + static_cast<std::ptrdiff_t>(valid * kWidth), rows.end(), kNotANumber);
    const Accumulators dirty = attend(table(), q, rows, valid);
    EXPECT_TRUE(same_bits(clean.values, dirty.values)) << valid;
    EXPECT_TRUE(same_bits(clean.sum, dirty.sum)) << valid;
  }
}

TEST_P(MlaTest, BitsDoNotDependOnHowHeadsAreGrouped) {
  const std::vector<float> q = random_floats(kHeads * kWidth, 9);
  const std::vector<float> rows = random_floats(kMlaTile * kWidth, 10);
  const Accumulators whole = attend(table(), q, rows, kMlaTile);
  for (std::size_t step = 1; step < kHeads; ++step) {
    Accumulators parts(kHeads, kRank);
    for (std::size_t h = 0; h < kHeads; h += step) {
      table().mla_tile({q.data() + h * kWidth, kWidth, std::min(step, kHeads - h), kScale},
                       {rows.data(), kWidth, kWidth, kRank, kMlaTile}, parts.heads.data() + h);
    }
    EXPECT_TRUE(same_bits(whole.values, parts.values)) << step;
  }
}

TEST_P(MlaTest, MergeFollowsItsFormula) {
  Accumulators a(1, 9);
  Accumulators b(1, 9);
  a.max[0] = 1.0f, a.sum[0] = 2.5f, a.values = random_floats(9, 11);
  b.max[0] = 2.0f, b.sum[0] = 3.5f, b.values = random_floats(9, 12);
  const std::vector<float> before = a.values;
  for (std::size_t c = 0; c < 9; ++c) {
    a.heads[0].values = a.values.data();
    b.heads[0].values = b.values.data();
  }
  table().mla_merge(a.heads[0], b.heads[0], 9);
  EXPECT_EQ(a.max[0], 2.0f);
  EXPECT_TRUE(same_bits(a.sum[0], std::fma(2.5f, exp(-1.0f), 3.5f)));
  for (std::size_t c = 0; c < 9; ++c) {
    EXPECT_TRUE(same_bits(a.values[c], std::fma(before[c], exp(-1.0f), b.values[c])));
  }
}

TEST_P(MlaTest, MergingWithAnEmptySideChangesNothing) {
  const std::vector<float> q = random_floats(kHeads * kWidth, 13);
  const std::vector<float> rows = random_floats(kMlaTile * kWidth, 14);
  const Accumulators full = attend(table(), q, rows, kMlaTile);
  Accumulators into_empty(kHeads, kRank);
  Accumulators kept = attend(table(), q, rows, kMlaTile);
  const Accumulators empty(kHeads, kRank);
  Accumulators both_empty(kHeads, kRank);
  for (std::size_t h = 0; h < kHeads; ++h) {
    table().mla_merge(into_empty.heads[h], full.heads[h], kRank);
    table().mla_merge(kept.heads[h], empty.heads[h], kRank);
    table().mla_merge(both_empty.heads[h], empty.heads[h], kRank);
  }
  EXPECT_TRUE(same_bits(into_empty.values, full.values));
  EXPECT_TRUE(same_bits(into_empty.sum, full.sum));
  EXPECT_TRUE(same_bits(kept.values, full.values));
  EXPECT_EQ(both_empty.sum[0], 0.0f);
  EXPECT_EQ(both_empty.max[0], -std::numeric_limits<float>::infinity());
}

class AttnResTest : public testing::PerTable {};
DAYBREAK_PER_TABLE(AttnResTest);

TEST_P(AttnResTest, MixesRawValuesByTheSoftmaxOfNormedScores) {
  for (const std::size_t n : {1u, 2u, 9u}) {
    for (const std::size_t width : {1u, 8u, 13u, 640u}) {
      SCOPED_TRACE(::testing::Message() << n << " sources of " << width);
      const std::vector<float> data = random_floats(n * width, 20, 3.0f);
      const std::vector<float> weight = random_floats(width, 21, 0.2f);
      std::vector<const float*> sources;
      std::vector<double> score(n);
      double max = -1e300;
      for (std::size_t j = 0; j < n; ++j) {
        sources.push_back(data.data() + j * width);
        double squares = 0;
        double dot = 0;
        for (std::size_t c = 0; c < width; ++c) {
          squares += double{sources[j][c]} * double{sources[j][c]};
          dot += double{sources[j][c]} * double{weight[c]};
        }
        score[j] = dot / std::sqrt(squares / static_cast<double>(width) + 1e-5);
        max = std::max(max, score[j]);
      }
      double sum = 0;
      for (double& s : score) {
        s = std::exp(s - max);
        sum += s;
      }
      std::vector<float> out(width);
      std::vector<float> twin(width);
      table().attn_res_mix(sources.data(), n, weight.data(), 1e-5f, width, out.data());
      scalar().attn_res_mix(sources.data(), n, weight.data(), 1e-5f, width, twin.data());
      EXPECT_TRUE(same_bits(out, twin));
      for (std::size_t c = 0; c < width; ++c) {
        double exact = 0;
        double magnitude = 0;
        for (std::size_t j = 0; j < n; ++j) {
          exact += score[j] / sum * double{sources[j][c]};
          magnitude += score[j] / sum * std::abs(double{sources[j][c]});
        }
        EXPECT_NEAR(out[c], exact, 1e-4 * magnitude);
      }
    }
  }
}

// With one source the weight is exactly 1.
TEST_P(AttnResTest, OneSourceIsReturnedUnchanged) {
  const std::vector<float> source = random_floats(33, 22);
  const std::vector<float> weight = random_floats(33, 23);
  const float* sources[] = {source.data()};
  std::vector<float> out(33);
  table().attn_res_mix(sources, 1, weight.data(), 1e-5f, 33, out.data());
  EXPECT_TRUE(same_bits(out, source));
}

// Rule 4: equal scores weigh 1/3 each; fma in source order gives one bit pattern, and reversing the
// sources another.
TEST_P(AttnResTest, MergesSourcesInAscendingOrder) {
  const float weight = 0.0f;
  const float p = 1.0f / 3.0f;
  int told_apart = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const std::vector<float> v = random_floats(3, seed);
    const float* sources[] = {&v[0], &v[1], &v[2]};
    float out = 0.0f;
    table().attn_res_mix(sources, 3, &weight, 1e-5f, 1, &out);
    EXPECT_TRUE(same_bits(out, std::fma(p, v[2], std::fma(p, v[1], p * v[0]))));
    told_apart += same_bits(out, std::fma(p, v[0], std::fma(p, v[1], p * v[2]))) ? 0 : 1;
  }
  EXPECT_GT(told_apart, 5);
}

TEST_P(AttnResTest, TheLargestNumberOfSourcesWorks) {
  const std::vector<float> data(kMaxAttnResSources, 2.0f);
  std::vector<const float*> sources;
  for (const float& value : data) {
    sources.push_back(&value);
  }
  const float weight = 1.0f;
  float out = 0.0f;
  table().attn_res_mix(sources.data(), sources.size(), &weight, 1e-5f, 1, &out);
  EXPECT_EQ(out, 2.0f);
}

}  // namespace
}  // namespace daybreak::kernels
