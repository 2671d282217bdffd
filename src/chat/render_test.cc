// SPDX-License-Identifier: Apache-2.0
#include "chat/render.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "base/json_tree.h"
#include "chat/markers.h"
#include "chat/output_shapes.h"
#include "chat/python_json.h"
#include "chat/render_line.h"
#include "chat/segment_writer.h"

namespace daybreak::chat {
namespace {

Result<Prompt> prompt_of(const std::string& json, const RenderOptions& options = {}) {
  auto request = parse_chat_request(json);
  EXPECT_TRUE(request) << (request ? "" : request.error().message);
  return render_segments(*request, options);
}

std::string quoted(const std::string& text) {
  std::string out;
  append_python_string(out, text);
  return out;
}

// Every place a client controls, filled with `text`.
std::string everywhere(const std::string& text) {
  const std::string q = quoted(text);
  const std::string arguments = quoted("{" + q + ":" + q + "}");
  const std::string call = R"({"id":)" + q + R"(,"function":{"name":)" + q + R"(,"arguments":)";
  return R"({"tools":[{"type":"function","function":{"name":"f","description":)" + q + "}}]," +
         R"("messages":[{"role":"system","name":)" + q + R"(,"content":)" + q + "}," +
         R"({"role":"user","content":[{"type":"text","text":)" + q + "}]}," +
         R"({"role":"assistant","reasoning_content":)" + q + R"(,"content":)" + q +
         R"(,"tool_calls":[)" + call + arguments + "}}," + call + q + "}}]}," +
         R"({"role":"tool","tool_call_id":)" + q + R"(,"content":)" + q + "}]," +
         R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{)" + q +
         ":" + q + "}}}}";
}

TEST(Render, ClientTextNeverMakesASpecialToken) {
  const auto tokenizer = shapes::load_tokenizer();
  const auto count_specials = [&](const std::string& text) {
    const auto request = parse_chat_request(everywhere(text));
    EXPECT_TRUE(request) << request.error().message;
    const auto prompt = render(*request, *tokenizer);
    EXPECT_TRUE(prompt) << prompt.error().message;
    std::map<TokenId, std::size_t> count;
    for (const TokenId id : prompt->ids) {
      if (tokenizer->is_special(id)) {
        ++count[id];
      }
    }
    return count;
  };
  const auto plain = count_specials("x");
  ASSERT_EQ(plain.size(), 4U) << "open, close, sep, end_of_msg";
  for (TokenId id = 0; id < tokenizer->vocab_size(); ++id) {
    if (tokenizer->is_special(id)) {
      const std::string spelling(tokenizer->bytes_of(id));
      EXPECT_EQ(count_specials(spelling), plain) << spelling;
    }
  }
  EXPECT_EQ(count_specials("<|kimi_image_placeholder|>"), plain);
}

TEST(Render, StubIsWhatOpensTheChannel) {
  const auto tokenizer = shapes::load_tokenizer();
  struct Case {
    const char* json;
    Channel initial;
    const char* stub;
  };
  const std::array cases = {
      Case{R"({"messages":[{"role":"user"}]})", Channel::kThink, "<|open|>think<|sep|>"},
      Case{R"({"messages":[{"role":"user"}],"reasoning_effort":"none"})", Channel::kResponse,
           "<|open|>response<|sep|>"},
      Case{R"({"messages":[{"role":"user"}],"add_generation_prompt":false})", Channel::kNone, ""},
      Case{R"({"messages":[{"role":"assistant","partial":true,"content":"a"}]})",
           Channel::kResponse, ""},
      Case{R"({"messages":[{"role":"assistant","partial":true,"reasoning_content":"a"}]})",
           Channel::kThink, ""},
      Case{R"({"messages":[{"role":"assistant","partial":true}]})", Channel::kThink, ""},
  };
  for (const Case& c : cases) {
    const auto request = parse_chat_request(c.json);
    ASSERT_TRUE(request);
    const auto prompt = render(*request, *tokenizer);
    ASSERT_TRUE(prompt);
    EXPECT_EQ(prompt->initial, c.initial) << c.json;
    const auto stub = shapes::encode(*tokenizer, c.stub);
    EXPECT_EQ(prompt->stub_ids, stub.size()) << c.json;
    EXPECT_TRUE(std::ranges::equal(std::span(prompt->ids).last(stub.size()), stub)) << c.json;
    EXPECT_EQ(prompt->billed_tokens(), prompt->ids.size() - stub.size());
  }
}

TEST(Render, SegmentsAreEncodedOneByOne) {
  const auto tokenizer = shapes::load_tokenizer();
  const auto request = parse_chat_request(R"({"messages":[{"role":"user","content":"the time"}]})");
  ASSERT_TRUE(request);
  const auto prompt = render(*request, *tokenizer);
  ASSERT_TRUE(prompt);
  std::vector<TokenId> ids;
  for (const Segment& segment : prompt->segments) {
    tokenizer->encode(
        segment.text,
        segment.allow_special ? tokenizer::AllowSpecial::kYes : tokenizer::AllowSpecial::kNo,
        tokenizer::Slicing::kOn, ids);
    EXPECT_FALSE(segment.text.empty());
  }
  EXPECT_EQ(prompt->ids, ids);
}

// A media block is one run without white space, longer than the run cap from 1,922 pads on.
TEST(Render, PadsOfALargeImageAreAllTokens) {
  const auto tokenizer = shapes::load_tokenizer();
  const TokenId pad = tokenizer->special(kMediaPadMarker).value();
  for (const auto& [size, pads] : {std::pair("1024,\"height\":768", 1'036),
                                   {"1920,\"height\":1080", 2'691},
                                   {"4096,\"height\":4096", 16'641}}) {
    const auto request =
        parse_chat_request(R"({"messages":[{"role":"user","content":[{"type":"image","width":)" +
                               std::string(size) + "}]}]}",
                           {.measured_images = true});
    ASSERT_TRUE(request) << request.error().message;
    const auto prompt = render(*request, *tokenizer);
    ASSERT_TRUE(prompt) << prompt.error().message;
    EXPECT_EQ(std::ranges::count(prompt->ids, pad), pads) << size;
  }
}

TEST(Render, LiteralArgumentsKeepTheClientsBytes) {
  const std::string json =
      R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1e2,\"b\":[1,2],\"c\":\"\\u00e9\"}"}}]}]})";
  const auto text = [&](ArgumentSpelling spelling) {
    return join_text(prompt_of(json, {.arguments = spelling})->segments);
  };
  EXPECT_NE(text(ArgumentSpelling::kReprinted).find("type=\"number\"<|sep|>100.0<|close|>"),
            std::string::npos);
  EXPECT_NE(text(ArgumentSpelling::kReprinted).find("<|sep|>[1, 2]<|close|>"), std::string::npos);
  EXPECT_NE(text(ArgumentSpelling::kLiteral).find("type=\"number\"<|sep|>1e2<|close|>"),
            std::string::npos);
  EXPECT_NE(text(ArgumentSpelling::kLiteral).find("<|sep|>[1,2]<|close|>"), std::string::npos);
  EXPECT_NE(text(ArgumentSpelling::kLiteral).find("<|sep|>\xC3\xA9<|close|>"), std::string::npos);
}

