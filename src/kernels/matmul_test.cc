// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/kernel_testing.h"

namespace daybreak::kernels {
namespace {

using testing::kEdgeLengths;
using testing::kEpsilon;
using testing::random_floats;
using testing::same_bits;

constexpr std::array kFormats = {WeightFormat::kF32, WeightFormat::kF16, WeightFormat::kBf16,
                                 WeightFormat::kF8E4M3, WeightFormat::kMxfp4};

// A random matrix in stored form; `shift` bytes of padding in front make every row misaligned.
struct Matrix {
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> scales;
  MatrixView view;

  Matrix(WeightFormat format, std::size_t rows, std::size_t cols, unsigned seed,
         std::size_t shift = 1)
      : bytes(shift + rows * bytes_per_row(format, cols)) {
    std::mt19937 rng(seed);
    for (std::byte& b : bytes) {
      b = static_cast<std::byte>(rng());
    }
    make_finite(format, shift);
    if (format == WeightFormat::kMxfp4) {
      scales.resize(rows * cols / kMxGroup);
      for (std::uint8_t& s : scales) {
        s = static_cast<std::uint8_t>(115 + rng() % 12);
      }
    }
    view = {format, bytes.data() + shift, scales.data(), rows, cols};
  }

  [[nodiscard]] std::vector<float> row(std::size_t r) const {
    std::vector<float> values(view.cols);
    available().front()->dequantise_row(view, r, values.data());
    return values;
  }

