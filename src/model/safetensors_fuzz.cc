// SPDX-License-Identifier: Apache-2.0
// Any bytes as a safetensors file: refused or read, and every range that is read is inside the
// file, fits its shape and overlaps no other.

#include <cstdint>
#include <cstdlib>
#include <span>

#include "model/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const auto header = daybreak::model::parse_safetensors_header(file, "m.safetensors");
  if (!header) {
    if (header.error().message.empty()) {
      std::abort();
    }
    return 0;
  }
  std::uint64_t end = header->data_begin;
  for (const auto& tensor : header->tensors) {
    const auto bytes = daybreak::model::byte_count(tensor.dtype, tensor.shape);
    const bool empty = tensor.begin == tensor.end;
    if (tensor.begin > tensor.end || tensor.end > size || tensor.begin < header->data_begin ||
        bytes != tensor.end - tensor.begin || (!empty && tensor.begin < end)) {
      std::abort();
    }
    end = empty ? end : tensor.end;
  }
  return 0;
}
