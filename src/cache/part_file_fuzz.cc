// SPDX-License-Identifier: Apache-2.0
// parse_part_header on arbitrary bytes. The checksum stops random bytes early, so the input is also
// tried as what follows letters and version, with the checksum that belongs to it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "base/hash.h"
#include "cache/part_file.h"

namespace {

using daybreak::cache::kPartHeaderBytes;
constexpr daybreak::cache::StoreId kFuzzId = {1, 2};
constexpr std::size_t kSaid = 16;  // letters, version, part
constexpr std::size_t kIdBytes = 16;
constexpr std::size_t kChecksumAt = kPartHeaderBytes - 8;

// What is read has the size it was read from: nothing is made up and nothing left out.
void check(std::span<const std::byte> bytes, std::uint64_t file_bytes) {
  const auto header = daybreak::cache::parse_part_header(bytes, file_bytes, kFuzzId);
  if (header &&
      (daybreak::cache::part_file_bytes(*header) != file_bytes || header->depth == 0 ||
       header->parent.has_value() != (header->depth > 1) || header->scope.size() > bytes.size())) {
    std::abort();
  }
}

std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t out = 0;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  check(bytes, size);
  // Part, hash and all that follows come from the input.
  std::vector<std::byte> framed(std::max(kPartHeaderBytes, size));
  std::ranges::copy(bytes, framed.begin());
  std::memcpy(framed.data(), "DAYCACHE\1\0\0\0", 12);
  std::memcpy(framed.data() + kSaid, kFuzzId.data(), kIdBytes);
  const std::uint64_t scope =
      std::min<std::uint64_t>(number_at(framed, 72), framed.size() - kPartHeaderBytes);
  std::memcpy(framed.data() + 72, &scope, sizeof scope);
  const std::span all(framed);
  const std::uint64_t checksum = daybreak::word_checksum64(
      all.subspan(kPartHeaderBytes, scope), daybreak::word_checksum64(all.first(kChecksumAt), 0));
  std::memcpy(framed.data() + kChecksumAt, &checksum, sizeof checksum);
  check(framed, kPartHeaderBytes + scope + number_at(framed, 80));
  check(framed, framed.size());
  return 0;
}
