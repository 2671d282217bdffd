// SPDX-License-Identifier: Apache-2.0
#pragma once

// KeySnapshot: every key at one moment, found by the digest of its text. Immutable, so any number
// of threads may look up in it while another one is being made.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "access/api_key.h"
#include "access/crypto.h"
#include "access/pepper.h"
#include "base/result.h"

namespace daybreak::access {

class KeySnapshot {
 public:
  explicit KeySnapshot(const Pepper& pepper) : pepper_(pepper) {}

  // `expires`: when this digest ends though the key goes on, after a rotation.
  void add(const Digest& digest, std::shared_ptr<const ApiKey> key,
           std::optional<UtcMicros> expires);

  // Returns the key whose text is `text`, valid at `now`. The work does not depend on how much of a
  // right key `text` has: it is hashed whole, and found by the hash, which nobody can predict
  // without the pepper.
  // Errors: kUnauthenticated: missing (empty), malformed, unknown, revoked or expired; the message
  // never holds a part of `text`.
  [[nodiscard]] Result<std::shared_ptr<const ApiKey>> find(std::string_view text,
                                                           UtcMicros now) const;

  // The same for a key that is known already, by its id.
  [[nodiscard]] Result<std::shared_ptr<const ApiKey>> find(KeyId id, UtcMicros now) const;

  // Whether any key of this owner (owner_of()) is valid at `now`.
  [[nodiscard]] bool has_owner(std::string_view owner, UtcMicros now) const;

  // When the first key that expires after `time` does; nothing: none does.
  [[nodiscard]] std::optional<UtcMicros> next_expiry(UtcMicros time) const;

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::shared_ptr<const ApiKey> key;  // owned by this snapshot and the callers in flight
    std::optional<UtcMicros> expires;
  };
  struct DigestHash {
    std::size_t operator()(const Digest& digest) const;
  };
  struct DigestEqual {
    bool operator()(const Digest& a, const Digest& b) const { return equal_in_constant_time(a, b); }
  };

  Pepper pepper_;
  std::unordered_map<std::int64_t, std::shared_ptr<const ApiKey>> by_id_;
  std::multimap<std::string, std::shared_ptr<const ApiKey>, std::less<>> by_owner_;
  std::set<UtcMicros> expiries_;
  std::unordered_map<Digest, Entry, DigestHash, DigestEqual> entries_;
};

}  // namespace daybreak::access
