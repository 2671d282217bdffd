// SPDX-License-Identifier: Apache-2.0
#pragma once

// TlsClient: a blocking client that speaks TLS by OpenSSL itself. Test code only.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "http/tls_test_certificate.h"

namespace daybreak::http {

struct TlsClientOptions {
  const TestCertificate* own = nullptr;  // what the client shows
  std::string alpn = {};                 // one name to offer
  int max_version = 0;                   // such as TLS1_1_VERSION
};

class TlsClient {
 public:
  explicit TlsClient(std::uint16_t port, const TlsClientOptions& options = {})
      : context_(::SSL_CTX_new(::TLS_client_method()), ::SSL_CTX_free), ssl_(nullptr, ::SSL_free) {
    // Also lets this client offer versions that the server must refuse.
    ::SSL_CTX_set_security_level(context_.get(), 0);
    ::SSL_CTX_set_max_proto_version(context_.get(), options.max_version);
    if (options.own != nullptr) {
      ::SSL_CTX_use_certificate(context_.get(), options.own->certificate());
      ::SSL_CTX_use_PrivateKey(context_.get(), options.own->key());
    }
    ssl_.reset(::SSL_new(context_.get()));
    if (!options.alpn.empty()) {
      std::string wire(1, static_cast<char>(options.alpn.size()));
      wire += options.alpn;
      // The bytes of the list.
      const auto* bytes = reinterpret_cast<const unsigned char*>(wire.data());  // NOLINT
      ::SSL_set_alpn_protos(ssl_.get(), bytes, static_cast<unsigned>(wire.size()));
    }
    fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // The sockets API takes every address family through this one pointer type.
    const auto* any = reinterpret_cast<const sockaddr*>(&address);  // NOLINT
    ::SSL_set_fd(ssl_.get(), fd_);
    connected_ = ::connect(fd_, any, sizeof address) == 0 && ::SSL_connect(ssl_.get()) == 1;
  }
  ~TlsClient() { close(); }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  // The handshake has succeeded, as far as this side can know: with TLS 1.3 a refused certificate
  // of the client shows on the first read.
  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] std::string alpn() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    ::SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return {name, name + size};
  }
  [[nodiscard]] std::string version() const { return ::SSL_get_version(ssl_.get()); }
  // Common name of the server's certificate.
  [[nodiscard]] std::string server_name() const {
    const std::unique_ptr<X509, decltype(&::X509_free)> peer(
        ::SSL_get1_peer_certificate(ssl_.get()), ::X509_free);
    std::array<char, 64> name{};
    if (peer == nullptr || ::X509_NAME_get_text_by_NID(::X509_get_subject_name(peer.get()),
                                                       NID_commonName, name.data(), 64) < 0) {
      return "";
    }
    return name.data();
  }

  bool send(std::string_view bytes) {
    return ::SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) ==
           static_cast<int>(bytes.size());
  }
  std::string read_until(std::string_view mark) {
    while (buffer_.find(mark) == std::string::npos && fill()) {
    }
    const std::size_t at = buffer_.find(mark);
    const std::size_t size = at == std::string::npos ? buffer_.size() : at + mark.size();
    std::string out = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return out;
  }
  // Reads one response with a Content-Length.
  std::string read_response() {
    std::string out = read_until("\r\n\r\n");
    const std::size_t at = out.find("Content-Length: ");
    const std::size_t length =
        at == std::string::npos ? 0 : std::strtoull(out.c_str() + at + 16, nullptr, 10);
    while (buffer_.size() < length && fill()) {
    }
    out += buffer_.substr(0, length);
    buffer_.erase(0, std::min(length, buffer_.size()));
    return out;
  }
  std::string read_all() {
    while (fill()) {
    }
    return std::exchange(buffer_, {});
  }
  // Reads to the end; returns whether the server announced it (close_notify).
  bool closed_by_peer() {
    read_all();
    return announced_;
  }
  void close() {
    if (fd_ >= 0) {
      ::close(std::exchange(fd_, -1));
    }
  }

 private:
  bool fill() {
    std::array<char, 16384> piece{};
    ::ERR_clear_error();
    const int got = ::SSL_read(ssl_.get(), piece.data(), static_cast<int>(piece.size()));
    if (got <= 0) {
      announced_ = ::SSL_get_error(ssl_.get(), got) == SSL_ERROR_ZERO_RETURN;
      return false;
    }
    buffer_.append(piece.data(), static_cast<std::size_t>(got));
    return true;
  }

  std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&::SSL_free)> ssl_;
  int fd_ = -1;
  bool connected_ = false;
  bool announced_ = false;
  std::string buffer_;
};

}  // namespace daybreak::http
