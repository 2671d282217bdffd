// SPDX-License-Identifier: Apache-2.0
#include "access/prices.h"

#include <gtest/gtest.h>

#include "access/access_testing.h"
#include "testing/paths.h"

namespace daybreak::access {
namespace {

constexpr const char* kYaml =
    "usd_per_million_tokens:\n"
    "  kimi-k3: {prompt: 3, cached: 0.30, completion: 15.00}\n"
    "  nano: {prompt: 0.000001, cached: 0, completion: 1000}\n";

TEST(Prices, AreReadExactlyFromYamlAndJson) {
  const auto prices = Prices::parse(kYaml, "f");
  ASSERT_TRUE(prices) << prices.error().message;
  EXPECT_EQ(*prices->of("kimi-k3"), (Price{3'000'000, 300'000, 15'000'000}));
  EXPECT_EQ(*prices->of("nano"), (Price{1, 0, kMaxPrice}));
  EXPECT_EQ(prices->of("other").error().code, Errc::kNotFound);
  const auto json = Prices::parse(
      R"({"usd_per_million_tokens":{"m":{"prompt":2.5,"cached":0.1,"completion":7}}})", "f");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(*json->of("m"), (Price{2'500'000, 100'000, 7'000'000}));
}

TEST(Prices, NoneAtAllCostNothing) { EXPECT_EQ(*Prices().of("anything"), Price{}); }

TEST(Prices, ThatAreIncompleteOrUnclearAreRefused) {
  const std::string head = "usd_per_million_tokens:\n";
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("prices: {}"), head, head + "  m: 3\n",
        head + "  {}\n", head + "  m: {prompt: 1, cached: 1}\n",
        head + "  m: {prompt: 1, cached: 1, completion: 1, other: 1}\n",
        head + "  m: {prompt: 1, prompt: 1, cached: 1, completion: 1}\n",
        head + "  m: {prompt: 1, cached: 2, completion: 1}\n",
        head + "  m: {prompt: 1, cached: 0.0000001, completion: 1}\n",
        head + "  m: {prompt: -1, cached: 0, completion: 1}\n",
        head + "  m: {prompt: 1e3, cached: 0, completion: 1}\n",
        head + "  m: {prompt: 1000.000001, cached: 0, completion: 1}\n",
        head + "  m: {prompt: 1, cached: 0, completion: 1}\n  m: {prompt: 2, cached: 0, "
               "completion: 1}\n",
        head + "  m: {prompt: 1, cached: 0, completion: 1}\nother: 1\n",
        head + "  m: {prompt: ["}) {
    const auto prices = Prices::parse(text, "f");
    ASSERT_FALSE(prices) << text;
    EXPECT_EQ(prices.error().code, Errc::kInvalidArgument) << text;
    EXPECT_TRUE(prices.error().message.starts_with("f:")) << prices.error().message;
  }
}

TEST(Prices, OfMoreThanTheBoundAreTooMany) {
  for (const std::size_t count : {kMaxPricedModels, kMaxPricedModels + 1}) {
    std::string text = "usd_per_million_tokens:\n";
    for (std::size_t i = 0; i < count; ++i) {
      text += "  m" + std::to_string(i) + ": {prompt: 1, cached: 0, completion: 1}\n";
    }
    EXPECT_EQ(Prices::parse(text, "f").has_value(), count == kMaxPricedModels);
  }
}

TEST(Prices, AreReadFromAFile) {
  EXPECT_EQ(Prices::read("/no/such.yaml").error().code, Errc::kNotFound);
  EXPECT_TRUE(Prices::read(testing::source_path("deploy/prices.yaml")));
}

TEST(Cost, IsTheExactSumRoundedOnceHalvesUp) {
  const Price price{3'000'000, 300'000, 15'000'000};
  EXPECT_EQ(cost_micro_usd(price, {}), 0);
  EXPECT_EQ(cost_micro_usd(price, {.prompt = 1}), 3);
  EXPECT_EQ(cost_micro_usd(price, {.prompt = 1, .cached = 1}), 0);  // 0.3
  EXPECT_EQ(cost_micro_usd(price, {.prompt = 2, .cached = 2}), 1);  // 0.6
  EXPECT_EQ(cost_micro_usd({500'000, 0, 0}, {.prompt = 1}), 1);     // 0.5
  EXPECT_EQ(cost_micro_usd({499'999, 0, 0}, {.prompt = 1}), 0);
  EXPECT_EQ(cost_micro_usd(price, {.prompt = 100, .cached = 40, .completion = 20}), 492);
  // Reasoning is part of the completion, not beside it.
  EXPECT_EQ(cost_micro_usd(price, {.completion = 20, .reasoning = 20}), 300);
  const std::int64_t most = kMaxRequestTokens;
  EXPECT_EQ(cost_micro_usd({kMaxPrice, kMaxPrice, kMaxPrice},
                           {.prompt = most, .cached = most / 2, .completion = most}),
            2'000'000'000'000);
}

TEST(Usd, ReadsWhatItWrites) {
  for (const std::int64_t micro :
       {0LL, 1LL, 10LL, 300'000LL, 999'999LL, 1'000'000LL, 15'120'000LL}) {
    EXPECT_EQ(*parse_usd(format_usd(micro)), micro);
  }
  EXPECT_EQ(format_usd(300'000), "0.30");
  EXPECT_EQ(format_usd(1), "0.000001");
  EXPECT_EQ(format_usd(15'120'000), "15.12");
  EXPECT_EQ(*parse_usd("9999999999.999999"), 9'999'999'999'999'999);
  for (const char* text :
       {"", ".", "1.", ".5", "-1", "+1", "1,5", "1.0000000", "10000000000", "nan"}) {
    EXPECT_FALSE(parse_usd(text)) << text;
  }
}

}  // namespace
}  // namespace daybreak::access
