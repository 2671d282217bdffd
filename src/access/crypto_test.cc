// SPDX-License-Identifier: Apache-2.0
#include "access/crypto.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace daybreak::access {
namespace {

std::string hex(const Digest& digest) { return fmt::format("{:02x}", fmt::join(digest, "")); }

std::string mac(const std::vector<unsigned char>& key, const std::string& text) {
  const auto digest = hmac_sha256(key, text);
  return digest ? hex(*digest) : digest.error().message;
}

std::vector<unsigned char> bytes(std::string_view text) { return {text.begin(), text.end()}; }

// RFC 4231, test cases 1 to 4, 6 and 7 (5 is truncated).
TEST(Hmac, EqualsTheVectorsOfRfc4231) {
  EXPECT_EQ(mac(std::vector<unsigned char>(20, 0x0b), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(mac(bytes("Jefe"), "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(mac(std::vector<unsigned char>(20, 0xaa), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  std::vector<unsigned char> counting;
  for (unsigned char i = 1; i <= 25; ++i) {
    counting.push_back(i);
  }
  EXPECT_EQ(mac(counting, std::string(50, '\xcd')),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  EXPECT_EQ(mac(std::vector<unsigned char>(131, 0xaa),
                "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(mac(std::vector<unsigned char>(131, 0xaa),
                "This is a test using a larger than block-size key and a larger than block-size "
                "data. The key needs to be hashed before being used by the HMAC algorithm."),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST(Hmac, TakesEmptyKeysAndTexts) {
  EXPECT_EQ(mac({}, ""), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(RandomBytes, Differ) {
  Digest a{};
  Digest b{};
  ASSERT_TRUE(random_bytes(a));
  ASSERT_TRUE(random_bytes(b));
  EXPECT_FALSE(equal_in_constant_time(a, b));
  b = a;
  EXPECT_TRUE(equal_in_constant_time(a, b));
  b[31] ^= 1U;
  EXPECT_FALSE(equal_in_constant_time(a, b));
}

}  // namespace
}  // namespace daybreak::access
