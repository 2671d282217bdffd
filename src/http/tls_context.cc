// SPDX-License-Identifier: Apache-2.0
#include "http/tls_context.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <boost/asio/ssl/context.hpp>
#include <filesystem>
#include <string_view>
#include <utility>

namespace daybreak::http {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

namespace {

constexpr std::string_view kAlpn = "http/1.1";
constexpr std::array<unsigned char, 8> kSessionContext = {'d', 'a', 'y', 'b', 'r', 'e', 'a', 'k'};

// Without it OpenSSL would ask for the passphrase on the terminal.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*user*/) { return -1; }

// A client that speaks other protocols only is told so (RFC 7301, 3.2) instead of being answered in
// one that it did not offer.
int select_alpn(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_size,
                const unsigned char* offered, unsigned size, void* /*user*/) {
  for (unsigned at = 0; at < size; at += 1U + offered[at]) {
    const unsigned length = offered[at];
    // The bytes of a name; OpenSSL has checked that the lengths fit.
    const std::string_view name(reinterpret_cast<const char*>(offered) + at + 1, length);  // NOLINT
    if (name == kAlpn) {
      *out = offered + at + 1;
      *out_size = static_cast<unsigned char>(length);
      return SSL_TLSEXT_ERR_OK;
    }
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

Status check_file(std::string_view option, const std::string& path, std::string_view expected) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return Error{Errc::kNotFound,
                 fmt::format("{}: {}: no such file, expected {}", option, path, expected)};
  }
  return ok();
}

Error unusable(std::string_view option, const std::string& path, std::string_view expected,
               const std::string& found) {
  return {Errc::kInvalidArgument,
          fmt::format("{}: {}: expected {}, found: {}", option, path, expected, found)};
}

}  // namespace

TlsContext::TlsContext() : context_(std::make_unique<ssl::context>(ssl::context::tls_server)) {}
TlsContext::~TlsContext() = default;

Result<std::shared_ptr<TlsContext>> TlsContext::load(const TlsFiles& files) {
  std::shared_ptr<TlsContext> out(new TlsContext());  // NOLINT: private constructor
  SSL_CTX* native = out->context_->native_handle();
  ::SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  ::SSL_CTX_set_options(
      native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  ::SSL_CTX_set_alpn_select_cb(native, select_alpn, nullptr);
  ::SSL_CTX_set_default_passwd_cb(native, no_passphrase);
  // Sessions are resumed by tickets, which clients keep; nothing here grows with clients.
  ::SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  ::SSL_CTX_set_session_id_context(native, kSessionContext.data(),
                                   static_cast<unsigned>(kSessionContext.size()));
  DAYBREAK_CHECK_OK(out->read(files));
  out->describe();
  return out;
}

Status TlsContext::read(const TlsFiles& files) {
  constexpr std::string_view kCertificate = "a PEM certificate, followed by its chain";
  constexpr std::string_view kKey = "a PEM private key without a passphrase";
  DAYBREAK_CHECK_OK(check_file("tls_certificate", files.certificate, kCertificate));
  DAYBREAK_CHECK_OK(check_file("tls_key", files.key, kKey));
  error_code error;
  ::ERR_clear_error();
  context_->use_certificate_chain_file(files.certificate, error);
  if (error) {
    return unusable("tls_certificate", files.certificate, kCertificate, error.message());
  }
  // Also compares it with the certificate.
  context_->use_private_key_file(files.key, ssl::context::pem, error);
  if (error) {
    const bool other = ERR_GET_REASON(static_cast<unsigned long>(error.value())) ==
                       X509_R_KEY_VALUES_MISMATCH;  // NOLINT: OpenSSL's type
    return unusable(
        "tls_key", files.key,
        other ? "the private key of the certificate in " + files.certificate : std::string(kKey),
        error.message());
  }
  if (::SSL_CTX_check_private_key(context_->native_handle()) != 1) {
    ::ERR_clear_error();
    return unusable("tls_key", files.key,
                    "the private key of the certificate in " + files.certificate, "another key");
  }
  return files.client_ca.empty() ? ok() : read_client_ca(files.client_ca);
}

Status TlsContext::read_client_ca(const std::string& path) {
  constexpr std::string_view kExpected = "PEM certificates of those who sign clients' certificates";
  DAYBREAK_CHECK_OK(check_file("tls_client_ca", path, kExpected));
  error_code error;
  context_->load_verify_file(path, error);
  // Their names, which a client with several certificates chooses by; freed with the context.
  STACK_OF(X509_NAME)* names = error ? nullptr : ::SSL_load_client_CA_file(path.c_str());
  if (names == nullptr) {
    ::ERR_clear_error();
    return unusable("tls_client_ca", path, kExpected,
                    error ? error.message() : "no name of a certificate");
  }
  ::SSL_CTX_set_client_CA_list(context_->native_handle(), names);
  context_->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, error);
  return ok();
}

void TlsContext::describe() {
  const X509* certificate = ::SSL_CTX_get0_certificate(context_->native_handle());
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  ::X509_digest(certificate, ::EVP_sha256(), digest.data(), &size);
  for (unsigned i = 0; i < size; ++i) {
    fingerprint_ += fmt::format("{:02x}", digest[i]);
  }
  const std::unique_ptr<BIO, decltype(&::BIO_free)> text(::BIO_new(::BIO_s_mem()), ::BIO_free);
  ::ASN1_TIME_print(text.get(), ::X509_get0_notAfter(certificate));
  std::array<char, 64> buffer{};
  const int length = ::BIO_read(text.get(), buffer.data(), static_cast<int>(buffer.size()));
  not_after_.assign(buffer.data(), static_cast<std::size_t>(length > 0 ? length : 0));
}

}  // namespace daybreak::http
