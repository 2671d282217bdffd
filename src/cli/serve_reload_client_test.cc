// SPDX-License-Identifier: Apache-2.0
// The program itself: TLS from its options, and what a reload changes while it serves.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "access/key_store.h"
#include "access/usage_rows.h"
#include "cli/serve_child.h"
#include "http/tls_test_client.h"
#include "testing/raw_client.h"

namespace daybreak::cli {
namespace {

using http::TestCertificate;
using http::TlsClient;
using testing::status_of;
using testing::TemporaryDirectory;

constexpr std::string_view kHealth = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

struct Files {
  Files() { put(TestCertificate("first")); }
  void put(const TestCertificate& certificate) const {
    certificate.write_certificate(directory.file("cert.pem"));
    certificate.write_key(directory.file("key.pem"));
  }
  [[nodiscard]] std::string yaml(const std::string& more) const {
    return "tls_certificate: " + directory.file("cert.pem") +
           "\ntls_key: " + directory.file("key.pem") + "\n" + more;
  }
  [[nodiscard]] std::vector<std::string> arguments(const std::string& more) const {
    return serve({"--config", directory.write("config.yaml", yaml(more))});
  }

  TemporaryDirectory directory;
};

TEST(ServeReloadClient, CertificatesNamesAndLimitsChangeUnderLoad) {
  const Files files;
  Child child(files.arguments("served_model_name: nano\n"));
  const std::uint16_t port = port_of(child.read_line());
  std::atomic<bool> done{false};
  std::atomic<int> answered{0};
  std::atomic<int> wrong{0};
  std::thread load([&] {
    while (!done) {
      TlsClient client(port);
      for (int i = 0; i < 3; ++i) {
        client.send(kHealth);
        ++(status_of(client.read_response()) == 200 ? answered : wrong);
      }
    }
  });
  // How many there are by then is a matter of the machine's load.
  const auto wait_for_answers = [&](int more) {
    for (const int before = answered; answered < before + more && wrong == 0;) {
      std::this_thread::yield();
    }
  };
  wait_for_answers(1);
  EXPECT_EQ(TlsClient(port).server_name(), "first");
  TlsClient open(port);
  // By itself, within the time between two looks.
  files.put(TestCertificate("second"));
  EXPECT_NE(child.read_error_line(" reload").find("cause=file"), std::string::npos);
  child.signal(SIGHUP);
  EXPECT_NE(child.read_error_line("cause=SIGHUP").find(" reloaded "), std::string::npos);
  EXPECT_EQ(TlsClient(port).server_name(), "second");
  files.directory.write("config.yaml",
                        files.yaml("served_model_name: [nano, k3]\nlog_level: warning\n"
                                   "max_header_bytes: 300\nworkers: 3\n"));
  child.signal(SIGHUP);
  const std::string line = child.read_error_line("needs_restart=workers");
  EXPECT_NE(line.find("changed=served_model_name,max_header_bytes,log_level "), std::string::npos)
      << line;
  TlsClient client(port);
  client.send("GET /v1/models/k3 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(status_of(client.read_response()), 200);
  client.send("GET /" + std::string(400, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(status_of(client.read_response()), 404);
  open.send(kHealth);
  EXPECT_EQ(status_of(open.read_response()), 200);
  wait_for_answers(10);
  done = true;
  load.join();
  EXPECT_EQ(wrong, 0);
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
}

TEST(ServeReloadClient, BadReloadKeepsWhatWas) {
  const Files files;
  Child child(files.arguments("served_model_name: nano\n"));
  const std::uint16_t port = port_of(child.read_line());
  for (const std::string& bad :
       {files.yaml("served_model_name: other\n"), std::string("log_level: info\n"),
        files.yaml("tls_client_ca: /no/such\n"), files.yaml("port: x\n")}) {
    files.directory.write("config.yaml", bad);
    child.signal(SIGHUP);
    EXPECT_NE(child.read_error_line("cause=SIGHUP").find("reload failed, nothing changed"),
              std::string::npos)
        << bad;
  }
  TestCertificate("other").write_certificate(files.directory.file("cert.pem"));
  files.directory.write("config.yaml", files.yaml("served_model_name: nano\n"));
  child.signal(SIGHUP);
  const std::string line = child.read_error_line("tls_key: ");
  EXPECT_NE(line.find("key.pem"), std::string::npos) << line;
  EXPECT_EQ(TlsClient(port).server_name(), "first");
}

TEST(ServeReloadClient, BadTlsOptionsAreNamedAtTheStart) {
  const Files files;
  const std::string cert = files.directory.file("cert.pem");
  for (const auto& [more, says] : {std::pair<std::vector<std::string>, std::string>{
                                       {"--tls-certificate", cert}, "expected both or none"},
                                   {{"--tls-key", cert}, "expected both or none"},
                                   {{"--tls-client-ca", cert}, "expected tls_certificate"},
                                   {{"--tls-certificate", cert, "--tls-key", cert}, cert},
                                   {{"--tls-certificate", cert, "--tls-key", "/no"}, "/no"}}) {
    Child child(serve(more));
    const std::string errors = child.read_errors();
    EXPECT_NE(errors.find(says), std::string::npos) << errors;
    EXPECT_EQ(child.wait(), 2);
  }
}

TEST(ServeReloadClient, KeysAreLookedAtHoweverManySignalsCome) {
  const TemporaryDirectory directory;
  const std::string db = directory.file("access.db");
  const auto store = *access::KeyStore::open(
      {.database = db, .pepper = {}, .missing = access::Database::Missing::kCreate});
  Child child(serve({"--access-db", db}));
  port_of(child.read_line());
  std::atomic<int> sent{0};
  // Until the line has been read, or has not come for so long that it never will.
  std::jthread signals([&](const std::stop_token& enough) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!enough.stop_requested() && std::chrono::steady_clock::now() < end) {
      child.signal(SIGHUP);
      ++sent;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (!enough.stop_requested()) {
      ADD_FAILURE() << "keys were not looked at between the signals of two minutes";
      child.signal(SIGKILL);  // whoever reads its lines waits for one
    }
  });
  while (sent < 10) {
    std::this_thread::yield();
  }
  access::KeySettings settings;
  settings.name = "test";
  settings.scopes.add(access::Scope::kInference);
  ASSERT_TRUE(store->create(settings));
  EXPECT_NE(child.read_error_line("keys reloaded"), "");
}

TEST(ServeReloadClient, PricesAreTakenOverAndBadOnesAreNot) {
  const TemporaryDirectory directory;
  const std::string db = directory.file("access.db");
  access::KeySettings settings;
  settings.name = "test";
  settings.scopes.add(access::Scope::kInference);
  const std::string key =
      (*access::KeyStore::open(
           {.database = db, .pepper = {}, .missing = access::Database::Missing::kCreate}))
          ->create(settings)
          ->text;
  const auto price = [&](const std::string& model, const std::string& usd) {
    return directory.write("prices.yaml", "usd_per_million_tokens:\n  " + model + ": {prompt: " +
                                              usd + ", cached: 0, completion: " + usd + "}\n");
  };
  const std::string prices = price("nano", "1");
  Child child(serve({"--access-db", db, "--prices", prices, "--served-model-name", "nano"}));
  const std::uint16_t port = port_of(child.read_line());
  // Returns what a token of a request made now costs, in micro-dollars.
  const auto token_cost = [&]() -> std::int64_t {
    const std::string body = R"({"prompt":"abc","max_tokens":1})";
    testing::RawClient client(port);
    client.send("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key +
                "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    EXPECT_EQ(status_of(client.read_response()), 200);
    access::Database database =
        *access::open_access_database(db, access::Database::Missing::kRefuse);
    access::Usage last;
    EXPECT_TRUE(access::scan_usage(database, {}, [&](const access::Usage& usage) {
      last = usage;
      return ok();
    }));
    return last.cost_micro_usd / last.tokens.total();
  };
  EXPECT_EQ(token_cost(), 1);
  for (const auto& [model, usd] : {std::pair{"nano", "many"}, {"other", "2"}}) {
    price(model, usd);
    const std::string line = child.read_error_line("cause=file");
    EXPECT_NE(line.find("reload failed, nothing changed"), std::string::npos) << line;
    EXPECT_NE(line.find("prices"), std::string::npos) << line;
    EXPECT_EQ(token_cost(), 1);
  }
  price("nano", "7");
  EXPECT_NE(child.read_error_line("cause=file").find(" reloaded "), std::string::npos);
  EXPECT_EQ(token_cost(), 7);
}

}  // namespace
}  // namespace daybreak::cli
