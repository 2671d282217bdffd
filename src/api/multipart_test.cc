// SPDX-License-Identifier: Apache-2.0
#include "api/multipart.h"

#include <gtest/gtest.h>

namespace daybreak::api {
namespace {

constexpr const char* kType = "multipart/form-data; boundary=xYz";

TEST(Multipart, PartsKeepTheirBytes) {
  const std::string bytes("a\r\n--xY\0\r\n", 10);
  const std::string body =
      "--xYz\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n"
      "--xYz\r\ncontent-disposition: form-data; filename=\"a \\\"b\\\"; c.jsonl\"; name=file\r\n"
      "Content-Type: text/plain\r\n\r\n" +
      bytes + "\r\n--xYz--\r\n";
  for (const char* type : {kType, "Multipart/Form-Data ; charset=x; Boundary=\"xYz\""}) {
    const auto parts = parse_multipart(type, body);
    ASSERT_TRUE(parts) << parts.error().message;
    ASSERT_EQ(parts->size(), 2U);
    EXPECT_EQ((*parts)[0].name, "purpose");
    EXPECT_EQ((*parts)[0].body, "batch");
    EXPECT_EQ((*parts)[1].name, "file");
    EXPECT_EQ((*parts)[1].filename, "a \"b\"; c.jsonl");
    EXPECT_EQ((*parts)[1].body, bytes);
  }
  EXPECT_TRUE(parse_multipart(kType, "--xYz--")->empty());
  // However it is cut short, it is refused, never read past its end.
  for (std::size_t size = 0; size < body.size() - 4; ++size) {
    EXPECT_FALSE(parse_multipart(kType, std::string_view(body).substr(0, size))) << size;
  }
}

TEST(Multipart, WhatIsNoFormIsRefused) {
  const std::string part = "--xYz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n";
  EXPECT_TRUE(parse_multipart(kType, part + "--xYz--"));
  for (const char* type : {"", "application/json", "multipart/form-data",
                           "multipart/form-data; boundary=", "multipart/mixed; boundary=xYz",
                           "multipart/form-data; "
                           "boundary=0123456789012345678901234567890123456789012345678901234567890"
                           "1234567890"}) {
    EXPECT_FALSE(parse_multipart(type, part + "--xYz--")) << type;
  }
  EXPECT_FALSE(parse_multipart(kType, "--xYz\r\nX: y\r\n\r\n1\r\n--xYz--"));
  EXPECT_FALSE(parse_multipart(kType, "--xYz\r\n\r\n1\r\n--xYz--"));
  std::string many;
  for (std::size_t i = 0; i < kMaxParts; ++i) {
    many += part;
  }
  EXPECT_TRUE(parse_multipart(kType, many + "--xYz--"));
  EXPECT_FALSE(parse_multipart(kType, many + part + "--xYz--"));
}

}  // namespace
}  // namespace daybreak::api
