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
#include <thread>

#include "api/api_test_server.h"
#include "testing/temporary_directory.h"

namespace daybreak::api {
namespace {

using testing::RawClient;
using testing::status_of;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

std::string nginx_path() {
  const char* given = std::getenv("DAYBREAK_NGINX");
  const std::string path = given == nullptr ? "/usr/sbin/nginx" : given;
  return ::access(path.c_str(), X_OK) == 0 ? path : "";
}

// One that nobody listens on now, and that nobody is given soon.
std::uint16_t free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);  // NOLINT: as the sockets API wants it
  EXPECT_EQ(::bind(probe, any, size), 0);
  EXPECT_EQ(::getsockname(probe, any, &size), 0);
  ::close(probe);
  return ntohs(address.sin_port);
}

// nginx in front of a server, with `settings` of its location beside the defaults.
class Nginx {
 public:
  Nginx(const std::string& program, std::uint16_t upstream, const std::string& settings) {
    const std::string name = directory_.path().string();
    std::ofstream(directory_ / "nginx.conf")
        << "daemon off; master_process off; pid " << name << "/pid; error_log " << name << "/error;"
        << "events {} http { access_log off; client_body_temp_path " << name << "/body;"
        << "proxy_temp_path " << name << "/proxy; fastcgi_temp_path " << name << "/fastcgi;"
        << "uwsgi_temp_path " << name << "/uwsgi; scgi_temp_path " << name << "/scgi;"
        << "server { listen 127.0.0.1:" << port_ << "; location / { " << settings
        << "proxy_pass http://127.0.0.1:" << upstream << "; } } }\n";
    pid_ = ::fork();
    if (pid_ == 0) {
      const std::string config = name + "/nginx.conf";
      ::execl(program.c_str(), program.c_str(), "-p", name.c_str(), "-e", "stderr", "-c",
              config.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    for (int i = 0; i < 500 && !RawClient(port_).connected(); ++i) {
      std::this_thread::sleep_for(10ms);
    }
  }
  ~Nginx() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Nginx(const Nginx&) = delete;
  Nginx& operator=(const Nginx&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  const testing::TemporaryDirectory directory_;
  const std::uint16_t port_ = free_port();
  pid_t pid_ = 0;
};

std::string answer_through_nginx(std::chrono::milliseconds prefill,
                                 std::chrono::milliseconds keep_alive,
                                 const std::string& settings) {
  const auto ids = chat::shapes::encode(*chat::shapes::load_tokenizer(), "x");
  const auto held = std::make_shared<std::atomic<bool>>(true);
  const TestApi::ScriptFn slow = [ids, held](const engine::GenerateRequest&) {
    engine::Script script;
    script.ids = ids;
    script.held = held;
    return script;
  };
  TestApi api(slow, {.keep_alive_comments = keep_alive});
  const Nginx nginx(nginx_path(), api.server->port(), settings);
  RawClient client(nginx.port());
  EXPECT_TRUE(client.connected());
  client.send(TestApi::request_text(
      R"({"model":"nano","stream":true,"messages":[{"role":"user","content":"a"}]})",
      "/v1/chat/completions"));
  const std::jthread prompt([&] {
    std::this_thread::sleep_for(prefill);
    *held = false;
  });
  return client.read_until("data: [DONE]\n\n", prefill + 5s);
}

TEST(NginxSlow, LongPromptSurvivesWithCommentsOnly) {
  if (nginx_path().empty()) {
    GTEST_SKIP() << "no nginx, see DAYBREAK_NGINX";
  }
  const std::string hasty = "proxy_read_timeout 2s;";
  const std::string without = answer_through_nginx(3s, 0ms, hasty);
  EXPECT_EQ(status_of(without), 504) << without;
  const std::string with = answer_through_nginx(3s, 500ms, hasty);
  EXPECT_EQ(status_of(with), 200) << with;
  EXPECT_TRUE(with.ends_with("data: [DONE]\n\n")) << with;
  EXPECT_NE(with.find(": ping\n\n"), std::string::npos);
}

// The setting of docs/configuration.md against nginx as it is installed: it waits 60 s.
TEST(NginxSlow, NinetySecondsOfPromptSurviveTheDefaultsOfNginx) {
  if (nginx_path().empty()) {
    GTEST_SKIP() << "no nginx, see DAYBREAK_NGINX";
  }
  const std::string answer = answer_through_nginx(90s, 15s, "");
  EXPECT_EQ(status_of(answer), 200) << answer;
  EXPECT_TRUE(answer.ends_with("data: [DONE]\n\n")) << answer;
}

}  // namespace
}  // namespace daybreak::api
