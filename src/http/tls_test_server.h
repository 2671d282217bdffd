// SPDX-License-Identifier: Apache-2.0
#pragma once

// A test server behind TLS, with a certificate of its own. Test code only.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "http/http_test_server.h"
#include "http/tls_test_client.h"

namespace daybreak::http {

struct TlsServer {
  // `change` may change the options before the start.
  explicit TlsServer(const std::function<void(ServerOptions&)>& change = nullptr,
                     bool mutual = false) {
    if (mutual) {
      authority.write_certificate(directory.file("ca.pem"));
    }
    options = test_options(observed);
    options.tls = load(TestCertificate("first"), mutual);
    options.on_handshake_failed = [this](std::string_view reason) {
      const std::lock_guard lock(mutex);
      ++failures[std::string(reason)];
    };
    if (change) {
      change(options);
    }
    server = started(options, observed);
  }

  std::shared_ptr<TlsContext> load(const TestCertificate& certificate, bool mutual = false) {
    certificate.write_certificate(directory.file("cert.pem"));
    certificate.write_key(directory.file("key.pem"));
    auto loaded = TlsContext::load({.certificate = directory.file("cert.pem"),
                                    .key = directory.file("key.pem"),
                                    .client_ca = mutual ? directory.file("ca.pem") : ""});
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
    return loaded ? *loaded : nullptr;
  }
  int failed(const std::string& reason) {
    const std::lock_guard lock(mutex);
    return failures[reason];
  }

  Observed observed;
  testing::TemporaryDirectory directory;
  TestCertificate authority{"clients"};
  std::mutex mutex;  // guards failures
  std::map<std::string, int> failures;
  ServerOptions options;
  std::unique_ptr<Server> server;
};

}  // namespace daybreak::http
