// SPDX-License-Identifier: Apache-2.0
#include "chat/marker_header.h"

#include <gtest/gtest.h>

#include <array>

namespace daybreak::chat {
namespace {

TEST(MarkerHeader, TellsWholePrefixAndBrokenApart) {
  using enum MarkerHeader::Form;
  struct Case {
    std::string_view text;
    Element element;
    MarkerHeader::Form form;
  };
  const std::array cases = {
      Case{"think", Element::kThink, kWhole},
      Case{"think ", Element::kThink, kWhole},
      Case{"think hm", Element::kThink, kBroken},
      Case{"tools a=", Element::kTools, kBroken},
      Case{" response ", Element::kResponse, kWhole},
      Case{"", Element::kUnknown, kPrefix},
      Case{"thi", Element::kUnknown, kPrefix},
      Case{"thinking", Element::kUnknown, kBroken},
      Case{"blink", Element::kUnknown, kBroken},
      Case{"response to you", Element::kResponse, kBroken},
      Case{"call tool=\"f\" index=\"1\"", Element::kCall, kWhole},
      Case{"call tool=\"f", Element::kCall, kPrefix},
      Case{"call tool=", Element::kCall, kPrefix},
      Case{"call to", Element::kCall, kPrefix},
      Case{"call tool=f", Element::kCall, kBroken},
      Case{"call =\"f\"", Element::kCall, kBroken},
      Case{"call tool=\"a<b>&lt;|\"", Element::kCall, kWhole},
  };
  for (const Case& c : cases) {
    const MarkerHeader header = parse_marker_header(c.text);
    EXPECT_EQ(header.element, c.element) << c.text;
    EXPECT_EQ(header.form, c.form) << c.text;
  }
}

TEST(MarkerHeader, UnescapesQuotesThenAmpersands) {
  const MarkerHeader header = parse_marker_header("call tool=\"&amp;quot; &quot;x&quot;\"");
  EXPECT_EQ(header.attribute("tool"), "&quot; \"x\"");
  EXPECT_EQ(header.attribute("index"), "");
}

TEST(MarkerHeader, FirstOfEqualAttributesCounts) {
  EXPECT_EQ(parse_marker_header("call tool=\"a\" tool=\"b\"").attribute("tool"), "a");
}

}  // namespace
}  // namespace daybreak::chat
