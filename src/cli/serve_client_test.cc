// SPDX-License-Identifier: Apache-2.0
// The program itself: what `daybreak serve` prints, how it stops, how it refuses.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "testing/paths.h"
#include "testing/raw_client.h"

namespace daybreak::cli {
namespace {

using testing::RawClient;

// A child process with its stdout and stderr readable.
class Child {
 public:
  explicit Child(std::vector<std::string> arguments) {
    std::array<int, 2> out{};
    std::array<int, 2> err{};
    EXPECT_EQ(::pipe(out.data()) + ::pipe(err.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(err[1], STDERR_FILENO);
      std::vector<char*> argv;
      for (std::string& argument : arguments) {
        argv.push_back(argument.data());
      }
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  ~Child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
    ::close(out_);
    ::close(err_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  std::string read_line() {
    std::string line;
    for (char c = 0; ::read(out_, &c, 1) == 1 && c != '\n';) {
      line += c;
    }
    return line;
  }
  std::string read_errors() {
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t got = 0; (got = ::read(err_, piece.data(), piece.size())) > 0;) {
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
    return text;
  }
  void signal(int number) const { ::kill(pid_, number); }
  // Returns the exit code, or 128 + the signal.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
  int out_ = -1;
  int err_ = -1;
};

std::string binary() {
  const char* path = std::getenv("DAYBREAK_BINARY");
  return path == nullptr ? "build/release/daybreak" : path;
}

std::vector<std::string> serve(std::vector<std::string> more) {
  std::vector<std::string> arguments = {
      binary(),    "serve", testing::source_path("models/nano").string(), "--port", "0",
      "--threads", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::uint16_t port_of(const std::string& line) {
  EXPECT_TRUE(line.starts_with("listening on http://127.0.0.1:")) << line;
  return static_cast<std::uint16_t>(std::atoi(line.substr(line.rfind(':') + 1).c_str()));
}

// A request whose answer does not end by itself for a long time.
std::string endless_request(const std::string& more = R"(,"max_tokens":60000)") {
  const std::string body =
      R"({"model":"nano","messages":[{"role":"user","content":"hi"}],"stream":true,)"
      R"("ignore_eos":true)" +
      more + "}";
  return "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST(ServeClient, TerminatesCleanlyWhenIdle) {
  Child child(serve({}));
  const std::uint16_t port = port_of(child.read_line());
  RawClient client(port);
  client.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(testing::status_of(client.read_response()), 200);
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
}

TEST(ServeClient, LogSaysTheModelAndOnlySettingsThatDiffer) {
  const std::string example = testing::source_path("deploy/daybreak.yaml").string();
  Child child(serve({"--config", example, "--max-positions", "65", "--max-sequences", "2"}));
  port_of(child.read_line());
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
  const std::string log = child.read_errors();
  std::size_t settings = 0;
  for (std::size_t at = 0; (at = log.find(" setting key=", at)) != std::string::npos; ++at) {
    ++settings;
  }
  EXPECT_EQ(settings, 5U) << log;  // model, port, threads, max_positions, max_sequences
  EXPECT_NE(log.find(" setting key=port value=0 origin=--port\n"), std::string::npos) << log;
  EXPECT_NE(log.find(" model name=nano weight_bytes="), std::string::npos) << log;
  EXPECT_NE(log.find(" threads=1 isa="), std::string::npos) << log;
  // Memory comes in pages of 64 positions.
  EXPECT_NE(log.find(" max_positions=128 max_sequences=2\n"), std::string::npos) << log;
}

TEST(ServeClient, RequestsThatDoNotSayHowLongRunSideBySide) {
  Child child(serve({}));
  const std::uint16_t port = port_of(child.read_line());
  std::vector<std::unique_ptr<RawClient>> clients;  // as many as max_sequences
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<RawClient>(port));
    clients.back()->send(endless_request(""));
  }
  for (const auto& client : clients) {
    EXPECT_NE(client->read_until("data: ").find("200 OK"), std::string::npos);
  }
  // Nobody has finished in the meantime.
  RawClient probe(port);
  probe.send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_NE(
      probe.read_response().find("vllm:num_requests_running{engine=\"0\",model_name=\"nano\"} 8\n"),
      std::string::npos);
}

TEST(ServeClient, RunningAnswerIsCutAfterTheDrainTimeWithAnErrorEvent) {
  Child child(serve({"--drain-seconds", "1"}));
  const std::uint16_t port = port_of(child.read_line());
  RawClient client(port);
  client.send(endless_request());
  ASSERT_NE(client.read_until("data: ").find("200 OK"), std::string::npos);
  child.signal(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  RawClient probe(port);  // the listener stays open while draining, so that probes see why
  probe.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(testing::status_of(probe.read_response()), 503);
  probe.close();
  EXPECT_NE(client.read_all().find("the server is shutting down"), std::string::npos);
  client.close();
  EXPECT_EQ(child.wait(), 0);
}

TEST(ServeClient, SecondSignalEndsAtOnce) {
  Child child(serve({"--drain-seconds", "600"}));
  RawClient client(port_of(child.read_line()));
  client.send(endless_request());
  ASSERT_NE(client.read_until("data: ").find("200 OK"), std::string::npos);
  child.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), 1);
}

TEST(ServeClient, WrongUseIsExitCodeTwoAndNamed) {
  for (const auto& [more, says] :
       {std::pair<std::vector<std::string>, std::string>{{"--max-queue", "0"}, "--max-queue"},
        {{"--config", "/no/such.yaml"}, "/no/such.yaml"},
        {{"--numerics", "fast"}, "fast"},
        {{"--host", "no.such.host.invalid"}, "no.such.host.invalid"},
        {{"--no-such-flag"}, "--no-such-flag"}}) {
    SCOPED_TRACE(says);
    Child child(serve(more));
    EXPECT_NE(child.read_errors().find(says), std::string::npos);
    EXPECT_EQ(child.wait(), 2);
  }
}

TEST(ServeClient, TakenPortIsExitCodeOne) {
  Child first(serve({}));
  const std::uint16_t port = port_of(first.read_line());
  Child second({binary(), "serve", testing::source_path("models/nano").string(), "--port",
                std::to_string(port)});
  EXPECT_NE(second.read_errors().find(std::to_string(port)), std::string::npos);
  EXPECT_EQ(second.wait(), 1);
}

}  // namespace
}  // namespace daybreak::cli
