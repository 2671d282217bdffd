// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/base64.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace daybreak::tokenizer {
namespace {

// RFC 4648 section 10, and all values of a digit.
TEST(Base64, DecodesTheVectorsOfItsStandard) {
  const std::pair<std::string, std::string> rows[] = {{"", ""},
                                                      {"Zg==", "f"},
                                                      {"Zm8=", "fo"},
                                                      {"Zm9v", "foo"},
                                                      {"Zm9vYg==", "foob"},
                                                      {"Zm9vYmE=", "fooba"},
                                                      {"Zm9vYmFy", "foobar"},
                                                      {"+/+/", "\xFB\xFF\xBF"},
                                                      {"gA==", "\x80"},
                                                      {"/w==", "\xFF"}};
  for (const auto& [text, bytes] : rows) {
    std::string out = "before";
    EXPECT_TRUE(append_base64_decoded(text, out)) << text;
    EXPECT_EQ(out, "before" + bytes) << text;
  }
}

TEST(Base64, RefusesEverythingElse) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zg==Zg==", "Zm9v\n", "Zm 9", "Zm-_",
        "Zh==", "Zm9=", "Zm=v", "Z=9v", "Zg=a", "\xC3\xA9==", "Zm9vZ"}) {
    std::string out;
    EXPECT_FALSE(append_base64_decoded(text, out)) << text;
  }
}

}  // namespace
}  // namespace daybreak::tokenizer