 private:
  // Random bits would give infinities, NaN and exponents that drown each other.
  void make_finite(WeightFormat format, std::size_t shift) {
    for (std::size_t i = shift; i < bytes.size(); ++i) {
      const std::size_t place = i - shift;
      if (format == WeightFormat::kF32 && place % 4 == 3) {
        bytes[i] = (bytes[i] & std::byte{0x81}) | std::byte{0x3e};
      } else if (format == WeightFormat::kBf16 && place % 2 == 1) {
        bytes[i] = (bytes[i] & std::byte{0x81}) | std::byte{0x3e};
      } else if (format == WeightFormat::kF16 && place % 2 == 1) {
        bytes[i] &= std::byte{0xbf};
      } else if (format == WeightFormat::kF8E4M3 &&
                 (bytes[i] & std::byte{0x7f}) == std::byte{0x7f}) {
        bytes[i] = std::byte{0x01};
      }
    }
  }
};

std::vector<float> multiply(const KernelTable& table, const MatrixView& w,
                            const std::vector<float>& x, std::size_t tokens) {
  std::vector<float> y(tokens * w.rows, -77.0f);
  table.matmul(w, 0, w.rows, x.data(), w.cols, tokens, y.data(), w.rows);
  return y;
}

class MatmulTest : public testing::PerTable {};
DAYBREAK_PER_TABLE(MatmulTest);

// Rule 1 written a third time, in the order of its definition, on a case worked by hand: the sum of
// 2^24 and ones depends on which lane and chunk the ones are added in.
TEST_P(MatmulTest, DotFollowsTheLanesAndTheTreeOfTheDefinition) {
  std::vector<float> a(16, 0.0f);
  const std::vector<float> ones(16, 1.0f);
  a[0] = 0x1p24f;
  a[8] = 1.0f;  // lane 0: 2^24 + 1 rounds to 2^24
  EXPECT_EQ(table().dot(a.data(), ones.data(), 16), 0x1p24f);
  a[9] = 1.0f;  // lane 1 meets lane 0 last: 2^24 + (1) rounds to even again
  EXPECT_EQ(table().dot(a.data(), ones.data(), 16), 0x1p24f);
  a[13] = 1.0f;  // lane 5 joins lane 1 first: 2^24 + 2
  EXPECT_EQ(table().dot(a.data(), ones.data(), 16), 0x1p24f + 2.0f);
  a[13] = 0.0f;
  a[12] = 1.0f;  // lane 4 joins lane 0 alone and is lost
  EXPECT_EQ(table().dot(a.data(), ones.data(), 16), 0x1p24f);
}

TEST_P(MatmulTest, DotAddsChunksOf512Ascending) {
  std::vector<float> a(1025, 0.0f);
  const std::vector<float> ones(1025, 1.0f);
  a[0] = 0x1p24f;
  a[512] = 1.0f;
  a[520] = 1.0f;  // the same lane of the second chunk: 2 arrives at once
  EXPECT_EQ(table().dot(a.data(), ones.data(), 1025), 0x1p24f + 2.0f);
  a[520] = 0.0f;
  a[1024] = 1.0f;  // the third chunk: 1 and 1 arrive apart
  EXPECT_EQ(table().dot(a.data(), ones.data(), 1025), 0x1p24f);
  a[512] = a[1024] = 0.0f;
  a[256] = a[264] = 1.0f;  // still the first chunk: both are lost in lane 0, one after the other
  EXPECT_EQ(table().dot(a.data(), ones.data(), 1025), 0x1p24f);
}

TEST_P(MatmulTest, DotOfNothingIsPlusZero) {
  EXPECT_TRUE(same_bits(table().dot(nullptr, nullptr, 0), 0.0f));
  const float zero = 0.0f;
  const float minus = -1.0f;
  EXPECT_TRUE(same_bits(table().dot(&zero, &minus, 1), 0.0f));
}

TEST_P(MatmulTest, DotIsUnchangedByPaddingWithZeros) {
  for (const std::size_t n : kEdgeLengths) {
    SCOPED_TRACE(n);
    std::vector<float> a = random_floats(n, 1);
    std::vector<float> b = random_floats(n, 2);
    const float plain = table().dot(a.data(), b.data(), n);
    a.resize(n + 700, 0.0f);
    b.resize(n + 700, 0.0f);
    EXPECT_TRUE(same_bits(table().dot(a.data(), b.data(), n + 700), plain));
  }
}

TEST_P(MatmulTest, DotEqualsTheScalarTwinAtEveryEdgeAndAlignment) {
  for (const std::size_t n : kEdgeLengths) {
    for (std::size_t shift = 0; shift < 3; ++shift) {
      SCOPED_TRACE(::testing::Message() << "n " << n << " shift " << shift);
      const std::vector<float> a = random_floats(n + shift, 3);
      const std::vector<float> b = random_floats(n + shift, 4);
      EXPECT_TRUE(same_bits(table().dot(a.data() + shift, b.data() + shift, n),
                            scalar().dot(a.data() + shift, b.data() + shift, n)));
    }
  }
}

TEST_P(MatmulTest, DotIsWithinRoundingOfTheExactSum) {
  for (const std::size_t n : kEdgeLengths) {
    const std::vector<float> a = random_floats(n, 5);
    const std::vector<float> b = random_floats(n, 6);
    double exact = 0;
    double magnitude = 0;
    for (std::size_t i = 0; i < n; ++i) {
      exact += double{a[i]} * double{b[i]};
      magnitude += std::abs(double{a[i]} * double{b[i]});
    }
    // A chain of 64 roundings, 3 of the tree, one per chunk; half an ulp each.
    const double roundings = 64.0 + 3.0 + static_cast<double>(n) / 512.0 + 1.0;
    EXPECT_NEAR(table().dot(a.data(), b.data(), n), exact, roundings * kEpsilon / 2 * magnitude);
  }
}

TEST_P(MatmulTest, EqualsTheScalarTwinForEveryFormatShapeAndTokenCount) {
  for (const WeightFormat format : kFormats) {
    for (const std::size_t cols : {32u, 96u, 512u, 544u, 1056u, 4096u + 32u}) {
      for (const std::size_t rows : {1u, 3u, 4u, 8u, 13u}) {
        const Matrix m(format, rows, cols, 7);
        for (const std::size_t tokens : {1u, 2u, 3u, 4u, 5u}) {
          SCOPED_TRACE(::testing::Message() << "format " << static_cast<int>(format) << " rows "
                                            << rows << " cols " << cols << " tokens " << tokens);
          const std::vector<float> x = random_floats(tokens * cols, 8);
          ASSERT_TRUE(same_bits(multiply(table(), m.view, x, tokens),
                                multiply(scalar(), m.view, x, tokens)));
        }
      }
    }
  }
}

TEST_P(MatmulTest, EqualsTheScalarTwinForAnyLengthOfPlainFormats) {
  for (const WeightFormat format : kFormats) {
    if (format == WeightFormat::kMxfp4) {
      continue;
    }
    for (const std::size_t cols : kEdgeLengths) {
      const Matrix m(format, 9, cols, 9);
      for (const std::size_t tokens : {1u, 4u}) {
        SCOPED_TRACE(::testing::Message() << "format " << static_cast<int>(format) << " cols "
                                          << cols << " tokens " << tokens);
        const std::vector<float> x = random_floats(tokens * cols, 10);
        ASSERT_TRUE(
            same_bits(multiply(table(), m.view, x, tokens), multiply(scalar(), m.view, x, tokens)));
      }
    }
  }
}

// Threads split rows and batches split tokens; neither may be seen in the bits.
TEST_P(MatmulTest, BitsDoNotDependOnHowRowsAndTokensAreSplit) {
  constexpr std::size_t kRows = 21;
  constexpr std::size_t kTokens = 7;
  for (const WeightFormat format : kFormats) {
    const Matrix m(format, kRows, 1056, 11);
    const std::vector<float> x = random_floats(kTokens * m.view.cols, 12);
    const std::vector<float> whole = multiply(table(), m.view, x, kTokens);
    for (std::size_t row_step = 1; row_step <= kRows; row_step += 4) {
      for (std::size_t token_step = 1; token_step <= kTokens; ++token_step) {
        std::vector<float> y(kTokens * kRows, -1.0f);
        for (std::size_t r = 0; r < kRows; r += row_step) {
          for (std::size_t t = 0; t < kTokens; t += token_step) {
            table().matmul(m.view, r, std::min(kRows, r + row_step), x.data() + t * m.view.cols,
                           m.view.cols, std::min(token_step, kTokens - t), y.data() + t * kRows,
                           kRows);
          }
        }
        ASSERT_TRUE(same_bits(y, whole))
            << static_cast<int>(format) << " rows by " << row_step << ", tokens by " << token_step;
      }
    }
  }
}

TEST_P(MatmulTest, WritesOnlyTheRowsAskedFor) {
  for (const WeightFormat format : kFormats) {
    const Matrix m(format, 16, 64, 13);
    for (const std::size_t tokens : {1u, 3u}) {
      std::vector<float> y(tokens * 20, 5.0f);
      const std::vector<float> x = random_floats(tokens * 70, 14);
      table().matmul(m.view, 3, 10, x.data(), 70, tokens, y.data(), 20);
      for (std::size_t i = 0; i < y.size(); ++i) {
        EXPECT_EQ(y[i] == 5.0f, i % 20 < 3 || i % 20 >= 10) << i;
      }
    }
  }
}

TEST_P(MatmulTest, EmptyRowRangeAndNoTokensWriteNothing) {
  const Matrix m(WeightFormat::kMxfp4, 4, 64, 13);
  const std::vector<float> x = random_floats(64, 14);
  std::vector<float> y(4, 5.0f);
  table().matmul(m.view, 2, 2, x.data(), 64, 1, y.data(), 4);
  table().matmul(m.view, 0, 4, x.data(), 64, 0, y.data(), 4);
  EXPECT_EQ(y, std::vector<float>(4, 5.0f));
}

TEST_P(MatmulTest, IsWithinRoundingOfTheExactProductForEveryFormat) {
  for (const WeightFormat format : kFormats) {
    const Matrix m(format, 5, 1056, 15);
    for (const std::size_t tokens : {1u, 3u}) {
      const std::vector<float> x = random_floats(tokens * 1056, 16);
      const std::vector<float> y = multiply(table(), m.view, x, tokens);
      for (std::size_t r = 0; r < 5; ++r) {
        const std::vector<float> w = m.row(r);
        for (std::size_t t = 0; t < tokens; ++t) {
          double exact = 0;
          double magnitude = 0;
          for (std::size_t k = 0; k < 1056; ++k) {
            const double term = double{w[k]} * double{x[t * 1056 + k]};
            exact += term;
            magnitude += std::abs(term);
          }
          EXPECT_NEAR(y[t * 5 + r], exact, 72 * kEpsilon / 2 * magnitude);
        }
      }
    }
  }
}

// Worked by hand from the OCP table: catches a swapped nibble, a wrong bias and a wrong sign, each
// of which a comparison with our own twin could share.
TEST_P(MatmulTest, Mxfp4MatchesAHandComputedGroup) {
  std::vector<std::byte> codes(16, std::byte{0});
  codes[0] = std::byte{0x71};   // element 0 is code 1 (0.5), element 1 is code 7 (6.0)
  codes[15] = std::byte{0xf0};  // element 31 is code 15 (-6.0)
  const std::uint8_t scale = 128;
  const MatrixView w{WeightFormat::kMxfp4, codes.data(), &scale, 1, 32};
  std::vector<float> x(64, 100.0f);
  x[0] = 1.0f;
  x[1] = 10.0f;
  x[31] = 2.0f;
  std::copy_n(x.begin(), 32, x.begin() + 32);
  const float expected = 2.0f * (0.5f * 1.0f + 6.0f * 10.0f - 6.0f * 2.0f);
  for (const float y : multiply(table(), w, x, 1)) {
    EXPECT_EQ(y, expected);
  }
  for (const float y : multiply(table(), w, x, 2)) {
    EXPECT_EQ(y, expected);
  }
}

// Rule 2: the group's chain is rounded before the scale meets it. With the scale folded into the
// weights, 2^24 * 1 + 1 would be lost in the lane instead of in the group.
TEST_P(MatmulTest, Mxfp4SumsAGroupBeforeItScalesAndAccumulates) {
  std::vector<std::byte> codes(32, std::byte{0x22});  // every element is 1.0
  const std::vector<std::uint8_t> scales = {127, 127};
  const MatrixView w{WeightFormat::kMxfp4, codes.data(), scales.data(), 1, 64};
  std::vector<float> x(128, 0.0f);
  x[0] = 0x1p24f;  // lane 0 of group 0
  x[32] = 1.0f;    // lane 0 of group 1, two steps: their sum 2 arrives at once
  x[40] = 1.0f;
  std::copy_n(x.begin(), 64, x.begin() + 64);
  EXPECT_EQ(multiply(table(), w, x, 1)[0], 0x1p24f + 2.0f);
  EXPECT_EQ(multiply(table(), w, x, 2)[1], 0x1p24f + 2.0f);
}

TEST_P(MatmulTest, Mxfp4SmallestScaleIsASubnormalAndLargestIsNan) {
  const std::vector<std::byte> codes(5 * 32, std::byte{0x22});
  for (const std::uint8_t e : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{254}}) {
    const std::vector<std::uint8_t> scales = {127, e, 127, 127, 127, 127, 127, 127, 127, 127};
    const MatrixView w{WeightFormat::kMxfp4, codes.data(), scales.data(), 5, 64};
    std::vector<float> x(2 * 64, 0.0f);
    x[32] = 1.0f;
    x[64 + 33] = 1.0f;
    EXPECT_EQ(multiply(table(), w, x, 1)[0], std::ldexp(1.0f, int{e} - 127));
    EXPECT_EQ(multiply(table(), w, x, 2)[5], std::ldexp(1.0f, int{e} - 127));
    EXPECT_EQ(multiply(table(), w, x, 1)[1], 1.0f);
  }
  const std::vector<std::uint8_t> nan_scales = {127, 255};
  const MatrixView w{WeightFormat::kMxfp4, codes.data(), nan_scales.data(), 1, 64};
  const std::vector<float> x(128, 1.0f);
  EXPECT_TRUE(std::isnan(multiply(table(), w, x, 1)[0]));
  EXPECT_TRUE(std::isnan(multiply(table(), w, x, 2)[1]));
}

TEST_P(MatmulTest, WeightedSumRowsEqualsItsDefinition) {
  for (const std::size_t width : {1u, 7u, 8u, 9u, 33u, 512u}) {
    for (const std::size_t n : {0u, 1u, 5u, 64u}) {
      const std::vector<float> p = random_floats(n, 17);
      const std::vector<float> rows = random_floats(n * (width + 3), 18);
      std::vector<float> acc = random_floats(width, 19);
      std::vector<float> expected = acc;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t c = 0; c < width; ++c) {
          expected[c] = std::fma(p[i], rows[i * (width + 3) + c], expected[c]);
        }
      }
      table().weighted_sum_rows(p.data(), n, rows.data(), width + 3, acc.data(), width);
      EXPECT_TRUE(same_bits(acc, expected)) << width << " " << n;
    }
  }
}

TEST_P(MatmulTest, DequantisedRowsTimesOneHotVectorsAreTheWeights) {
  for (const WeightFormat format : kFormats) {
    const Matrix m(format, 3, 64, 20);
    for (std::size_t r = 0; r < 3; ++r) {
      std::vector<float> row(64);
      table().dequantise_row(m.view, r, row.data());
      for (std::size_t k = 0; k < 64; ++k) {
        std::vector<float> x(64, 0.0f);
        x[k] = 1.0f;
        EXPECT_EQ(multiply(table(), m.view, x, 1)[r], row[k]);
      }
    }
  }
}

}  // namespace
}  // namespace daybreak::kernels