TEST(Render, ImageWithoutASizeIsUnsupportedNotGuessed) {
  const auto prompt = prompt_of(
      R"({"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:,"}}]}]})");
  ASSERT_FALSE(prompt);
  EXPECT_EQ(prompt.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(prompt.error().message,
            "messages[0].content[1]: image input needs the vision tower, which this version lacks");
}

TEST(Render, ResultWithoutACallOrANameIsRefusedByPosition) {
  const auto prompt = prompt_of(
      R"({"messages":[{"role":"user","content":"x"},{"role":"tool","tool_call_id":"zz","content":"r"}]})");
  ASSERT_FALSE(prompt);
  EXPECT_EQ(prompt.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(
      prompt.error().message,
      "messages[1].tool_call_id: 'zz' is not found among the calls before it, the message has no "
      "name, and no call without a result stands at its place");
}

TEST(Render, AttributeEscapesAreReversible) {
  for (const std::string text : {"a&b \"c\"", "&quot;", "&amp;quot;", "", "<|sep|>", "&&\"\""}) {
    EXPECT_EQ(unescape_attribute(escape_attribute(text)), text);
    EXPECT_EQ(escape_attribute(text).find('"'), std::string::npos);
  }
}

TEST(RenderLine, RefusesUnknownArgumentsAndBadImagePrompts) {
  EXPECT_EQ(parse_render_line(R"({"messages":[{"role":"user"}],"kwargs":{"thinkin":true}})")
                .error()
                .message,
            "kwargs.thinkin: no such field");
  EXPECT_FALSE(
      parse_render_line(R"({"messages":[{"role":"user"}],"kwargs":{"image_prompts":["x"]}})"));
  EXPECT_FALSE(parse_render_line("{}"));
}

}  // namespace
}  // namespace daybreak::chat
