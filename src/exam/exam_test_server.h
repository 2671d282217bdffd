// SPDX-License-Identifier: Apache-2.0
#pragma once

// A server that answers each request as it is told to, broken ways included, and questions for it.
// Test code only.

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
#include <thread>
#include <utility>
#include <vector>

#include "exam/question.h"

namespace daybreak::exam {

// Questions 0, 1, 2 ... that ask "ask N" and want "N" as answer.
inline std::vector<Question> numbered_questions(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    text += R"({"id":")" + n +
            R"(","skill":"s","request":{"messages":[{"role":"user","content":"ask )" + n +
            R"("}]},"expect":{"any":[")" + n + "\"]}}\n";
  }
  auto parsed = parse_questions(text, "f");
  EXPECT_TRUE(parsed);
  return *std::move(parsed);
}

// The N of the question that a request asks.
inline std::string number_asked(const std::string& request) {
  const std::size_t at = request.find("ask ") + 4;
  return request.substr(at, request.find('"', at) - at);
}

// One connection at a time, one request on each.
class TestServer {
 public:
  // Takes a request, head and body, and returns the bytes to send before the connection is closed.
  using Reply = std::function<std::string(const std::string& request)>;

  explicit TestServer(Reply reply) : reply_(std::move(reply)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    // The sockets API takes every address family through this one pointer type.
    auto* const any = reinterpret_cast<sockaddr*>(&address);  // NOLINT
    EXPECT_EQ(::bind(listener_, any, size) + ::listen(listener_, 64), 0);
    EXPECT_EQ(::getsockname(listener_, any, &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~TestServer() {
    ended_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] std::size_t requests() const { return requests_; }

  // The bytes of an answer to a streamed request.
  static std::string stream(const std::string& events) {
    return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" +
           events;
  }
  static std::string says(const std::string& content, const std::string& finish = "stop") {
    return stream(R"(data: {"choices":[{"delta":{"content":")" + content + "\"}}]}\n\n" +
                  R"(data: {"choices":[{"delta":{},"finish_reason":")" + finish + "\"}]}\n\n" +
                  R"(data: {"choices":[],"usage":{"completion_tokens":2}})" +
                  "\n\ndata: [DONE]\n\n");
  }
  static std::string refuses(const std::string& status, const std::string& message) {
    const std::string body = R"({"error":{"message":")" + message + "\"}}";
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\nConnection: close\r\n\r\n" + body;
  }

 private:
  void serve() {
    while (!ended_) {
      const int fd = ::accept(listener_, nullptr, nullptr);
      if (fd < 0) {
        continue;
      }
      ++requests_;
      const std::string bytes = reply_(read_request(fd));
      static_cast<void>(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
      ::close(fd);
    }
  }

  static std::string read_request(int fd) {
    std::string text;
    std::array<char, 4096> piece{};
    for (;;) {
      const std::size_t head = text.find("\r\n\r\n");
      const std::size_t length = text.find("Content-Length: ");
      if (head != text.npos && length != text.npos &&
          text.size() >= head + 4 + std::strtoull(text.c_str() + length + 16, nullptr, 10)) {
        return text;
      }
      const ssize_t got = ::read(fd, piece.data(), piece.size());
      if (got <= 0) {
        return text;
      }
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
  }

  const Reply reply_;
  int listener_ = -1;
  std::string url_;
  std::atomic<bool> ended_{false};
  std::atomic<std::size_t> requests_{0};
  std::thread thread_;
};

}  // namespace daybreak::exam
