// SPDX-License-Identifier: Apache-2.0
#include "chat/vendor_contract.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chat/chat_request.h"

namespace daybreak::chat {
namespace {

std::string outcome(const std::string& fields, Contract contract) {
  const auto request = parse_chat_request(
      R"({"messages":[{"role":"user","content":"hi"}],)" + fields + "}", {.contract = contract});
  EXPECT_TRUE(request || request.error().code == Errc::kInvalidArgument) << fields;
  return request ? "accepted" : request.error().message;
}
std::string vendor(const std::string& fields) { return outcome(fields, Contract::kVendor); }
std::string open(const std::string& fields) { return outcome(fields, Contract::kOpen); }

TEST(VendorContract, DefaultsAndEveryAllowedValueAreAccepted) {
  for (const std::string fields :
       {R"("model":"k3")", R"("temperature":0)", R"("temperature":0.6)", R"("temperature":1)",
        R"("temperature":1.0)", R"("temperature":6e-1)", R"("top_p":0.95)", R"("n":1)",
        R"("presence_penalty":0)", R"("frequency_penalty":0.0)", R"("temperature":null)",
        R"("stop":["a","b","c","d","e"])"}) {
    EXPECT_EQ(vendor(fields), "accepted") << fields;
  }
}

TEST(VendorContract, TemperatureIsRefusedInTheKnownWordsAndNamesTheWholeRule) {
  for (const std::string value : {"0.2", "0.3", "0.7", "1.1", "2.0", "-0.1", "0.61", "1e999"}) {
    EXPECT_EQ(
        vendor("\"temperature\":" + value),
        "temperature: invalid temperature: only 0, 0.6 or 1 is allowed for this model, found " +
            value);
  }
  EXPECT_EQ(vendor(R"("temperature":"1")"),
            "temperature: invalid temperature: only 0, 0.6 or 1 is allowed for this model, found "
            "\"1\"");
}

TEST(VendorContract, OtherImmutableFieldsAreRefused) {
  EXPECT_EQ(vendor(R"("top_p":0.8)"),
            "top_p: invalid top_p: only 0.95 is allowed for this model, found 0.8");
  EXPECT_EQ(vendor(R"("n":2)"), "n: invalid n: only 1 is allowed for this model, found 2");
  EXPECT_EQ(vendor(R"("presence_penalty":0.5)"),
            "presence_penalty: invalid presence_penalty: only 0 is allowed for this model, found "
            "0.5");
  EXPECT_EQ(vendor(R"("frequency_penalty":0.5)"),
            "frequency_penalty: invalid frequency_penalty: only 0 is allowed for this model, found "
            "0.5");
}

TEST(VendorContract, EffortsAreTheModelsOwn) {
  for (const std::string effort : {"none", "low", "high", "max"}) {
    EXPECT_EQ(vendor(R"("reasoning_effort":")" + effort + '"'), "accepted") << effort;
  }
  for (const std::string effort : {"minimal", "medium", "xhigh", "fast"}) {
    const std::string error =
        "reasoning_effort: expected \"none\", \"low\", \"high\" or \"max\", found \"" + effort +
        '"';
    const std::string field = R"("reasoning_effort":")" + effort + '"';
    EXPECT_EQ(vendor(field), error);
    EXPECT_EQ(vendor(R"("chat_template_kwargs":{)" + field + "}"), "chat_template_kwargs." + error);
    EXPECT_EQ(open(field) == "accepted", effort != "fast") << effort;
  }
}

TEST(VendorContract, StopIsFiveStringsOfThirtyTwoBytes) {
  const std::string longest(32, 'x');
  EXPECT_EQ(vendor("\"stop\":\"" + longest + "\""), "accepted");
  EXPECT_EQ(vendor("\"stop\":\"" + longest + "x\""), "stop: expected at most 32 bytes, found 33");
  EXPECT_EQ(vendor("\"stop\":[\"a\",\"" + longest + "x\"]"),
            "stop[1]: expected at most 32 bytes, found 33");
  EXPECT_EQ(vendor(R"("stop":["1","2","3","4","5","6"])"),
            "stop: expected at most 5 strings, found 6");
  EXPECT_EQ(vendor(R"("stop":1)"), "stop: expected a string or an array of strings, found 1");
  EXPECT_EQ(vendor(R"("stop":{"a":1})"),
            "stop: expected a string or an array of strings, found an object");
}

TEST(VendorContract, OpenModeKeepsItsOwnRanges) {
  for (const std::string fields :
       {R"("temperature":0.2)", R"("temperature":2)", R"("top_p":0.8)", R"("n":2)",
        R"("presence_penalty":0.5)", R"("frequency_penalty":-2)",
        R"("stop":["1","2","3","4","5","6"])"}) {
    EXPECT_EQ(open(fields), "accepted") << fields;
    EXPECT_NE(vendor(fields), "accepted") << fields;
  }
}

}  // namespace
}  // namespace daybreak::chat
