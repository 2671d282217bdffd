// SPDX-License-Identifier: Apache-2.0
#pragma once

// Transport: the bytes of one connection, plain or through TLS; private to the server. Everything
// runs on the socket's strand; one read and one write may be under way at once.

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string_view>
#include <utility>

#include "http/exchange.h"
#include "http/tls_context.h"

namespace daybreak::http {

// The error of a handshake that was none.
[[nodiscard]] boost::system::error_code plain_http();

class Transport {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  // `tls` may be null: plain. It need not outlive the transport.
  Transport(Socket socket, const TlsContext* tls) : socket_(std::move(socket)) {
    if (tls != nullptr) {
      tls_ = std::make_unique<Tls>(socket_, tls->context());
    }
  }

  [[nodiscard]] bool secure() const { return tls_ != nullptr; }
  Socket& socket() { return socket_; }
  boost::asio::any_io_executor executor() { return socket_.get_executor(); }

  // Returns plain_http() for a client whose first byte is that of an HTTP method, for no handshake
  // begins with a letter: nothing has been read of it, and the transport is plain from then on.
  // REQUIRES: secure().
  Task<boost::system::error_code> handshake() {
    char first = '\0';
    // Its errors count: the end of a stream is not reported a second time.
    const auto [closed, count] =
        co_await socket_.async_receive(boost::asio::buffer(&first, 1), Socket::message_peek,
                                       boost::asio::as_tuple(boost::asio::use_awaitable));
    if (closed) {
      co_return closed;
    }
    if (first >= 'A' && first <= 'Z') {
      tls_.reset();
      co_return plain_http();
    }
    const auto [error] = co_await tls_->async_handshake(
        Tls::server, boost::asio::as_tuple(boost::asio::use_awaitable));
    co_return error;
  }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return tls_ ? tls_->async_read_some(buffers, std::forward<Token>(token))
                : socket_.async_read_some(buffers, std::forward<Token>(token));
  }
  // Writes all of `buffers`.
  template <class Buffers, class Token>
  auto async_write(const Buffers& buffers, Token&& token) {
    return tls_ ? boost::asio::async_write(*tls_, buffers, std::forward<Token>(token))
                : boost::asio::async_write(socket_, buffers, std::forward<Token>(token));
  }

  // Tells the client that nothing more comes, without waiting for its answer. No write is under
  // way.
  Task<void> finish() {
    if (tls_ && ::SSL_is_init_finished(tls_->native_handle()) == 1) {
      // As if the client had ended its side already: only our notice is sent.
      ::SSL_set_shutdown(tls_->native_handle(), SSL_RECEIVED_SHUTDOWN);
      co_await tls_->async_shutdown(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    boost::system::error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
  }

 private:
  using Tls = boost::asio::ssl::stream<Socket&>;

  Socket socket_;
  std::unique_ptr<Tls> tls_;  // null: plain
};

// Why a handshake failed, one of a fixed set: "plain_http", "client_certificate", "closed",
// "protocol".
[[nodiscard]] std::string_view handshake_failure(const boost::system::error_code& error);

}  // namespace daybreak::http
