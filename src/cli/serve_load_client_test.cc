// SPDX-License-Identifier: Apache-2.0
// `daybreak serve` that is killed, or told to stop, while it answers many.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cli/serve_child.h"
#include "testing/raw_client.h"
#include "testing/temporary_directory.h"

namespace daybreak::cli {
namespace {

using testing::RawClient;

constexpr int kClients = 6;

std::string request(const std::string& id, const std::string& key, const std::string& more) {
  const std::string body =
      R"({"model":"nano","messages":[{"role":"user","content":"hi"}],"ignore_eos":true)" + more +
      "}";
  return "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nx-request-id: " + id +
         "\r\nAuthorization: Bearer " + key + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::string make_key(const std::string& db) {
  Child child({binary(), "keys", "create", "--db", db, "--name", "a"});
  std::string key = child.read_line();
  EXPECT_EQ(child.wait(), 0);
  return key;
}

// Entries of the ledger by the id that the client gave.
std::map<std::string, int> entries(const std::string& db) {
  Child child({binary(), "usage", "--db", db, "--entries", "--json"});
  std::map<std::string, int> out;
  for (std::string line = child.read_line(); !line.empty(); line = child.read_line()) {
    const std::string id = nlohmann::json::parse(line).at("request_id");
    ++out[id.substr(0, id.rfind('-'))];
  }
  EXPECT_EQ(child.wait(), 0);
  return out;
}

// Clients that ask one thing after the other, until they get no more answers.
class Askers {
 public:
  Askers(std::uint16_t port, const std::string& key, const std::string& name) {
    for (int i = 0; i < kClients; ++i) {
      threads_.emplace_back([=, this] { ask(port, key, name + "." + std::to_string(i)); });
    }
  }
  // REQUIRES: the server is gone.
  ~Askers() { join(); }
  Askers(const Askers&) = delete;
  Askers& operator=(const Askers&) = delete;

  void wait_for(std::size_t answers) const {
    while (ended_ < answers && running_ > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void join() {
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
  }
  // Ids of the answers whose end was seen. REQUIRES: join().
  [[nodiscard]] const std::set<std::string>& seen() const { return seen_; }

 private:
  void ask(std::uint16_t port, const std::string& key, const std::string& name) {
    for (int i = 0;; ++i) {
      const std::string id = name + "." + std::to_string(i);
      const bool streams = i % 2 == 0;
      RawClient client(port);
      client.send(
          request(id, key, streams ? R"(,"max_tokens":3,"stream":true)" : R"(,"max_tokens":3)"));
      const std::string reply =
          streams ? client.read_until("data: [DONE]\n\n") : client.read_response();
      const bool whole = streams ? reply.ends_with("data: [DONE]\n\n") : reply.ends_with("}");
      if (!whole) {
        --running_;
        return;
      }
      EXPECT_EQ(testing::status_of(reply), 200) << reply;
      const std::lock_guard lock(mutex_);
      seen_.insert(id);
      ++ended_;
    }
  }

  std::mutex mutex_;
  std::set<std::string> seen_;
  std::atomic<std::size_t> ended_{0};
  std::atomic<int> running_{kClients};
  std::vector<std::thread> threads_;
};

TEST(ServeLoadClient, WhatAClientSawTheEndOfIsInTheLedgerAfterAKill) {
  const testing::TemporaryDirectory directory;
  const std::string db = directory.file("access.db");
  const std::string key = make_key(db);
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    const std::size_t before = entries(db).size();
    Child child(serve({"--access-db", db}));
    Askers askers(port_of(child.read_line()), key, std::to_string(round));
    askers.wait_for(20);
    child.signal(SIGKILL);
    EXPECT_EQ(child.wait(), 128 + SIGKILL);
    askers.join();
    ASSERT_GE(askers.seen().size(), 20U);
    const std::map<std::string, int> found = entries(db);
    for (const std::string& id : askers.seen()) {
      ASSERT_TRUE(found.contains(id)) << id << " was answered and is not in the ledger";
      EXPECT_EQ(found.at(id), 1) << id;
    }
    // More are there only of answers that were under way, one per client.
    EXPECT_LE(found.size(), before + askers.seen().size() + kClients);
  }
}

// The end of a stream: complete, or told why not, and in both cases ended by the chunked coding.
void expect_told(const std::string& text) {
  const std::string tail = text.substr(text.size() - std::min<std::size_t>(text.size(), 600));
  const bool complete = text.find("data: [DONE]\n\n") != std::string::npos;
  const bool told = text.find("shutting down") != std::string::npos;
  EXPECT_NE(complete, told) << tail;
  if (testing::status_of(text) == 200) {
    EXPECT_TRUE(text.ends_with("\r\n0\r\n\r\n")) << tail;
  } else {
    EXPECT_EQ(testing::status_of(text), 503) << tail;
  }
}

TEST(ServeLoadClient, TerminationEndsEveryStreamWithItsEndOrWithWhatHappened) {
  Child child(serve({"--drain-seconds", "1", "--max-sequences", "8"}));
  const std::uint16_t port = port_of(child.read_line());
  std::vector<std::unique_ptr<RawClient>> clients;
  const auto ask = [&](const std::string& more) {
    clients.push_back(std::make_unique<RawClient>(port));
    clients.back()->send(request("x", "none", R"(,"stream":true)" + more));
  };
  for (int i = 0; i < 4; ++i) {
    ask(R"(,"max_tokens":6000)");
    ask(R"(,"max_tokens":)" + std::to_string(20 + i));
  }
  std::vector<std::string> heads;
  for (const auto& client : clients) {
    heads.push_back(client->read_until("data: "));
    EXPECT_EQ(testing::status_of(heads.back()), 200);
  }
  const std::size_t answered = clients.size();
  for (int i = 0; i < 8; ++i) {
    ask(R"(,"max_tokens":6000)");  // some of these wait in the queue
  }
  heads.resize(clients.size());
  RawClient silent(port, 4096);  // never reads; must not keep the server
  silent.send(request("x", "none", R"(,"stream":true,"max_tokens":6000)"));
  child.signal(SIGTERM);
  for (std::size_t i = 0; i < clients.size(); ++i) {
    SCOPED_TRACE(i);
    const std::string rest = clients[i]->read_all();
    // Of the later ones the signal may have overtaken the request: closed like an idle connection.
    if (i < answered || !rest.empty()) {
      expect_told(heads[i] + rest);
    }
    clients[i]->close();
  }
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace daybreak::cli
