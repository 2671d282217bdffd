// SPDX-License-Identifier: Apache-2.0
#include "access/key_snapshot.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "access/key_text.h"

namespace daybreak::access {
namespace {

Error unauthenticated(const char* why) { return {Errc::kUnauthenticated, why}; }

Status check_valid(const ApiKey& key, UtcMicros now) {
  if (key.revoked) {
    return unauthenticated("the API key was revoked");
  }
  if (key.settings.expires && now >= *key.settings.expires) {
    return unauthenticated("the API key has expired");
  }
  return ok();
}

}  // namespace

std::size_t KeySnapshot::DigestHash::operator()(const Digest& digest) const {
  std::size_t out = 0;
  std::memcpy(&out, digest.data(), sizeof out);  // already uniform
  return out;
}

void KeySnapshot::add(const Digest& digest, std::shared_ptr<const ApiKey> key,
                      std::optional<UtcMicros> expires) {
  if (by_id_.try_emplace(static_cast<std::int64_t>(key->id), key).second) {
    by_owner_.emplace(owner_of(*key), key);
    if (key->settings.expires) {
      expiries_.insert(*key->settings.expires);
    }
  }
  entries_.insert_or_assign(digest, Entry{std::move(key), expires});
}

Result<std::shared_ptr<const ApiKey>> KeySnapshot::find(std::string_view text,
                                                        UtcMicros now) const {
  if (text.empty()) {
    return unauthenticated("no API key was given; send it as 'Authorization: Bearer KEY'");
  }
  if (!is_key_text(text)) {
    return unauthenticated("the API key is malformed");
  }
  DAYBREAK_TRY(const Digest digest, hmac_sha256(pepper_, text));
  const auto found = entries_.find(digest);
  if (found == entries_.end()) {
    return unauthenticated("the API key is unknown");
  }
  const auto& [key, rotated] = found->second;
  if (rotated && now >= *rotated && !key->revoked) {
    return unauthenticated("the API key was replaced by a newer one");
  }
  DAYBREAK_CHECK_OK(check_valid(*key, now));
  return key;
}

Result<std::shared_ptr<const ApiKey>> KeySnapshot::find(KeyId id, UtcMicros now) const {
  const auto found = by_id_.find(static_cast<std::int64_t>(id));
  if (found == by_id_.end()) {
    return unauthenticated("the API key is unknown");
  }
  DAYBREAK_CHECK_OK(check_valid(*found->second, now));
  return found->second;
}

bool KeySnapshot::has_owner(std::string_view owner, UtcMicros now) const {
  const auto [first, last] = by_owner_.equal_range(owner);
  return std::any_of(first, last, [&](const auto& one) { return check_valid(*one.second, now); });
}

std::optional<UtcMicros> KeySnapshot::next_expiry(UtcMicros time) const {
  const auto next = expiries_.upper_bound(time);
  return next == expiries_.end() ? std::nullopt : std::optional(*next);
}

}  // namespace daybreak::access
