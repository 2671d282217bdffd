// SPDX-License-Identifier: Apache-2.0
#pragma once

// RawClient: a blocking TCP client that sends exactly the bytes it is told to, for tests of
// servers. Test code only.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace daybreak::testing {

class RawClient {
 public:
  explicit RawClient(std::uint16_t port, int receive_buffer = 0,
                     std::uint32_t ipv4 = INADDR_LOOPBACK) {
    fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
    if (receive_buffer > 0) {
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(ipv4);
    // The sockets API takes every address family through this one pointer type.
    connected_ =
        ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;  // NOLINT
  }
  ~RawClient() { close(); }
  RawClient(RawClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_), buffer_(other.buffer_) {}
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  RawClient& operator=(RawClient&&) = delete;

  [[nodiscard]] bool connected() const { return connected_; }

  // Returns whether everything was taken by the kernel.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Sends until everything is taken or the peer takes nothing for `patience`; returns how much was.
  std::size_t send_some(std::string_view bytes, std::chrono::milliseconds patience) {
    std::size_t total = 0;
    pollfd poll{.fd = fd_, .events = POLLOUT, .revents = 0};
    while (total < bytes.size() && ::poll(&poll, 1, static_cast<int>(patience.count())) > 0) {
      const ssize_t sent =
          ::send(fd_, bytes.data() + total, bytes.size() - total, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) {
        break;
      }
      total += static_cast<std::size_t>(sent);
    }
    return total;
  }

  // Reads until `mark` has arrived, the peer closes or time is up; returns everything up to and
  // including the mark, and keeps the rest.
  std::string read_until(std::string_view mark, std::chrono::milliseconds patience = kPatience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (buffer_.find(mark) == std::string::npos && fill(end)) {
    }
    const std::size_t at = buffer_.find(mark);
    const std::size_t size = at == std::string::npos ? buffer_.size() : at + mark.size();
    std::string out = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return out;
  }

  // Reads one response with a Content-Length (or without a body).
  std::string read_response(std::chrono::milliseconds patience = kPatience) {
    std::string out = read_until("\r\n\r\n", patience);
    const std::size_t at = out.find("Content-Length: ");
    if (at == std::string::npos) {
      return out;
    }
    const std::size_t length = std::strtoull(out.c_str() + at + 16, nullptr, 10);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (buffer_.size() < length && fill(end)) {
    }
    out += buffer_.substr(0, length);
    buffer_.erase(0, length);
    return out;
  }

  // Reads until the peer closes or time is up.
  std::string read_all(std::chrono::milliseconds patience = kPatience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (fill(end)) {
    }
    return std::exchange(buffer_, {});
  }

  // Returns whether the peer has closed in an orderly way (end of stream, no reset), within time.
  bool closed_by_peer(std::chrono::milliseconds patience = kPatience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (fill(end)) {
    }
    return ended_;
  }
  [[nodiscard]] bool reset() const { return reset_; }

  void close() {
    if (fd_ >= 0) {
      ::close(std::exchange(fd_, -1));
    }
  }

  // Leaves like a client that crashed: what is on its way is thrown away (RST).
  void close_with_reset() {
    const linger now{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

  static constexpr std::chrono::milliseconds kPatience{20'000};

 private:
  bool fill(std::chrono::steady_clock::time_point end) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd poll{.fd = fd_, .events = POLLIN, .revents = 0};
    if (ended_ || reset_ || left.count() <= 0 ||
        ::poll(&poll, 1, static_cast<int>(left.count())) <= 0) {
      return false;
    }
    std::array<char, 16384> piece{};
    const ssize_t got = ::recv(fd_, piece.data(), piece.size(), 0);
    ended_ = got == 0;
    reset_ = got < 0;
    if (got > 0) {
      buffer_.append(piece.data(), static_cast<std::size_t>(got));
    }
    return got > 0;
  }

  int fd_ = -1;
  bool connected_ = false;
  bool ended_ = false;
  bool reset_ = false;
  std::string buffer_;
};

// Returns the status of a response's text, or 0.
inline int status_of(std::string_view response) {
  return response.starts_with("HTTP/1.1 ") ? std::atoi(std::string(response.substr(9, 3)).c_str())
                                           : 0;
}

inline std::string body_of(const std::string& response) {
  const std::size_t at = response.find("\r\n\r\n");
  return at == std::string::npos ? "" : response.substr(at + 4);
}

}  // namespace daybreak::testing
