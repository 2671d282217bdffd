// SPDX-License-Identifier: Apache-2.0
#pragma once

// A block or a checkpoint of the prefix cache in a file of its own. Little-endian:
//
//   offset  0  "DAYCACHE"
//           8  u32 version (1), u32 part (1: block, 2: checkpoint)
//          16  2 u64 store id: what the bytes depend on, see StoreId
//          32  2 u64 hash of the block, or of the block whose end it is at
//          48  2 u64 hash of the block before; zero for the first
//          64  u64 depth: blocks of the beginning up to and with this one
//          72  u64 bytes of the scope
//          80  u64 bytes of the payload
//          88  u64 checksum of the payload
//          96  u64 checksum of bytes [0, 96) and the scope
//         104  scope, payload
//
// What the payload means is its maker's affair. A file holds the name of what is in it, so that one
// that was moved to the place of another is refused like a damaged one.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cache/block_hash.h"
#include "cache/event_sink.h"

namespace daybreak::cache {

inline constexpr std::uint32_t kPartFileVersion = 1;
inline constexpr std::size_t kPartHeaderBytes = 104;
inline constexpr std::size_t kMaxScopeBytes = std::size_t{1} << 20;
inline constexpr std::uint64_t kMaxPartBytes = std::uint64_t{1} << 37;  // 128 GiB
inline constexpr std::uint64_t kMaxPartDepth = std::uint64_t{1} << 32;

// Equal iff the bytes of one process are good in another: model, numerics, layout of states.
using StoreId = std::array<std::uint64_t, 2>;
// Returns the id of what `text` says: 128 bits of its SHA-256.
[[nodiscard]] StoreId store_id_of(std::string_view text);

struct PartHeader {
  Part part = Part::kBlock;
  BlockHash hash;
  std::optional<BlockHash> parent;  // nothing iff depth is 1
  std::uint64_t depth = 1;
  std::string scope;
  std::uint64_t bytes = 0;     // of the payload
  std::uint64_t checksum = 0;  // likewise; set by write_part_file
  friend bool operator==(const PartHeader&, const PartHeader&) = default;
};

// Returns the bytes that a file with this header has.
[[nodiscard]] std::uint64_t part_file_bytes(const PartHeader& header);

// Places where the writing of a file can end, for tests that end it there.
enum class WritePoint : std::uint8_t { kCreated, kHeader, kHalf, kWhole, kRenamed };
using WritePointFn = std::function<void(WritePoint)>;

// Writes the file to "PATH.new" and renames it when it is whole, so that it is there whole or not
// at all. Only its owner may read it. The pages it took in the system's cache are given back: they
// would push out weights. Returns the header as written. Not for two writers of one path.
// Errors: kIo (no room, say); then neither file is there.
Result<PartHeader> write_part_file(const std::filesystem::path& path, const StoreId& id,
                                   PartHeader header, std::span<const std::byte> payload,
                                   const WritePointFn& at = nullptr);

// Reads the header from the first bytes of a file of `file_bytes`; all of the scope must be there.
// Errors: kCorrupt (no such file, truncated, too long, damaged), kUnsupported (another version),
// kInvalidArgument (of another store).
[[nodiscard]] Result<PartHeader> parse_part_header(std::span<const std::byte> bytes,
                                                   std::uint64_t file_bytes, const StoreId& id);

// Reads the header of a file, without its payload. Errors: likewise; kNotFound, kIo.
[[nodiscard]] Result<PartHeader> read_part_header(const std::filesystem::path& path,
                                                  const StoreId& id);

// Reads the payload into `out` and checks it. Errors: likewise; kCorrupt if the file holds anything
// but `expected`, checksum included, or the payload is damaged. Then `out` holds anything.
// REQUIRES: out.size() == expected.bytes.
Status read_part_payload(const std::filesystem::path& path, const StoreId& id,
                         const PartHeader& expected, std::span<std::byte> out);

}  // namespace daybreak::cache
