// SPDX-License-Identifier: Apache-2.0
#include "model/weights.h"

#include <cstring>

namespace daybreak::model {

void transpose_k_up(MlaWeights& w, std::size_t heads, std::size_t nope, std::size_t v) {
  if (w.kv_b.data == nullptr) {
    return;
  }
  const std::size_t rank = w.kv_b.cols;
  const std::size_t element = kernels::bytes_per_row(w.kv_b.format, 1);
  w.k_up_bytes = AlignedBuffer<std::byte>(heads * rank * nope * element);
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t n = 0; n < nope; ++n) {
      const std::byte* in = w.kv_b.data + (h * (nope + v) + n) * rank * element;
      std::byte* out = w.k_up_bytes.data() + (h * rank * nope + n) * element;
      for (std::size_t r = 0; r < rank; ++r) {
        std::memcpy(out + r * nope * element, in + r * element, element);
      }
    }
  }
  w.k_up_transposed = {.format = w.kv_b.format,
                       .data = w.k_up_bytes.data(),
                       .scales = nullptr,
                       .rows = heads * rank,
                       .cols = nope};
}

}  // namespace daybreak::model
