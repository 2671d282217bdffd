// SPDX-License-Identifier: Apache-2.0
#pragma once

// A server that answers each request as it is told to, many at once, broken ways included. Test
// code only.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace daybreak::loadgen {

// A thread for each connection, one request on each.
class TestServer {
 public:
  // Takes a request's body and sends what it wants to, piece by piece; the connection is closed
  // when it returns.
  using Send = std::function<void(std::string_view)>;
  using Reply = std::function<void(const std::string& body, const Send& send)>;

  explicit TestServer(Reply reply) : reply_(std::move(reply)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    // The sockets API takes every address family through this one pointer type.
    auto* const any = reinterpret_cast<sockaddr*>(&address);  // NOLINT
    EXPECT_EQ(::bind(listener_, any, size) + ::listen(listener_, 256), 0);
    EXPECT_EQ(::getsockname(listener_, any, &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { accept_all(); });
  }
  ~TestServer() {
    ended_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    for (std::thread& each : connections_) {
      each.join();
    }
    ::close(listener_);
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] std::size_t requests() const { return requests_; }

  static std::string head() {
    return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
  }
  static std::string piece(std::string_view text) {
    return R"(data: {"choices":[{"delta":{"content":")" + std::string(text) + "\"}}]}\n\n";
  }
  static std::string finish() {
    return "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n";
  }
  static std::string usage(std::size_t prompt, std::size_t completion, std::size_t cached) {
    return R"(data: {"choices":[],"usage":{"prompt_tokens":)" + std::to_string(prompt) +
           R"(,"completion_tokens":)" + std::to_string(completion) +
           R"(,"prompt_tokens_details":{"cached_tokens":)" + std::to_string(cached) + "}}}\n\n" +
           "data: [DONE]\n\n";
  }
  static std::string refuses(std::string_view status, std::string_view message) {
    const std::string body = R"({"error":{"message":")" + std::string(message) + "\"}}";
    return "HTTP/1.1 " + std::string(status) +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
           body;
  }

 private:
  void accept_all() {
    while (!ended_) {
      const int fd = ::accept(listener_, nullptr, nullptr);
      if (fd < 0) {
        continue;
      }
      ++requests_;
      connections_.emplace_back([this, fd] {
        const std::string body = read_body(fd);
        reply_(body, [fd](std::string_view bytes) {
          static_cast<void>(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
        });
        ::close(fd);
      });
    }
  }

  static std::string read_body(int fd) {
    std::string text;
    std::array<char, 4096> some{};
    for (;;) {
      const std::size_t head = text.find("\r\n\r\n");
      const std::size_t length = text.find("Content-Length: ");
      if (head != text.npos && length != text.npos &&
          text.size() >= head + 4 + std::strtoull(text.c_str() + length + 16, nullptr, 10)) {
        return text.substr(head + 4);
      }
      const ssize_t got = ::read(fd, some.data(), some.size());
      if (got <= 0) {
        return text;
      }
      text.append(some.data(), static_cast<std::size_t>(got));
    }
  }

  const Reply reply_;
  int listener_ = -1;
  std::string url_;
  std::atomic<bool> ended_{false};
  std::atomic<std::size_t> requests_{0};
  std::vector<std::thread> connections_;  // of the accepting thread, then of the destructor
  std::thread thread_;
};

}  // namespace daybreak::loadgen
