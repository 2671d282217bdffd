// SPDX-License-Identifier: Apache-2.0
// parse_sequence_file on arbitrary bytes. The checksum stops random bytes early, so the input is
// also tried as the header and content of a file whose letters and checksum are right.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "base/hash.h"
#include "engine/sequence_file.h"

namespace {

using daybreak::engine::SequenceFileKind;
constexpr SequenceFileKind kKind{"DAYBREAK-FUZZ-1\n", "file", "a fuzzer"};

// What is read has the size it was read from: nothing is made up and nothing left out.
void check(std::span<const std::byte> bytes) {
  const auto saved = daybreak::engine::parse_sequence_file(kKind, "fuzzed", bytes);
  if (saved &&
      48 + saved->text.size() + 4 * saved->ids.size() + saved->state.size() != bytes.size()) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  check(bytes);
  std::vector<std::byte> framed(16 + size + 8);
  std::memcpy(framed.data(), kKind.letters.data(), 16);
  std::ranges::copy(bytes, framed.begin() + 16);
  const std::uint64_t hash = daybreak::fnv1a64(std::span(framed).first(16 + size));
  std::memcpy(framed.data() + 16 + size, &hash, sizeof hash);
  check(framed);
  return 0;
}
