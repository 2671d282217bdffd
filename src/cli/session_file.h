// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file in which `daybreak chat --session` keeps a conversation together with the state of the
// model, so that the next start goes on without computing it again.
//
//   "DAYBREAK-CHAT-1\n"                16 bytes
//   u64 conversation bytes, u64 ids, u64 state bytes    little-endian
//   conversation   JSON {"messages":[...]} in the form of the chat API
//   ids            u32 each, little-endian: what the state has processed
//   state          SequenceState::save(); empty if nothing was processed
//   u64            FNV-1a of everything before

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/token.h"

namespace daybreak::cli {

inline constexpr std::size_t kMaxConversationBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxSessionIds = std::size_t{1} << 24;
inline constexpr std::size_t kMaxSessionStateBytes = std::size_t{1} << 37;  // 128 GiB

struct SavedSession {
  std::string conversation;
  std::vector<TokenId> ids;
  std::vector<std::byte> state;
};

// Replaces the file: after a crash it holds the old or the new contents, never a mixture.
// Only its owner may read it.
// Errors: kTooLarge naming the part and its bound, kIo.
Status write_session(const std::filesystem::path& path, const SavedSession& session);

// Checks that write_session could replace the file, without touching it, so that a conversation
// is not held only to be lost. Errors: kIo.
Status check_session_writable(const std::filesystem::path& path);

// Returns nothing if there is no such file.
// Errors: kCorrupt (no session file, truncated, too long, damaged), kTooLarge, kIo.
Result<std::optional<SavedSession>> read_session(const std::filesystem::path& path);

}  // namespace daybreak::cli
