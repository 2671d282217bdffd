// SPDX-License-Identifier: Apache-2.0
#pragma once

// A sequence in a file: the state of the model, the ids it has processed, and a text of whoever
// keeps it. Every kind of such a file begins with letters of its own:
//
//   letters                                             16 bytes
//   u64 text bytes, u64 ids, u64 state bytes            little-endian
//   text
//   ids            u32 each, little-endian
//   state          SequenceState::save(), which names version and model; empty: nothing processed
//   u64            FNV-1a of everything before

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/slots.h"

namespace daybreak::engine {

inline constexpr std::size_t kMaxSequenceText = std::size_t{64} << 20;
inline constexpr std::size_t kMaxSequenceIds = std::size_t{1} << 24;
inline constexpr std::size_t kMaxSequenceState = std::size_t{1} << 37;  // 128 GiB

struct SequenceFileKind {
  std::string_view letters;  // 16 bytes
  std::string_view name;     // as errors call the file, such as "session"
  std::string_view owner;    // whose files these are, such as "daybreak chat"
};

// Replaces the file: after a crash it holds the old or the new contents, never a mixture. Only its
// owner may read it. Not for two writers of one path at a time.
// Errors: kTooLarge naming the part and its bound, kIo.
Status write_sequence_file(const SequenceFileKind& kind, const std::filesystem::path& path,
                           const SavedSequence& saved);

// Checks that write_sequence_file could replace the file, without touching it. Errors: kIo.
Status check_sequence_writable(const SequenceFileKind& kind, const std::filesystem::path& path);

// Reads the bytes of a file; `path` is for errors.
// Errors: kCorrupt (no file of this kind, truncated, too long, damaged), kTooLarge.
[[nodiscard]] Result<SavedSequence> parse_sequence_file(const SequenceFileKind& kind,
                                                        const std::filesystem::path& path,
                                                        std::span<const std::byte> bytes);

// Errors: as parse_sequence_file; as MappedFile::open, in particular kNotFound.
[[nodiscard]] Result<SavedSequence> read_sequence_file(const SequenceFileKind& kind,
                                                       const std::filesystem::path& path);

}  // namespace daybreak::engine
