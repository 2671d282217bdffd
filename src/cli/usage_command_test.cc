// SPDX-License-Identifier: Apache-2.0
// What `daybreak keys` and `daybreak usage` print of one database.

#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "access/access_testing.h"
#include "access/key_store.h"
#include "access/ledger.h"
#include "cli/command.h"
#include "testing/temporary_directory.h"

namespace daybreak::cli {
namespace {

class UsageCommand : public ::testing::Test {
 protected:
  UsageCommand() {
    const auto keys = *access::KeyStore::open(
        {.database = db_, .pepper = {}, .missing = access::Database::Missing::kCreate});
    for (const char* name : {"alice", "bob"}) {
      access::KeySettings settings = access::test_settings();
      settings.name = name;
      settings.tenant = "team";
      EXPECT_TRUE(keys->create(settings));
    }
    const auto ledger = *access::Ledger::open({.database = db_});
    // The second key has never been used; 0 is nobody's.
    for (const std::int64_t key : {1, 1, 0}) {
      access::Usage usage = access::test_usage("request " + std::to_string(++requests_),
                                               *access::parse_utc("2026-11-30T08:15:00Z"));
      usage.key = access::KeyId{key};
      EXPECT_TRUE(ledger->append(usage, nullptr));
    }
  }

  // What the command prints on stdout.
  std::string run(const std::string& line) {
    CLI::App root("description", "daybreak");
    Action action;
    register_commands({root, action});
    root.parse(line + " --db " + db_.string());
    ::testing::internal::CaptureStdout();
    const Status status = action();
    const std::string out = ::testing::internal::GetCapturedStdout();
    EXPECT_TRUE(status) << (status ? "" : status.error().message);
    return out;
  }

  testing::TemporaryDirectory dir_;
  std::filesystem::path db_ = dir_ / "access.db";
  int requests_ = 0;
};

// The words of each line.
std::vector<std::vector<std::string>> cells(const std::string& text) {
  std::vector<std::vector<std::string>> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    out.emplace_back(std::istream_iterator<std::string>(words),
                     std::istream_iterator<std::string>());
  }
  return out;
}

TEST_F(UsageCommand, TotalsNameKeysAndTenants) {
  using Rows = std::vector<std::vector<std::string>>;
  EXPECT_EQ(cells(run("usage --by tenant,key")),
            (Rows{{"period", "tenant", "key", "name", "model", "requests", "prompt", "cached",
                   "completion", "USD"},
                  {"-", "-", "0", "-", "-", "1", "100", "40", "20", "0.000492"},
                  {"-", "team", "1", "alice", "-", "2", "200", "80", "40", "0.000984"}}));
  EXPECT_EQ(cells(run("usage --by tenant,day")).back(),
            (std::vector<std::string>{"2026-11-30", "team", "-", "-", "-", "2", "200", "80", "40",
                                      "0.000984"}));
  const auto json = nlohmann::json::parse(cells(run("usage --by key --json")).back().at(0));
  EXPECT_EQ(json["key_id"], 1);
  EXPECT_EQ(json["key_name"], "alice");
  EXPECT_TRUE(run("usage --by tenant --csv").starts_with("tenant,requests,"));
  EXPECT_NE(run("usage --entries --json").find(R"("key_name":"alice")"), std::string::npos);
}

TEST_F(UsageCommand, TheListOfKeysTellsWhenEachWasLastUsed) {
  const auto rows = cells(run("keys list"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1][3], "alice");
  EXPECT_EQ(rows[1][9], "2026-11-30T08:15Z");
  EXPECT_EQ(rows[2][9], "-");
  const auto lines = cells(run("keys list --json"));
  EXPECT_EQ(nlohmann::json::parse(lines[0].at(0))["last_used"], "2026-11-30T08:15:00.000000Z");
  EXPECT_TRUE(nlohmann::json::parse(lines[1].at(0))["last_used"].is_null());
}

}  // namespace
}  // namespace daybreak::cli
