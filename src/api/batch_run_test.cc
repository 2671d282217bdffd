// SPDX-License-Identifier: Apache-2.0
// Batches over handlers made for the purpose: order, bounds, bad lines, going on after a kill.

#include "api/batch_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>

#include "api/batch_test_files.h"
#include "api/reply.h"

namespace daybreak::api {
namespace {

using http::Exchange;
using http::Task;

// What handlers have seen, and how they behave.
struct Served {
  std::map<std::string, int> bodies;
  std::size_t now = 0;
  std::size_t most = 0;
  std::chrono::milliseconds delay{1};
  int refusals = 0;       // so many 429 first
  int displacements = 0;  // of these, so many after a place had been found
  int rates = 0;          // of these, so many because of a rate
};

Task<void> serve(Served& served, Exchange& exchange) {
  served.most = std::max(served.most, ++served.now);
  boost::asio::steady_timer timer(exchange.executor(), served.delay);
  co_await timer.async_wait(boost::asio::use_awaitable);
  --served.now;
  http::Response response;
  if (exchange.client_gone()) {
    response.status = 499;
  } else if (served.refusals > 0) {
    --served.refusals;
    response.status = 429;
    if (served.displacements > 0) {
      --served.displacements;
      exchange.note({std::string(kDisplacedNote), 1});
    }
    if (served.rates > 0) {
      --served.rates;
      exchange.note({std::string(kRateWaitNote), 7});
    }
  } else {
    ++served.bodies[exchange.request().body];
  }
  if (exchange.request().body.find("throw") != std::string::npos) {
    throw std::runtime_error("broken");
  }
  response.status =
      exchange.request().body.find("bad") != std::string::npos ? 400 : response.status;
  response.body = "{\n\"you\":\"said\",\n\"body\":" + exchange.request().body + "}";
  co_await exchange.respond(std::move(response));
}

Task<void> drive(BatchRun& run, Status& status) { status = co_await run.run(); }

struct Ran {
  Status status = ok();
  BatchCounts counts;
  bool complete = false;
  std::uint64_t skipped = 0;
};

// Runs a batch to its end. `stop`: after so many lines.
Ran run_batch(const BatchPaths& paths, Served& served, BatchRunOptions options = {},
              BatchOutput::Start start = BatchOutput::Start::kNew, std::size_t stop_after = 0,
              BatchRun::Stop how = BatchRun::Stop::kLater) {
  Ran out;
  auto output = BatchOutput::open(paths, start);
  if (!output) {
    out.status = output.error();
    return out;
  }
  const http::Handler handler = [&](Exchange& exchange) { return serve(served, exchange); };
  const BatchRun::Handlers handlers = {
      {"/v1/chat/completions", handler}, {"/v1/completions", handler}, {"/v1/responses", handler}};
  const int input = ::open(paths.input.c_str(), O_RDONLY);
  boost::asio::io_context loop(1);
  BatchRun* running = nullptr;
  std::size_t lines = 0;
  options.on_line = [&] {
    if (++lines == stop_after) {
      running->stop(how);
    }
  };
  BatchRun run(input, **output, handlers, options, loop.get_executor());
  running = &run;
  boost::asio::co_spawn(loop, drive(run, out.status),
                        [](const std::exception_ptr& thrown) { EXPECT_FALSE(thrown); });
  loop.run();
  ::close(input);
  out.counts = (*output)->counts();
  out.complete = run.complete();
  out.skipped = run.skipped();
  return out;
}

std::string many(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += batch_line("id" + std::to_string(i), "p" + std::to_string(i));
  }
  return text;
}

// The custom_ids of lines, and that no id comes twice.
std::map<std::string, int> ids_of(const std::string& text) {
  std::map<std::string, int> out;
  for (const auto& line : parse_lines(text)) {
    ++out[line["custom_id"].is_string() ? line["custom_id"].get<std::string>() : ""];
  }
  return out;
}

TEST(BatchRun, AnswersEveryLineAFewAtATime) {
  const TemporaryDirectory dir;
  Served served;
  const BatchPaths paths{dir.write("in", many(40)), dir.file("out"), dir.file("err")};
  const Ran ran = run_batch(paths, served, {.endpoint = "", .max_in_flight = 3});
  ASSERT_TRUE(ran.status) << ran.status.error().message;
  EXPECT_TRUE(ran.complete);
  EXPECT_EQ(ran.counts.completed, 40U);
  EXPECT_EQ(served.most, 3U);
  EXPECT_EQ(dir.read("err"), "");
  const auto lines = parse_lines(dir.read("out"));
  ASSERT_EQ(lines.size(), 40U);
  for (const auto& line : lines) {
    EXPECT_TRUE(line["id"].get<std::string>().starts_with("batch_req_"));
    EXPECT_EQ(line["response"]["status_code"], 200);
    EXPECT_TRUE(line["error"].is_null());
    const auto number = line["custom_id"].get<std::string>().substr(2);
    EXPECT_EQ(line["response"]["body"]["body"]["prompt"], "p" + number);
  }
}

TEST(BatchRun, BadLinesBecomeErrorLinesAndStopNothing) {
  const TemporaryDirectory dir;
  Served served;
  const std::string text =
      batch_line("a") + "\n  \r\n" + "no json\n" + "[1]\n" + batch_line("a") +
      R"({"custom_id":"b","url":"/v1/completions","body":{}})" + "\n" +
      R"({"custom_id":"c","method":"GET","url":"/v1/completions","body":{}})" + "\n" +
      R"({"custom_id":"d","method":"POST","url":"/v1/x","body":{}})" + "\n" +
      R"({"custom_id":"e","method":"POST","url":"/v1/completions","body":[]})" + "\n" +
      batch_line("f", "x", ",\"stream\":true") +
      R"({"custom_id":7,"method":"POST","url":"/v1/completions","body":{}})" + "\n" +
      batch_line(std::string(257, 'x')) + batch_line("g", "bad") + batch_line("h", "throw") +
      batch_line("long", std::string(2000, 'y')) + "{\"custom_id\":\"\xff\"}\n" + batch_line("z");
  const BatchPaths paths{dir.write("in", text.substr(0, text.size() - 1)), dir.file("out"),
                         dir.file("err")};
  const Ran ran = run_batch(paths, served, {.endpoint = "", .max_line_bytes = 1000});
  ASSERT_TRUE(ran.status) << ran.status.error().message;
  EXPECT_EQ(ids_of(dir.read("out")), (std::map<std::string, int>{{"a", 1}, {"z", 1}}));
  std::map<std::string, std::string> messages;
  for (const auto& line : parse_lines(dir.read("err"))) {
    const std::string id = line["id"];
    messages[id.substr(0, id.rfind('_'))] =
        line["error"].is_null() ? std::to_string(line["response"]["status_code"].get<int>())
                                : line["error"]["message"].get<std::string>();
  }
  ASSERT_EQ(messages.size(), 14U);
  const std::map<int, std::string> expected = {
      {4, "JSON"},          {5, "an object"}, {6, "an earlier line has the same"},
      {7, "method"},        {8, "\"POST\""},  {9, "url"},
      {10, "body"},         {11, "stream"},   {12, "custom_id"},
      {13, "1 to 256"},     {14, "400"},      {15, "500"},
      {16, "at most 1000"}, {17, "line 17"}};
  for (const auto& [number, part] : expected) {
    const std::string& message = messages["batch_req_" + std::to_string(number)];
    EXPECT_NE(message.find(part), std::string::npos) << number << ": " << message;
    EXPECT_TRUE(number == 14 || number == 15 ||
                message.starts_with("line " + std::to_string(number) + ": "))
        << message;
  }
}

TEST(BatchRun, WithoutAnErrorFileFailuresAreInTheOutput) {
  const TemporaryDirectory dir;
  Served served;
  const BatchPaths paths{dir.write("in", batch_line("a") + "x\n"), dir.file("out"), ""};
  const Ran ran = run_batch(paths, served);
  EXPECT_EQ(ran.counts.completed, 1U);
  EXPECT_EQ(ran.counts.failed, 1U);
  EXPECT_EQ(parse_lines(dir.read("out")).size(), 2U);
  const Ran again = run_batch(paths, served, {}, BatchOutput::Start::kResume);
  EXPECT_EQ(again.counts.completed, 1U);
  EXPECT_EQ(again.counts.failed, 1U);
  EXPECT_EQ(again.skipped, 2U);
}

TEST(BatchRun, TheBodyReachesTheHandlerAsItWas) {
  const TemporaryDirectory dir;
  Served served;
  const std::string body = R"({"prompt" : "\u00e9\n", "x":1.0e+2, "big":18446744073709551615})";
  const BatchPaths paths{
      dir.write("in", R"({"body": )" + body +
                          R"( ,"custom_id":"a","method":"POST","url":"/v1/completions"})"),
      dir.file("out"), ""};
  ASSERT_TRUE(run_batch(paths, served).status);
  ASSERT_EQ(served.bodies.size(), 1U);
  EXPECT_EQ(served.bodies.begin()->first, body);
}

TEST(BatchRun, GoesOnAfterAStopAndAnswersNothingTwice) {
  const TemporaryDirectory dir;
  Served served;
  const BatchPaths paths{dir.write("in", many(30) + "bad line\n"), dir.file("out"),
                         dir.file("err")};
  const Ran first = run_batch(paths, served, {}, BatchOutput::Start::kNew, 10);
  EXPECT_TRUE(first.status);
  EXPECT_FALSE(first.complete);
  EXPECT_LT(first.counts.completed, 20U);
  // Without --resume nothing of it is touched.
  const std::string before = dir.read("out");
  const Ran refused = run_batch(paths, served);
  EXPECT_EQ(refused.status.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(dir.read("out"), before);
  const Ran second = run_batch(paths, served, {}, BatchOutput::Start::kResume);
  EXPECT_TRUE(second.complete);
  EXPECT_EQ(second.skipped, first.counts.completed);
  EXPECT_EQ(ids_of(dir.read("out")).size(), 30U);
  EXPECT_EQ(parse_lines(dir.read("out")).size(), 30U);
  for (const auto& [body, times] : served.bodies) {
    EXPECT_EQ(times, 1) << body;
  }
}

// At every byte a kill may have cut the last line.
TEST(BatchRun, ATornLastLineIsRepaired) {
  const TemporaryDirectory dir;
  Served served;
  const BatchPaths paths{dir.write("in", many(3)), dir.file("out"), ""};
  ASSERT_TRUE(run_batch(paths, served, {.endpoint = "", .max_in_flight = 1}).status);
  const std::string whole = dir.read("out");
  for (std::size_t cut = 0; cut < whole.size(); cut += 7) {
    dir.write("out", whole.substr(0, cut));
    const Ran ran = run_batch(paths, served, {}, BatchOutput::Start::kResume);
    ASSERT_TRUE(ran.status) << cut << ran.status.error().message;
    EXPECT_EQ(parse_lines(dir.read("out")).size(), 3U) << cut;
    EXPECT_EQ(ids_of(dir.read("out")).size(), 3U) << cut;
    EXPECT_TRUE(dir.read("out").starts_with(whole.substr(0, whole.rfind('\n', cut) + 1)) ||
                cut < whole.find('\n'));
  }
}

TEST(BatchRun, AKilledProcessLosesNoLineAndRepeatsNone) {
  const TemporaryDirectory dir;
  const BatchPaths paths{dir.write("in", many(200)), dir.file("out"), dir.file("err")};
  for (int round = 0; round < 3; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      Served served;
      served.delay = std::chrono::milliseconds(4);
      run_batch(paths, served, {}, BatchOutput::Start::kResume);
      ::_exit(0);
    }
    ::usleep(60'000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  const std::string kept = dir.read("out");
  const std::string lines = kept.substr(0, kept.rfind('\n') + 1);
  EXPECT_FALSE(lines.empty());
  Served served;
  const Ran ran = run_batch(paths, served, {}, BatchOutput::Start::kResume);
  ASSERT_TRUE(ran.status) << ran.status.error().message;
  EXPECT_TRUE(ran.complete);
  EXPECT_EQ(ran.skipped, parse_lines(lines).size());
  EXPECT_TRUE(dir.read("out").starts_with(lines));
  EXPECT_EQ(parse_lines(dir.read("out")).size(), 200U);
  EXPECT_EQ(ids_of(dir.read("out")).size(), 200U);
  EXPECT_EQ(served.bodies.size(), 200U - ran.skipped);
}

TEST(BatchRun, FilesThatDoNotBelongTogetherAreRefusedUntouched) {
  const TemporaryDirectory dir;
  Served served;
  const BatchPaths paths{dir.write("in", many(3)), dir.file("out"), dir.file("err")};
  ASSERT_TRUE(run_batch(paths, served).status);
  const std::string before = dir.read("out");
  dir.write("in", many(1) + batch_line("id1", "another"));
  EXPECT_EQ(run_batch(paths, served, {}, BatchOutput::Start::kResume).status.error().code,
            Errc::kInvalidArgument);
  EXPECT_EQ(dir.read("out"), before);
  const auto resume = BatchOutput::Start::kResume;
  // The input, even without a line break at its end, is never cut as if it were a torn output.
  dir.write("one", "{}");
  EXPECT_FALSE(run_batch({dir.file("one"), dir.file("one"), ""}, served, {}, resume).status);
  EXPECT_EQ(dir.read("one"), "{}");
  dir.write("notes", "dear diary\n");
  EXPECT_EQ(
      run_batch({dir.file("in"), dir.file("notes"), ""}, served, {}, resume).status.error().code,
      Errc::kCorrupt);
  EXPECT_EQ(dir.read("notes"), "dear diary\n");
  EXPECT_FALSE(run_batch({dir.file("in"), dir.file("new"), dir.file("new")}, served).status);
  dir.write("twice", before + before);
  EXPECT_EQ(
      run_batch({dir.file("in"), dir.file("twice"), ""}, served, {}, resume).status.error().code,
      Errc::kCorrupt);
  const auto held = BatchOutput::open(paths, resume);
  ASSERT_TRUE(held);
  EXPECT_NE(run_batch(paths, served, {}, resume).status.error().message.find("another process"),
            std::string::npos);
}

TEST(BatchRun, BoundsOfLinesAndBytesEndTheRun) {
  const TemporaryDirectory dir;
  Served served;
  const BatchPaths paths{dir.write("in", many(10)), dir.file("out"), ""};
  BatchRunOptions lines;
  lines.max_lines = 10;
  EXPECT_TRUE(run_batch(paths, served, lines).status);
  lines.max_lines = 9;
  const Ran more = run_batch({paths.input, dir.file("out2"), ""}, served, lines);
  EXPECT_EQ(more.status.error().code, Errc::kTooLarge);
  EXPECT_FALSE(more.complete);
  std::size_t room = dir.read("out").size();
  const auto within = [](std::size_t& left) {
    BatchRunOptions bytes;
    bytes.may_write = [&left](std::size_t count) {
      if (count > left) {
        return Status(Error{Errc::kResourceLimit, "no room"});
      }
      left -= count;
      return ok();
    };
    return bytes;
  };
  std::size_t left = room;
  EXPECT_TRUE(run_batch({paths.input, dir.file("out3"), ""}, served, within(left)).status);
  EXPECT_EQ(left, 0U);
  left = --room;
  const Ran full = run_batch({paths.input, dir.file("out4"), ""}, served, within(left));
  EXPECT_EQ(full.status.error().message, "no room");
  EXPECT_FALSE(full.complete);
  EXPECT_LE(dir.read("out4").size(), room);
  parse_lines(dir.read("out4"));
}

TEST(BatchRun, AFullQueueIsWaitedForAndNeverTheAnswer) {
  const TemporaryDirectory dir;
  Served served;
  served.refusals = 5;
  const BatchPaths paths{dir.write("in", many(4)), dir.file("out"), ""};
  const Ran ran = run_batch(paths, served);
  EXPECT_EQ(ran.counts.completed, 4U);
  EXPECT_EQ(ran.counts.failed, 0U);
}

TEST(BatchRun, ALineThatLostItsPlaceHasNotHadItsTry) {
  const TemporaryDirectory dir;
  Served served;
  BatchRunOptions options;
  options.max_in_flight = 1;
  options.max_tries = 2;
  served.refusals = 5;
  served.displacements = 4;
  const BatchPaths paths{dir.write("in", many(1)), dir.file("out"), dir.file("err")};
  EXPECT_EQ(run_batch(paths, served, options).counts.completed, 1U);
  // One that never found a place has.
  served.refusals = 2;
  const Ran refused = run_batch({paths.input, dir.file("out2"), ""}, served, options);
  EXPECT_EQ(refused.counts.failed, 1U);
  EXPECT_EQ(served.refusals, 0);
}

TEST(BatchRun, ARateIsWaitedForHoweverOftenAndIsNotReadFromTheAnswer) {
  const TemporaryDirectory dir;
  Served served;
  BatchRunOptions options;
  options.max_in_flight = 1;
  options.max_tries = 1;
  int waits = 0;
  options.on_rate_limit = [&] { ++waits; };
  served.refusals = 3;
  served.rates = 3;
  const BatchPaths paths{dir.write("in", batch_line("a", "rate_limit_reached_error")),
                         dir.file("out"), ""};
  EXPECT_EQ(run_batch(paths, served, options).counts.completed, 1U);
  EXPECT_EQ(waits, 3);
  // The answer repeats what was asked, and that is not the reason it was refused for.
  served.refusals = 1;
  const Ran refused = run_batch({paths.input, dir.file("out2"), ""}, served, options);
  EXPECT_EQ(refused.counts.failed, 1U);
  EXPECT_EQ(waits, 3);
}

TEST(BatchRun, NothingNewIsBegunWhileOthersWait) {
  const TemporaryDirectory dir;
  Served served;
  int busy = 3;
  BatchRunOptions options;
  options.max_in_flight = 1;
  options.busy = [&] {
    EXPECT_TRUE(busy == 0 || served.bodies.empty());
    return busy > 0 && busy-- > 0;
  };
  const BatchPaths paths{dir.write("in", many(4)), dir.file("out"), ""};
  EXPECT_EQ(run_batch(paths, served, options).counts.completed, 4U);
  EXPECT_EQ(busy, 0);
}

TEST(BatchRun, CancellationWritesAnErrorLineForEveryRest) {
  for (const auto how : {BatchRun::Stop::kCancelled, BatchRun::Stop::kExpired}) {
    const TemporaryDirectory dir;
    Served served;
    const BatchPaths paths{dir.write("in", many(30)), dir.file("out"), dir.file("err")};
    const Ran ran = run_batch(paths, served, {}, BatchOutput::Start::kNew, 10, how);
    EXPECT_TRUE(ran.status);
    EXPECT_TRUE(ran.complete);
    EXPECT_EQ(ran.counts.completed + ran.counts.failed, 30U);
    EXPECT_GE(ran.counts.failed, 16U);
    for (const auto& line : parse_lines(dir.read("err"))) {
      EXPECT_EQ(line["error"]["code"],
                how == BatchRun::Stop::kCancelled ? "batch_cancelled" : "batch_expired");
    }
  }
}

}  // namespace
}  // namespace daybreak::api
