// SPDX-License-Identifier: Apache-2.0
#include "model/state_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "base/hash.h"

namespace daybreak::model {
namespace {

static_assert(std::endian::native == std::endian::little,
              "states are stored as they lie in memory");

constexpr std::array<char, 8> kMagic = {'D', 'A', 'Y', 'S', 'T', 'A', 'T', 'E'};
constexpr std::size_t kVersionOffset = 8;
constexpr std::size_t kFingerprintOffset = 16;
constexpr std::size_t kPositionOffset = 24;
constexpr std::size_t kPayloadOffset = 32;
constexpr std::size_t kChecksumOffset = 40;

template <class T>
T load(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <class T>
void store(std::span<std::byte> bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

std::uint64_t checksum_of_state(std::span<const std::byte> bytes) {
  const std::uint64_t header = word_checksum64(bytes.first(kChecksumOffset), 0);
  return word_checksum64(bytes.subspan(kStateHeaderBytes), header);
}

// Returns false if the size does not fit 64 bits.
bool payload_size(const StateLayout& layout, std::uint64_t position, std::uint64_t& bytes) {
  std::uint64_t latents = 0;
  return !__builtin_mul_overflow(position, std::uint64_t{layout.latent_width}, &latents) &&
         !__builtin_mul_overflow(latents, std::uint64_t{layout.mla_layers}, &latents) &&
         !__builtin_add_overflow(latents, std::uint64_t{layout.slot_floats()}, &bytes) &&
         !__builtin_mul_overflow(bytes, std::uint64_t{sizeof(float)}, &bytes);
}

Error corrupt(const std::string& what) { return {Errc::kCorrupt, "saved state: " + what}; }

std::size_t rows_in_page(std::size_t position, std::size_t page) {
  return std::min(kPagePositions, position - page * kPagePositions);
}

}  // namespace

std::vector<std::byte> encode_state(const StateLayout& layout, std::size_t position,
                                    const Loan& slot, std::span<const Loan> pages) {
  const std::size_t slot_bytes = layout.slot_floats() * sizeof(float);
  const std::size_t row_bytes = layout.latent_width * sizeof(float);
  const std::size_t payload = slot_bytes + layout.mla_layers * position * row_bytes;
  std::vector<std::byte> bytes(kStateHeaderBytes + payload);
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  store(bytes, kVersionOffset, kStateVersion);
  store(bytes, kFingerprintOffset, layout.fingerprint);
  store(bytes, kPositionOffset, std::uint64_t{position});
  store(bytes, kPayloadOffset, std::uint64_t{payload});

  std::byte* out = bytes.data() + kStateHeaderBytes;
  if (slot_bytes > 0) {
    std::memcpy(out, slot.data, slot_bytes);
    out += slot_bytes;
  }
  for (std::size_t layer = 0; layer < layout.mla_layers; ++layer) {
    for (std::size_t page = 0; page < pages_for(position); ++page) {
      const std::size_t size = rows_in_page(position, page) * row_bytes;
      std::memcpy(out, pages[page].data + layer * layout.tile_floats(), size);
      out += size;
    }
  }
  store(bytes, kChecksumOffset, checksum_of_state(bytes));
  return bytes;
}

Result<StateImage> decode_state(const StateLayout& layout, std::size_t max_positions,
                                std::span<const std::byte> bytes) {
  if (bytes.size() < kStateHeaderBytes) {
    return corrupt("needs a header of " + std::to_string(kStateHeaderBytes) + " bytes, has " +
                   std::to_string(bytes.size()) + " bytes");
  }
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return corrupt("does not start with DAYSTATE");
  }
  if (const auto version = load<std::uint32_t>(bytes, kVersionOffset); version != kStateVersion) {
    return Error{Errc::kUnsupported, "saved state: has format version " + std::to_string(version) +
                                         ", this build reads version " +
                                         std::to_string(kStateVersion)};
  }
  if (load<std::uint64_t>(bytes, kFingerprintOffset) != layout.fingerprint) {
    return Error{Errc::kInvalidArgument, "saved state: was made by another model than this one"};
  }
  const auto position = load<std::uint64_t>(bytes, kPositionOffset);
  if (position > max_positions) {
    return Error{Errc::kTooLarge, "saved state: has " + std::to_string(position) +
                                      " tokens, the limit is " + std::to_string(max_positions)};
  }
  std::uint64_t payload = 0;
  if (!payload_size(layout, position, payload) ||
      load<std::uint64_t>(bytes, kPayloadOffset) != payload ||
      bytes.size() - kStateHeaderBytes != payload) {
    return corrupt("its " + std::to_string(position) + " tokens need " + std::to_string(payload) +
                   " payload bytes, has " + std::to_string(bytes.size() - kStateHeaderBytes));
  }
  if (load<std::uint64_t>(bytes, kChecksumOffset) != checksum_of_state(bytes)) {
    return corrupt("its checksum does not match its bytes");
  }
  const std::size_t slot_bytes = layout.slot_floats() * sizeof(float);
  return StateImage{.position = position,
                    .slot = bytes.subspan(kStateHeaderBytes, slot_bytes),
                    .latents = bytes.subspan(kStateHeaderBytes + slot_bytes)};
}

void StateImage::copy_to(const StateLayout& layout, const Loan& slot_out,
                         std::span<const Loan> pages_out) const {
  if (!slot.empty()) {
    std::memcpy(slot_out.data, slot.data(), slot.size());
  }
  const std::size_t row_bytes = layout.latent_width * sizeof(float);
  std::size_t at = 0;
  for (std::size_t layer = 0; layer < layout.mla_layers; ++layer) {
    for (std::size_t page = 0; page < pages_out.size(); ++page) {
      float* tile = pages_out[page].data + layer * layout.tile_floats();
      std::fill_n(tile, layout.tile_floats(), 0.0f);
      const std::size_t size = rows_in_page(position, page) * row_bytes;
      std::memcpy(tile, latents.data() + at, size);
      at += size;
    }
  }
}

}  // namespace daybreak::model
