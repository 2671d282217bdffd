// SPDX-License-Identifier: Apache-2.0
// Whole exams over a socket, with servers that answer right, wrong, brokenly or not at all.

#include "exam/run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "exam/exam_test_server.h"
#include "exam/tally.h"

namespace daybreak::exam {
namespace {

ExamRun run(const TestServer& server, const std::vector<Question>& questions,
            std::chrono::milliseconds timeout = std::chrono::minutes(2)) {
  RunOptions options;
  options.endpoint.url = *chat_url(server.url());
  options.endpoint.model = "m";
  options.endpoint.timeout = timeout;
  options.endpoint.retry_wait = std::chrono::milliseconds(1);
  auto result = run_exam(questions, options);
  EXPECT_TRUE(result);
  return *std::move(result);
}

TEST(RunExam, AsksGreedilyAndSaysTheKey) {
  std::string request;
  const TestServer server([&](const std::string& text) {
    request = text;
    return TestServer::says("0");
  });
  const auto all = numbered_questions(1);
  RunOptions options;
  options.endpoint = {.url = *chat_url(server.url() + "/v1/"),
                      .model = "m\"1",
                      .api_key = "secret",
                      .ca_file = {},
                      .max_tokens = 77,
                      .ask_for_ids = true};
  ASSERT_TRUE(run_exam(all, options)->answers[0]);
  EXPECT_TRUE(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n")) << request;
  EXPECT_NE(request.find("\r\nAuthorization: Bearer secret\r\n"), std::string::npos);
  EXPECT_NE(request.find("\r\nUser-Agent: daybreak-exam\r\n"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(request.substr(request.find("\r\n\r\n"))),
            nlohmann::json::parse(
                R"({"messages":[{"role":"user","content":"ask 0"}],"model":"m\"1","temperature":0,
                    "seed":0,"max_tokens":77,"stream":true,
                    "stream_options":{"include_usage":true,"include_internal_content":true}})"));
}

TEST(RunExam, WhatIsRefusedIsNotAnsweredAndTheExamGoesOn) {
  const TestServer server([](const std::string& request) {
    const std::string n = number_asked(request);
    return n == "1"   ? TestServer::refuses("400 Bad Request", "no pictures here")
           : n == "2" ? TestServer::refuses("503 Service Unavailable", "busy")
           : n == "3" ? TestServer::stream("data: {\n\n")
           : n == "4" ? TestServer::stream("data: {\"error\":{\"message\":\"lost it\"}}\n\n")
           : n == "5" ? TestServer::says("5", "length")
                      : TestServer::says(n);
  });
  const auto all = numbered_questions(8);
  const ExamRun done = run(server, all);
  ASSERT_TRUE(done.status);
  EXPECT_EQ(done.answers[1].error().message, "HTTP 400: no pictures here");
  EXPECT_EQ(done.answers[2].error().message, "HTTP 503: busy");
  EXPECT_EQ(done.answers[3].error().message, "the stream: expected a JSON object as data, found {");
  EXPECT_EQ(done.answers[4].error().message, "lost it");
  const Tally found = tally(all, done.answers, judge_all(all, done.answers, nullptr));
  EXPECT_EQ(found.skills[0].asked, 8U);
  EXPECT_EQ(found.skills[0].answered, 4U);
  EXPECT_EQ(found.skills[0].right, 3U);
  EXPECT_EQ(found.skills[0].formed, 3U);
  EXPECT_EQ(found.skills[0].first_error, "HTTP 400: no pictures here");
}

std::string busy(const std::string& retry_after) {
  return "HTTP/1.1 429 Too Many Requests\r\nRetry-After: " + retry_after +
         "\r\nContent-Length: 30\r\nConnection: close\r\n\r\n" +
         R"({"error":{"message":"a rate"}})";
}

TEST(RunExam, AskedAgainAfterARateButNotForEver) {
  std::map<std::string, std::size_t> asked;
  const TestServer server([&](const std::string& request) {
    const std::string n = number_asked(request);
    const std::size_t times = ++asked[n];
    const std::string busy_now = TestServer::refuses("429 Too Many Requests", "a rate");
    return n == "1"   ? busy_now                                        // always
           : n == "2" ? busy("61")                                      // a quota of the day
           : n == "3" ? (times <= 10 ? busy_now : TestServer::says(n))  // just in time
                      : TestServer::says(n);
  });
  const ExamRun done = run(server, numbered_questions(5));
  ASSERT_TRUE(done.status);
  EXPECT_TRUE(done.answers[0]);
  EXPECT_EQ(done.answers[1].error(), (Error{Errc::kUnavailable, "HTTP 429: a rate"}));
  EXPECT_EQ(asked["1"], kMaxAskedAgain + 1);
  EXPECT_EQ(done.answers[2].error().message, "HTTP 429: a rate");
  EXPECT_EQ(asked["2"], 1U);
  EXPECT_EQ(done.answers[3]->content, "3");
  EXPECT_EQ(asked["4"], 1U);
}

TEST(RunExam, WaitsAsLongAsTheServerSaysAndEndsWithTheExam) {
  std::atomic<std::size_t> asked{0};
  const TestServer server(
      [&](const std::string&) { return ++asked == 1 ? busy("1") : TestServer::says("0"); });
  const auto began = std::chrono::steady_clock::now();
  const ExamRun done = run(server, numbered_questions(1));
  ASSERT_TRUE(done.answers[0]);
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::seconds(1));
  EXPECT_LT(done.answers[0]->seconds, done.seconds) << "waiting is no time of the answer";
  const TestServer closed([](const std::string&) { return busy("60"); });
  EndpointOptions options;
  options.url = *chat_url(closed.url());
  auto endpoint = Endpoint::create(options);
  ASSERT_TRUE(endpoint);
  const auto given_up = endpoint->ask(R"({"messages":[]})", [&] { return closed.requests() > 0; });
  EXPECT_EQ(given_up.error().code, Errc::kCancelled);
}

TEST(RunExam, ConnectionsThatBreakEndItAfterFiveInARow) {
  const TestServer server([](const std::string& request) {
    const std::string n = number_asked(request);
    // An answer between them begins the count again.
    return n == "0" || n == "5" ? TestServer::says(n)
                                : "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
  });
  const auto all = numbered_questions(30);
  const ExamRun done = run(server, all);
  ASSERT_FALSE(done.status);
  EXPECT_EQ(done.status.error().code, Errc::kUnavailable);
  EXPECT_TRUE(done.status.error().message.starts_with(
      server.url() + "/v1/chat/completions: 5 questions in a row found no connection: "))
      << done.status.error().message;
  EXPECT_EQ(server.requests(), 11U);
  EXPECT_TRUE(done.answers[5]);
  EXPECT_EQ(done.answers[4].error().code, Errc::kIo);
  EXPECT_EQ(done.answers[29].error(), (Error{Errc::kCancelled, "not asked"}));
}

TEST(RunExam, AWrongKeyOrModelEndsItAfterFiveInARow) {
  for (const auto* status : {"401 Unauthorized", "403 Forbidden", "404 Not Found"}) {
    const TestServer server([&](const std::string&) {
      const std::string body = R"({"error":{"message":"not so"}})";
      return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
    });
    const auto all = numbered_questions(30);
    const ExamRun done = run(server, all);
    ASSERT_FALSE(done.status);
    EXPECT_EQ(done.status.error().message,
              server.url() + "/v1/chat/completions: 5 questions in a row were refused: HTTP " +
                  std::string(status).substr(0, 3) + ": not so");
    EXPECT_EQ(server.requests(), 5U);
  }
}

TEST(RunExam, NobodyThereEndsItToo) {
  RunOptions options;
  {
    const TestServer gone([](const std::string&) { return ""; });
    options.endpoint.url = *chat_url(gone.url());
  }
  const auto all = numbered_questions(30);
  const auto done = run_exam(all, options);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->status.error().code, Errc::kUnavailable);
}

TEST(RunExam, AnAnswerThatTakesTooLongIsNone) {
  std::atomic<bool> over{false};
  const TestServer server([&](const std::string& request) {
    while (number_asked(request) == "0" && !over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return TestServer::says(number_asked(request));
  });
  const auto all = numbered_questions(1);
  const ExamRun done = run(server, all, std::chrono::milliseconds(50));
  over = true;
  ASSERT_FALSE(done.answers[0]);
  EXPECT_EQ(done.answers[0].error().code, Errc::kDeadline);
  EXPECT_TRUE(done.status);
}

TEST(RunExam, AnAnswerThatNeverEndsIsCut) {
  const std::string big(900'000, 'x');
  const TestServer server([&](const std::string&) {
    std::string events;
    for (int i = 0; i < 12; ++i) {
      events += R"(data: {"choices":[{"delta":{"content":")" + big + "\"}}]}\n\n";
    }
    return TestServer::stream(events);
  });
  const auto all = numbered_questions(1);
  const ExamRun done = run(server, all);
  ASSERT_FALSE(done.answers[0]);
  EXPECT_EQ(done.answers[0].error().code, Errc::kTooLarge);
}

TEST(Endpoint, KnowsItsUrl) {
  for (const std::string base :
       {"http://h", "http://h/", "http://h/v1", "http://h/v1/", "http://h/v1/chat/completions"}) {
    EXPECT_EQ(*chat_url(base), "http://h/v1/chat/completions") << base;
  }
  EXPECT_EQ(*chat_url("https://h:8/api"), "https://h:8/api/v1/chat/completions");
  for (const std::string base : {"", "h:80", "ftp://h", "http://h /v1", "http://h\r\nX: y"}) {
    EXPECT_EQ(chat_url(base).error().code, Errc::kInvalidArgument) << base;
  }
}

TEST(Endpoint, AKeyIsOneHeaderOnly) {
  EndpointOptions options;
  options.api_key = "a\r\nX-Other: b";
  EXPECT_EQ(Endpoint::create(options).error().code, Errc::kInvalidArgument);
}

}  // namespace
}  // namespace daybreak::exam
