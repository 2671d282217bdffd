// SPDX-License-Identifier: Apache-2.0
// A prompt that takes longer than nginx waits, through a real nginx. DAYBREAK_NGINX names the
// program; without one the test is skipped.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "api/api_test_server.h"
#include "testing/temporary_directory.h"

namespace daybreak::api {
namespace {

using testing::RawClient;
using testing::status_of;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""min;

std::string nginx_path() {
  const char* given = std::getenv("DAYBREAK_NGINX");
  const std::string path = given == nullptr ? "/usr/sbin/nginx" : given;
  return ::access(path.c_str(), X_OK) == 0 ? path : "";
}

// A socket that listens on a port of the system's choice. nginx is handed it, so that nobody else
// can take the port, and what connects before nginx runs waits.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);  // NOLINT: as the sockets API wants it
    EXPECT_EQ(::bind(fd_, any, size), 0);
    EXPECT_EQ(::listen(fd_, 16), 0);
    EXPECT_EQ(::getsockname(fd_, any, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { ::close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

// nginx in front of a server, with `settings` of its location beside the defaults.
class Nginx {
 public:
  Nginx(const std::string& program, std::uint16_t upstream, const std::string& settings) {
    const Listener listener;
    port_ = listener.port();
    const std::string name = directory_.path().string();
    std::ofstream(directory_ / "nginx.conf")
        << "daemon off; worker_processes 1; pid " << name << "/pid; error_log " << name << "/error;"
        << (::geteuid() == 0 ? "user root;" : "")  // the directory is nobody else's
        << "events {} http { access_log off; client_body_temp_path " << name << "/body;"
        << "proxy_temp_path " << name << "/proxy; fastcgi_temp_path " << name << "/fastcgi;"
        << "uwsgi_temp_path " << name << "/uwsgi; scgi_temp_path " << name << "/scgi;"
        << "server { listen 127.0.0.1:" << port_ << "; location / { " << settings
        << "proxy_pass http://127.0.0.1:" << upstream << "; } } }\n";
    const std::string config = name + "/nginx.conf";
    // The descriptors nginx inherits, as when its program is exchanged while it runs.
    std::string inherited = "NGINX=" + std::to_string(kInherited) + ";";
    char* const environment[] = {inherited.data(), nullptr};
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(listener.fd(), kInherited);
      ::execle(program.c_str(), program.c_str(), "-p", name.c_str(), "-e", "stderr", "-c",
               config.c_str(), static_cast<char*>(nullptr), environment);
      ::_exit(127);
    }
  }
  ~Nginx() {
    ::kill(pid_, SIGTERM);  // of the master, which ends its worker
    ::waitpid(pid_, nullptr, 0);
  }
  Nginx(const Nginx&) = delete;
  Nginx& operator=(const Nginx&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  static constexpr int kInherited = 200;  // none that the test has open

  const testing::TemporaryDirectory directory_;
  std::uint16_t port_ = 0;
  pid_t pid_ = 0;
};

// For what comes by itself: only a hanging test waits so long.
constexpr std::chrono::milliseconds kPatience = 10min;

// A streamed request through nginx whose prompt takes until it is told to end.
class LongPrompt {
 public:
  LongPrompt(std::chrono::milliseconds keep_alive, const std::string& settings)
      : api_(
            [held = held_, ids = chat::shapes::encode(*chat::shapes::load_tokenizer(), "x")](
                const engine::GenerateRequest&) {
              engine::Script script;
              script.ids = ids;
              script.held = held;
              return script;
            },
            {.keep_alive_comments = keep_alive}),
        nginx_(nginx_path(), api_.server->port(), settings),
        client_(nginx_.port()) {
    EXPECT_TRUE(client_.connected());
    client_.send(TestApi::request_text(
        R"({"model":"nano","stream":true,"messages":[{"role":"user","content":"a"}]})",
        "/v1/chat/completions"));
  }
  ~LongPrompt() { end_prompt(); }
  LongPrompt(const LongPrompt&) = delete;
  LongPrompt& operator=(const LongPrompt&) = delete;

  void end_prompt() { *held_ = false; }
  // Up to and including `mark`.
  std::string read_until(std::string_view mark) { return client_.read_until(mark, kPatience); }

 private:
  const std::shared_ptr<std::atomic<bool>> held_ = std::make_shared<std::atomic<bool>>(true);
  TestApi api_;
  Nginx nginx_;
  RawClient client_;
};

// The answer of a prompt that takes so many comments: at least that many times `keep_alive`, less
// one.
std::string answer_after(int comments, std::chrono::milliseconds keep_alive,
                         const std::string& settings) {
  LongPrompt prompt(keep_alive, settings);
  std::string text;
  for (int i = 0; i < comments; ++i) {
    text += prompt.read_until(": ping\n\n");
  }
  prompt.end_prompt();
  return text + prompt.read_until("data: [DONE]\n\n");
}

TEST(NginxSlow, WithoutCommentsItGivesUp) {
  if (nginx_path().empty()) {
    GTEST_SKIP() << "no nginx, see DAYBREAK_NGINX";
  }
  LongPrompt prompt(0ms, "proxy_read_timeout 1s;");
  const std::string reply = prompt.read_until("\r\n\r\n");
  EXPECT_EQ(status_of(reply), 504) << reply;
}

TEST(NginxSlow, ALongPromptSurvivesWithComments) {
  if (nginx_path().empty()) {
    GTEST_SKIP() << "no nginx, see DAYBREAK_NGINX";
  }
  // Twenty comments lie between two that would be too late.
  const std::string answer = answer_after(22, 500ms, "proxy_read_timeout 10s;");
  EXPECT_EQ(status_of(answer), 200) << answer;
  EXPECT_TRUE(answer.ends_with("data: [DONE]\n\n")) << answer;
}

// The setting of docs/configuration.md against nginx as it is installed: it waits 60 s.
TEST(NginxSlow, NinetySecondsOfPromptSurviveTheDefaultsOfNginx) {
  if (nginx_path().empty()) {
    GTEST_SKIP() << "no nginx, see DAYBREAK_NGINX";
  }
  const std::string answer = answer_after(7, 15s, "");
  EXPECT_EQ(status_of(answer), 200) << answer;
  EXPECT_TRUE(answer.ends_with("data: [DONE]\n\n")) << answer;
}

}  // namespace
}  // namespace daybreak::api
