// SPDX-License-Identifier: Apache-2.0
#include "cli/stream_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <system_error>
#include <utility>

#include "cli/stream_reader.h"

namespace daybreak::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;
using SslContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

std::string request_text(std::size_t seed, std::size_t tokens) {
  const std::string body = fmt::format(
      R"({{"model":"scripted","stream":true,"seed":{},"max_tokens":{},"thinking":{{"type":"disabled"}},)"
      R"("messages":[{{"role":"user","content":"Say letters."}}]}})",
      seed, tokens);
  return fmt::format(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\n\r\n{}",
      body.size(), body);
}

// One connection: plain or TLS, blocking until calm() is called.
class Connection {
 public:
  Connection() = default;
  ~Connection() {
    SSL_free(ssl_);
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  Connection(Connection&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), ssl_(std::exchange(other.ssl_, nullptr)) {}
  Connection& operator=(Connection&&) = delete;

  static Result<Connection> open(std::uint16_t port, SSL_CTX* tls) {
    Connection made;
    made.fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // The sockets API takes every address family through this one pointer type.
    const auto* any = reinterpret_cast<const sockaddr*>(&address);  // NOLINT
    if (made.fd_ < 0 || ::connect(made.fd_, any, sizeof address) != 0) {
      return Error{Errc::kIo, "cannot connect: " + std::generic_category().message(errno)};
    }
    const int on = 1;
    ::setsockopt(made.fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (tls != nullptr) {
      made.ssl_ = SSL_new(tls);
      SSL_set_fd(made.ssl_, made.fd_);
      if (SSL_connect(made.ssl_) != 1) {
        return Error{Errc::kIo, "the TLS handshake failed"};
      }
    }
    ::fcntl(made.fd_, F_SETFL, O_NONBLOCK);
    return made;
  }

  // A request is far smaller than an empty send buffer.
  Status send(std::string_view text) {
    const auto size = static_cast<int>(text.size());
    const auto sent = ssl_ != nullptr ? SSL_write(ssl_, text.data(), size)
                                      : ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
    return sent == size ? ok() : Status(Error{Errc::kIo, "a request could not be sent at once"});
  }

  // Returns the bytes read: 0 at the end, -1 when there is nothing now.
  std::ptrdiff_t read(std::span<char> into) {
    if (ssl_ == nullptr) {
      const auto got = ::recv(fd_, into.data(), into.size(), 0);
      return got < 0 && errno != EAGAIN ? 0 : got;
    }
    const int got = SSL_read(ssl_, into.data(), static_cast<int>(into.size()));
    return got > 0 ? got : (SSL_get_error(ssl_, got) == SSL_ERROR_WANT_READ ? -1 : 0);
  }

  [[nodiscard]] int descriptor() const { return fd_; }

 private:
  int fd_ = -1;
  SSL* ssl_ = nullptr;
};

struct Stream {
  Connection connection;
  StreamReader reader;
};

class Run {
 public:
  explicit Run(const StreamClientOptions& options)
      : options_(options), tls_(nullptr, &SSL_CTX_free), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    result_.added_ns.reserve(options.streams * options.tokens);
  }
  ~Run() { ::close(epoll_); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Status connect() {
    if (options_.tls) {
      tls_.reset(SSL_CTX_new(TLS_client_method()));
    }
    for (std::size_t i = 0; i < options_.streams; ++i) {
      DAYBREAK_TRY(Connection connection, Connection::open(options_.port, tls_.get()));
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = i;
      ::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.descriptor(), &event);
      streams_.push_back({std::move(connection), StreamReader(i, options_.tokens)});
    }
    return ok();
  }

  Status talk() {
    const auto begin = SteadyClock::now();
    std::size_t sent = 0;
    heard_ = begin;
    while (ended_ < streams_.size()) {
      const auto now = SteadyClock::now();
      while (sent < streams_.size() && now >= begin + options_.ramp * sent / streams_.size()) {
        DAYBREAK_CHECK_OK(streams_[sent].connection.send(request_text(sent, options_.tokens)));
        ++sent;
      }
      if (now - heard_ > options_.patience) {
        return Error{Errc::kIo, fmt::format("nothing came for {} ms, {} of {} streams had ended",
                                            options_.patience.count(), ended_, streams_.size())};
      }
      wait(sent < streams_.size() ? 1 : 100);
    }
    return ok();
  }

  StreamClientResult finish() {
    for (const Stream& stream : streams_) {
      const std::string fault = stream.reader.fault();
      result_.complete += fault.empty() ? 1 : 0;
      if (result_.first_fault.empty()) {
        result_.first_fault = fault;
      }
    }
    return std::move(result_);
  }

 private:
  void wait(int milliseconds) {
    std::array<epoll_event, 256> events{};
    const int count =
        ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), milliseconds);
    for (int i = 0; i < count; ++i) {
      read(events[static_cast<std::size_t>(i)].data.u64);
    }
    if (count > 0) {
      heard_ = SteadyClock::now();
      if (options_.progress) {
        options_.progress(result_.tokens);
      }
    }
  }

  void read(std::size_t index) {
    Stream& stream = streams_[index];
    for (;;) {
      const std::ptrdiff_t got = stream.connection.read(buffer_);
      if (got < 0) {
        return;
      }
      const std::int64_t now = SteadyClock::now().time_since_epoch().count();
      result_.bytes += static_cast<std::size_t>(got);
      const std::size_t before = stream.reader.received();
      const std::size_t tokens =
          stream.reader.take(std::string_view(buffer_.data(), static_cast<std::size_t>(got)));
      result_.tokens += tokens;
      for (std::size_t i = before; i < before + tokens; ++i) {
        const std::int64_t left =
            options_.stamps[index * options_.tokens + i].load(std::memory_order_acquire);
        result_.added_ns.push_back(static_cast<std::uint64_t>(now - left));
      }
      if (got == 0 || stream.reader.ended()) {
        ++ended_;
        ::epoll_ctl(epoll_, EPOLL_CTL_DEL, stream.connection.descriptor(), nullptr);
        return;
      }
    }
  }

  const StreamClientOptions& options_;
  SslContext tls_;
  const int epoll_;
  std::vector<Stream> streams_;
  std::array<char, 16'384> buffer_{};
  StreamClientResult result_;
  SteadyClock::time_point heard_;
  std::size_t ended_ = 0;
};

}  // namespace

Result<StreamClientResult> run_streams(const StreamClientOptions& options) {
  Run run(options);
  DAYBREAK_CHECK_OK(run.connect());
  DAYBREAK_CHECK_OK(run.talk());
  return run.finish();
}

}  // namespace daybreak::cli
