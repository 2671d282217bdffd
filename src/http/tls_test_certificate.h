// SPDX-License-Identifier: Apache-2.0
#pragma once

// Certificates made on the spot, as PEM files in a directory that goes away. Test code only.

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "testing/temporary_directory.h"

namespace daybreak::http {

// A key with its certificate for one name, signed by `issuer`, or by itself if that is null.
class TestCertificate {
 public:
  explicit TestCertificate(const std::string& name, const TestCertificate* issuer = nullptr)
      : key_(::EVP_EC_gen("P-256"), ::EVP_PKEY_free), certificate_(::X509_new(), ::X509_free) {
    static long serial = 0;
    X509* made = certificate_.get();
    ::X509_set_version(made, 2);
    ::ASN1_INTEGER_set(::X509_get_serialNumber(made), ++serial);
    ::X509_gmtime_adj(::X509_getm_notBefore(made), -3600);
    ::X509_gmtime_adj(::X509_getm_notAfter(made), 24L * 3600);
    ::X509_set_pubkey(made, key_.get());
    // The bytes of the name.
    const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());  // NOLINT
    ::X509_NAME_add_entry_by_txt(::X509_get_subject_name(made), "CN", MBSTRING_ASC, text, -1, -1,
                                 0);
    const X509* signer = issuer == nullptr ? made : issuer->certificate_.get();
    ::X509_set_issuer_name(made, ::X509_get_subject_name(signer));
    if (issuer == nullptr) {
      X509_EXTENSION* ca =
          ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE");
      ::X509_add_ext(made, ca, -1);
      ::X509_EXTENSION_free(ca);
    }
    EVP_PKEY* signing = issuer == nullptr ? key_.get() : issuer->key_.get();
    EXPECT_GT(::X509_sign(made, signing, ::EVP_sha256()), 0);
  }

  [[nodiscard]] X509* certificate() const { return certificate_.get(); }
  [[nodiscard]] EVP_PKEY* key() const { return key_.get(); }

  void write_certificate(const std::string& path) const {
    FILE* file = std::fopen(path.c_str(), "w");
    EXPECT_EQ(::PEM_write_X509(file, certificate_.get()), 1);
    EXPECT_EQ(std::fclose(file), 0);
  }
  // Encrypted if `passphrase` is not empty.
  void write_key(const std::string& path, const std::string& passphrase = "") const {
    FILE* file = std::fopen(path.c_str(), "w");
    EXPECT_EQ(::PEM_write_PKCS8PrivateKey(file, key_.get(),
                                          passphrase.empty() ? nullptr : ::EVP_aes_256_cbc(),
                                          passphrase.empty() ? nullptr : passphrase.c_str(),
                                          static_cast<int>(passphrase.size()), nullptr, nullptr),
              1);
    EXPECT_EQ(std::fclose(file), 0);
  }

 private:
  std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key_;
  std::unique_ptr<X509, decltype(&::X509_free)> certificate_;
};

}  // namespace daybreak::http
