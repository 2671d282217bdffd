// SPDX-License-Identifier: Apache-2.0
#include "access/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <climits>

namespace daybreak::access {

Result<Digest> hmac_sha256(std::span<const unsigned char> key, std::string_view text) {
  Digest out;
  unsigned length = 0;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (key.size() > INT_MAX ||
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(), out.data(),
           &length) == nullptr ||
      length != out.size()) {
    return Error{Errc::kIo, "HMAC-SHA-256 failed in libcrypto"};
  }
  return out;
}

Status random_bytes(std::span<unsigned char> out) {
  if (out.size() > INT_MAX || RAND_bytes(out.data(), static_cast<int>(out.size())) != 1) {
    return Error{Errc::kIo, "libcrypto has no random bytes"};
  }
  return ok();
}

bool equal_in_constant_time(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace daybreak::access
