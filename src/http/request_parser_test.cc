// SPDX-License-Identifier: Apache-2.0
#include "http/request_parser.h"

#include <gtest/gtest.h>

#include <string>

namespace daybreak::http {
namespace {

using State = RequestParser::State;

// Feeds the input cut into pieces of `step` bytes, as a connection would.
void feed_all(RequestParser& parser, std::string_view input, std::size_t step) {
  std::string pending;
  while (parser.state() != State::kDone && parser.state() != State::kFailed) {
    pending.erase(0, parser.feed(pending));
    if (parser.state() == State::kHeadDone) {
      parser.continue_body();
      continue;
    }
    if (input.empty()) {
      return;
    }
    pending += input.substr(0, step);
    input.remove_prefix(std::min(step, input.size()));
  }
}

TEST(RequestParser, AnyCutGivesTheSameRequest) {
  const std::string input =
      "\r\nPOST /v1/x?q=1 HTTP/1.1\r\nHost: h\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";
  for (std::size_t step = 1; step <= input.size(); ++step) {
    SCOPED_TRACE(step);
    RequestParser parser({});
    feed_all(parser, input, step);
    ASSERT_EQ(parser.state(), State::kDone);
    const Request request = parser.take();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/v1/x");
    EXPECT_EQ(request.query, "q=1");
    EXPECT_EQ(request.header("x-a"), "b");
    EXPECT_EQ(request.body, "hello world");
    EXPECT_TRUE(request.keep_alive);
  }
}

// So that a refusal can be told in the words of whoever was asked.
TEST(RequestParser, TheHeadIsKnownOnceItIsWholeAlsoOfWhatIsRefused) {
  RequestParser parser({.head_bytes = 1000, .body_bytes = 4});
  const std::string head = "POST /v1/x?q=1 HTTP/1.1\r\nHost: h\r\nX-A: b\r\nContent-Length: 5\r\n";
  const std::size_t used = parser.feed(head);
  EXPECT_FALSE(parser.head());
  parser.feed(head.substr(used) + "\r\n");
  ASSERT_EQ(parser.state(), State::kFailed);
  EXPECT_EQ(parser.refusal().status, 413);
  ASSERT_TRUE(parser.head());
  EXPECT_EQ(parser.head()->method, "POST");
  EXPECT_EQ(parser.head()->path, "/v1/x");
  EXPECT_EQ(parser.head()->query, "q=1");
  EXPECT_EQ(parser.head()->header("x-a"), "b");
}

TEST(RequestParser, TheAuthorityOfAUrlReplacesTheHost) {
  const auto parsed = [](const std::string& input) {
    RequestParser parser({});
    feed_all(parser, input, 7);
    EXPECT_EQ(parser.state(), State::kDone) << input;
    return parser.take();
  };
  const Request request =
      parsed("GET http://localhost:8000/health?a=1 HTTP/1.1\r\nX-A: b\r\nHost: evil\r\n\r\n");
  EXPECT_EQ(request.path, "/health");
  EXPECT_EQ(request.query, "a=1");
  EXPECT_EQ(request.header("host"), "localhost:8000");
  EXPECT_EQ(request.header("x-a"), "b");
  EXPECT_EQ(request.headers.size(), 2U) << "there is one Host";
  EXPECT_EQ(parsed("GET http://h/ HTTP/1.0\r\n\r\n").header("host"), "h");
  EXPECT_EQ(parsed("GET / HTTP/1.1\r\nHost: h\r\n\r\n").header("host"), "h");
}

TEST(RequestParser, AUrlNeedsItsHostHeaderAllTheSame) {
  for (const std::string hosts : {"", "Host: h\r\nHost: h\r\n"}) {
    RequestParser parser({});
    feed_all(parser, "GET http://h/ HTTP/1.1\r\n" + hosts + "\r\n", 100);
    ASSERT_EQ(parser.state(), State::kFailed);
    EXPECT_EQ(parser.refusal().status, 400);
    EXPECT_NE(parser.refusal().message.find("exactly one Host"), std::string::npos);
  }
}

// Found by fuzzing: the last chunk as the only one, arriving byte by byte, met an assertion.
TEST(RequestParser, EmptyChunkedBodyMayArriveInAnyPieces) {
  const std::string input =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  for (std::size_t step = 1; step <= input.size(); ++step) {
    RequestParser parser({});
    feed_all(parser, input, step);
    ASSERT_EQ(parser.state(), State::kDone) << step;
    EXPECT_EQ(parser.take().body, "");
  }
}

TEST(RequestParser, LeavesTheNextRequestAlone) {
  const std::string one = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
  const std::string input = one + "GET /b HTTP/1.1\r\n";
  RequestParser parser({});
  EXPECT_EQ(parser.feed(input), one.size());
  ASSERT_EQ(parser.state(), State::kHeadDone);
  parser.continue_body();
  EXPECT_EQ(parser.state(), State::kDone);
  EXPECT_EQ(parser.take().path, "/a");
}

TEST(RequestParser, HeadLimitHoldsAtTheByte) {
  const std::string start = "GET / HTTP/1.1\r\nHost: h\r\nA: ";
  const std::string end = "\r\n\r\n";
  for (const std::size_t over : {0U, 1U}) {
    SCOPED_TRACE(over);
    RequestParser parser({.head_bytes = 300, .body_bytes = 1});
    const std::string head = start + std::string(300 - start.size() - end.size() + over, 'a') + end;
    feed_all(parser, head, head.size());
    EXPECT_EQ(parser.state(), over == 0 ? State::kDone : State::kFailed);
    if (over != 0) {
      EXPECT_EQ(parser.refusal().status, 431);
    }
  }
}

TEST(RequestParser, BodyLimitHoldsAtTheByteInBothFramings) {
  for (const std::size_t size : {100U, 101U}) {
    for (const bool chunked : {false, true}) {
      SCOPED_TRACE(std::to_string(size) + (chunked ? " chunked" : ""));
      const std::string body(size, 'b');
      const std::string head = "POST / HTTP/1.1\r\nHost: h\r\n";
      const std::string input =
          chunked
              ? head + "Transfer-Encoding: chunked\r\n\r\n32\r\n" + body.substr(0, 50) + "\r\n" +
                    (size == 100 ? "32" : "33") + "\r\n" + body.substr(50) + "\r\n0\r\n\r\n"
              : head + "Content-Length: " + std::to_string(size) + "\r\n\r\n" + body;
      for (const std::size_t step : {std::size_t{1}, input.size()}) {
        RequestParser parser({.head_bytes = 1024, .body_bytes = 100});
        feed_all(parser, input, step);
        ASSERT_EQ(parser.state(), size == 100 ? State::kDone : State::kFailed);
        if (size == 100) {
          EXPECT_EQ(parser.take().body, body);
        } else {
          EXPECT_EQ(parser.refusal().status, 413);
        }
      }
    }
  }
}

TEST(RequestParser, OversizedLengthIsRefusedBeforeTheBody) {
  RequestParser parser({.head_bytes = 1024, .body_bytes = 100});
  feed_all(parser, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8388608\r\n\r\n", 1000);
  ASSERT_EQ(parser.state(), State::kFailed);
  EXPECT_EQ(parser.refusal().status, 413);
  EXPECT_NE(parser.refusal().message.find("100 bytes, Content-Length is 8388608"),
            std::string::npos);
}

TEST(RequestParser, ContinueIsWantedOnlyOfHttp11WithTheExpectation) {
  for (const auto& [head, wanted] :
       {std::pair{"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n",
                  true},
        {"POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n", false},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n", false}}) {
    SCOPED_TRACE(head);
    RequestParser parser({});
    parser.feed(head);
    ASSERT_EQ(parser.state(), State::kHeadDone);
    EXPECT_EQ(parser.wants_continue(), wanted);
  }
}

}  // namespace
}  // namespace daybreak::http
