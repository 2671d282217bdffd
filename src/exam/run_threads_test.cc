// SPDX-License-Identifier: Apache-2.0
// Questions asked by many threads at once.

#include <gtest/gtest.h>

#include <atomic>

#include "exam/exam_test_server.h"
#include "exam/run.h"
#include "exam/tally.h"

namespace daybreak::exam {
namespace {

TEST(RunExamThreads, AnswersStandWhereTheirQuestionsStand) {
  for (const std::size_t concurrency : {1U, 4U, 64U}) {
    const TestServer server([](const std::string& request) {
      const std::string n = number_asked(request);
      return TestServer::says(n == "3" ? "wrong" : n);
    });
    const auto all = numbered_questions(40);
    std::size_t told = 0;  // without a lock: on_done is called by one thread at a time
    RunOptions options;
    options.endpoint.url = *chat_url(server.url());
    options.concurrency = concurrency;
    options.on_done = [&](std::size_t done) { EXPECT_EQ(done, ++told); };
    const auto done = run_exam(all, options);
    ASSERT_TRUE(done);
    ASSERT_TRUE(done->status);
    const Tally found = tally(all, done->answers, judge_all(all, done->answers, nullptr));
    EXPECT_EQ(found.total.asked, 40U);
    EXPECT_EQ(found.total.answered, 40U);
    EXPECT_EQ(found.total.right, 39U);
    EXPECT_EQ(found.total.formed, 40U);
    EXPECT_EQ(done->answers[3]->content, "wrong");
    EXPECT_EQ(server.requests(), 40U);
    EXPECT_EQ(told, 40U);
  }
}

TEST(RunExamThreads, AServerThatIsGoneEndsAllOfThem) {
  std::atomic<std::size_t> asked{0};
  const TestServer server([&](const std::string& request) {
    return ++asked <= 8 ? TestServer::says(number_asked(request)) : std::string();
  });
  const auto all = numbered_questions(2'000);
  RunOptions options;
  options.endpoint.url = *chat_url(server.url());
  options.concurrency = 8;
  const auto done = run_exam(all, options);
  ASSERT_TRUE(done);
  ASSERT_FALSE(done->status);
  EXPECT_LT(server.requests(), 100U);
}

}  // namespace
}  // namespace daybreak::exam
