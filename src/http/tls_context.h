// SPDX-License-Identifier: Apache-2.0
#pragma once

// TlsContext: a certificate with its key, ready to serve connections with. Immutable: a renewed
// certificate is a new object, and connections keep the one they began with.

#include <memory>
#include <string>

#include "base/result.h"

namespace boost::asio::ssl {
class context;
}  // namespace boost::asio::ssl

namespace daybreak::http {

// PEM files. An encrypted key is refused: nobody is there to type its passphrase.
struct TlsFiles {
  std::string certificate;  // the server's, then the chain up to a root
  std::string key;          // of the first certificate
  std::string client_ca;    // empty: clients need no certificate
};

class TlsContext {
 public:
  // Reads the files: TLS 1.2 and later, ALPN "http/1.1", no renegotiation.
  // Errors: kNotFound (no such file), kInvalidArgument naming the option, the file and what was
  // expected of it.
  [[nodiscard]] static Result<std::shared_ptr<TlsContext>> load(const TlsFiles& files);

  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // For new connections; each keeps what it needs by itself.
  [[nodiscard]] boost::asio::ssl::context& context() const { return *context_; }
  // SHA-256 of the server's certificate, 64 hexadecimal digits.
  [[nodiscard]] const std::string& fingerprint() const { return fingerprint_; }
  // Last moment of the server's certificate, such as "Nov 30 12:00:00 2026 GMT".
  [[nodiscard]] const std::string& not_after() const { return not_after_; }

 private:
  TlsContext();

  Status read(const TlsFiles& files);
  Status read_client_ca(const std::string& path);
  void describe();

  std::unique_ptr<boost::asio::ssl::context> context_;
  std::string fingerprint_;
  std::string not_after_;
};

}  // namespace daybreak::http
