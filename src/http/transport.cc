// SPDX-License-Identifier: Apache-2.0
#include "http/transport.h"

#include <openssl/err.h>
#include <openssl/sslerr.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

namespace daybreak::http {

boost::system::error_code plain_http() {
  return {static_cast<int>(ERR_PACK(ERR_LIB_SSL, 0, SSL_R_HTTP_REQUEST)),
          boost::asio::error::get_ssl_category()};
}

std::string_view handshake_failure(const boost::system::error_code& error) {
  if (error.category() != boost::asio::error::get_ssl_category()) {
    return "closed";  // an error of the socket, or its end in the middle
  }
  switch (ERR_GET_REASON(static_cast<unsigned long>(error.value()))) {  // NOLINT: OpenSSL's type
    case SSL_R_HTTP_REQUEST:
      return "plain_http";
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      return "client_certificate";
    default:
      return "protocol";
  }
}

}  // namespace daybreak::http
