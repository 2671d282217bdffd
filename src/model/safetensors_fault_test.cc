// SPDX-License-Identifier: Apache-2.0
// Safetensors headers that must be refused, each with a message that names file and tensor.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/safetensors.h"
#include "model/safetensors_builder.h"

namespace daybreak::model {
namespace {

Error refusal(const std::string& bytes) {
  const auto header = parse_safetensors_header(as_bytes(bytes), "m.safetensors");
  return header ? Error{Errc::kCancelled, "accepted"} : header.error();
}

std::string entry(const std::string& fields) { return "{\"a\":{" + fields + "}}"; }

TEST(SafetensorsFault, EveryMalformedHeaderIsNamed) {
  struct Row {
    std::string header;
    std::string expected;  // after "m.safetensors: "
  };
  const std::string long_name(kMaxTensorName + 1, 'n');
  const std::string f32 = R"("dtype":"F32","shape":[2],)";
  const std::vector<Row> rows = {
      {"", "the header does not start with '{'"},
      {" {}", "the header does not start with '{'"},
      {"[]", "the header does not start with '{'"},
      {"{", "header: not valid JSON (byte 2): "},
      {"{} x", "header: not valid JSON (byte 4): "},
      {"{\"a\":1}", "tensor 'a': expected an object, found 1"},
      {R"({"__metadata__":[]})", "__metadata__: expected an object, found an array"},
      {R"({"__metadata__":{"k":1}})", "__metadata__.k: expected a string, found 1"},
      {entry(R"("shape":[2],"data_offsets":[0,8])"), "tensor 'a'.dtype: missing"},
      {entry(R"("dtype":"F32","data_offsets":[0,8])"), "tensor 'a'.shape: missing"},
      {entry(R"("dtype":"F32","shape":[2])"), "tensor 'a'.data_offsets: missing"},
      {entry(R"("dtype":7,"shape":[2],"data_offsets":[0,8])"),
       "tensor 'a'.dtype: expected a string, found 7"},
      {entry(R"("dtype":"F4","shape":[2],"data_offsets":[0,8])"), "tensor 'a': unknown dtype 'F4'"},
      {entry(R"("dtype":"F32","shape":2,"data_offsets":[0,8])"),
       "tensor 'a'.shape: expected an array, found 2"},
      {entry(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"),
       "tensor 'a'.shape[0]: expected an integer in [0, 18446744073709551615], found -2"},
      {entry(R"("dtype":"F32","shape":[2.5],"data_offsets":[0,8])"),
       "tensor 'a'.shape[0]: expected an integer in [0, 18446744073709551615], found 2.5"},
      {entry(R"("dtype":"U8","shape":[1,1,1,1,1,1,1,1,8],"data_offsets":[0,8])"),
       "tensor 'a'.shape: expected at most 8 items"},
      {entry(f32 + R"("data_offsets":[0])"),
       "tensor 'a': data_offsets: expected [begin, end], found 1 items"},
      {entry(f32 + R"("data_offsets":[0,4,8])"),
       "tensor 'a'.data_offsets: expected at most 2 items"},
      {entry(f32 + R"("data_offsets":[8,0])"), "tensor 'a': data_offsets [8, 0): begin after end"},
      {entry(f32 + R"("data_offsets":[4,12])"),
       "tensor 'a': data_offsets [4, 12) leave the data section of 8 bytes (truncated file?)"},
      {entry(f32 + R"("data_offsets":[0,4])"),
       "tensor 'a': F32[2] takes 8 bytes, data_offsets [0, 4) hold 4"},
      {entry(R"("dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,0])"),
       "tensor 'a': F64[4611686018427387904,4] overflows 64 bits"},
      {entry(R"("dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0])"),
       "tensor 'a': F64[2305843009213693952] overflows 64 bits"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})",
       "tensor 'b': its bytes overlap those of 'a'"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
       R"("a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
       "header: a: the key stands twice"},
      {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"I8\",\"shape\":[8],\"data_offsets\":[0,8]}}",
       "header: a.dtype: the key stands twice"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.header);
    const Error error = refusal(safetensors_bytes(row.header, "12345678"));
    EXPECT_EQ(error.code, Errc::kCorrupt);
    const std::string expected = "m.safetensors: " + row.expected;
    EXPECT_EQ(error.message.substr(0, expected.size()), expected);
  }
}

TEST(SafetensorsFault, LongNamesAreRefusedOnePastTheBound) {
  const auto with_name = [](std::size_t length) {
    return safetensors_bytes(
        "{\"" + std::string(length, 'n') + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
        "");
  };
  EXPECT_EQ(refusal(with_name(kMaxTensorName)).message, "accepted");
  EXPECT_EQ(refusal(with_name(kMaxTensorName + 1)).code, Errc::kTooLarge);
}

TEST(SafetensorsFault, TheHeaderLengthIsBoundedAndInsideTheFile) {
  for (std::size_t size = 0; size < 8; ++size) {
    EXPECT_EQ(refusal(std::string(size, '\0')).message,
              "m.safetensors: truncated: " + std::to_string(size) +
                  " bytes, a safetensors file starts with an 8-byte header length");
  }
  std::string bytes = safetensors_bytes("{}", "");
  bytes[0] = 3;
  EXPECT_EQ(refusal(bytes).message,
            "m.safetensors: truncated: header length 3, but only 2 bytes follow it");

  const auto with_length = [](std::uint64_t length) {
    std::string prefix;
    for (int shift = 0; shift < 64; shift += 8) {
      prefix += static_cast<char>(length >> shift & 0xff);
    }
    return refusal(prefix + "{}");
  };
  EXPECT_EQ(with_length(kMaxSafetensorsHeader).code, Errc::kCorrupt);  // allowed, but truncated
  EXPECT_EQ(with_length(kMaxSafetensorsHeader + 1).code, Errc::kTooLarge);
  EXPECT_EQ(with_length(~std::uint64_t{0}).code, Errc::kTooLarge);
}

TEST(SafetensorsFault, EveryTruncationOfAGoodFileIsRefused) {
  const std::string good = SafetensorsBuilder()
                               .add("first", DType::kBf16, {3, 5})
                               .add("second", DType::kF32, {7})
                               .bytes();
  EXPECT_EQ(refusal(good).message, "accepted");
  for (std::size_t size = 0; size < good.size(); ++size) {
    ASSERT_NE(refusal(good.substr(0, size)).message, "accepted") << size;
  }
}

}  // namespace
}  // namespace daybreak::model
