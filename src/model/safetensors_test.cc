// SPDX-License-Identifier: Apache-2.0
#include "model/safetensors.h"

#include <gtest/gtest.h>

#include <string>

#include "model/safetensors_builder.h"

namespace daybreak::model {
namespace {

TEST(Safetensors, RangesCountFromTheStartOfTheFile) {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,1],"data_offsets":[2,10]},)"
      R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  const std::string bytes = safetensors_bytes(header, "0123456789");
  const auto parsed = parse_safetensors_header(as_bytes(bytes), "f");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->data_begin, 8 + header.size());
  ASSERT_EQ(parsed->tensors.size(), 2u);
  EXPECT_EQ(parsed->tensors[0].name, "a");  // ascending offset, whatever the header's order
  EXPECT_EQ(parsed->tensors[1].name, "b");
  EXPECT_EQ(parsed->tensors[1].dtype, DType::kF32);
  EXPECT_EQ(parsed->tensors[1].shape, (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(
      bytes.substr(parsed->tensors[1].begin, parsed->tensors[1].end - parsed->tensors[1].begin),
      "23456789");
}

TEST(Safetensors, ScalarsAndEmptyTensorsAreAllowed) {
  const std::string bytes = SafetensorsBuilder()
                                .add("empty", DType::kF32, {0, 5})
                                .add("scalar", DType::kF32, {})
                                .add("empty_too", DType::kF32, {0})
                                .bytes();
  const auto parsed = parse_safetensors_header(as_bytes(bytes), "f");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->tensors.size(), 3u);
  EXPECT_TRUE(find_hole(*parsed, bytes.size(), "f"));
}

TEST(Safetensors, AFileWithoutTensorsIsAllowed) {
  const std::string bytes = safetensors_bytes("{}", "");
  const auto parsed = parse_safetensors_header(as_bytes(bytes), "f");
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->tensors.empty());
  EXPECT_EQ(parsed->data_begin, 10u);
}

TEST(Safetensors, HolesAreReportedOnDemand) {
  const auto hole = [](const std::string& header) -> std::string {
    const std::string bytes = safetensors_bytes(header, "01234567");
    const auto parsed = parse_safetensors_header(as_bytes(bytes), "f");
    const auto status = find_hole(*parsed, bytes.size(), "f");
    return status ? "none" : status.error().message;
  };
  const std::string between = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                              R"("b":{"dtype":"U8","shape":[5],"data_offsets":[3,8]}})";
  const std::size_t data = 8 + between.size();
  EXPECT_EQ(hole(between), "f: bytes [" + std::to_string(data + 2) + ", " +
                               std::to_string(data + 3) +
                               ") of the file belong to no tensor (before 'b')");
  EXPECT_NE(hole(R"({"a":{"dtype":"U8","shape":[7],"data_offsets":[0,7]}})").find("(at its end)"),
            std::string::npos);
  EXPECT_NE(hole(R"({"a":{"dtype":"U8","shape":[7],"data_offsets":[1,8]}})").find("(before 'a')"),
            std::string::npos);
  EXPECT_EQ(hole(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})"), "none");
}

TEST(DType, EveryNameIsReadBack) {
  for (std::size_t i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
    EXPECT_GE(size_of(dtype), 1u);
  }
  EXPECT_EQ(parse_dtype("bf16"), std::nullopt);
  EXPECT_EQ(describe(DType::kF8E4M3, std::vector<std::uint64_t>{896, 2048}), "F8_E4M3[896,2048]");
  EXPECT_EQ(describe(DType::kF32, {}), "F32[]");
}

TEST(DType, ByteCountsThatOverflowAreNothing) {
  const std::uint64_t half = std::uint64_t{1} << 63;
  EXPECT_EQ(byte_count(DType::kU8, std::vector<std::uint64_t>{half}), half);
  EXPECT_EQ(byte_count(DType::kBf16, std::vector<std::uint64_t>{half}), std::nullopt);
  EXPECT_EQ(byte_count(DType::kU8, std::vector<std::uint64_t>{half, 2}), std::nullopt);
  EXPECT_EQ(byte_count(DType::kF32, std::vector<std::uint64_t>{}), 4u);
}

}  // namespace
}  // namespace daybreak::model
