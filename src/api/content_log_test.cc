// SPDX-License-Identifier: Apache-2.0
#include "api/content_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "api/api_test_server.h"
#include "testing/temporary_directory.h"

namespace {

// What fsync() below has been called with, by name.
std::mutex synced_mutex;
std::vector<std::string> synced;

std::vector<std::string> take_synced() {
  const std::lock_guard lock(synced_mutex);
  return std::exchange(synced, {});
}

}  // namespace

// In place of the library's, for this program: whether a file is on the disk cannot be seen.
extern "C" int fsync(int file) {
  std::error_code none;
  const auto name = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), none);
  {
    const std::lock_guard lock(synced_mutex);
    synced.push_back(name.string());
  }
  return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace daybreak::api {
namespace {

using Json = nlohmann::json;
using testing::TemporaryDirectory;

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

// The count of entries with that result, as the metrics tell.
bool counted(const Metrics& metrics, const std::string& result, int count) {
  return metrics.text().find("daybreak_content_log_entries_total{result=\"" + result + "\"} " +
                             std::to_string(count) + "\n") != std::string::npos;
}

constexpr std::string_view kCanary = "quetzalcoatl";

TestApi::ScriptFn answers() {
  return TestApi::says(
      "answer quetzalcoatl for ada@example.org<|close|>response<|sep|><|end_of_msg|>");
}

std::string chat_body(const std::string& more = "") {
  return R"({"model":"nano","messages":[{"role":"user","content":"ask quetzalcoatl 4111 1111 1111)"
         R"( 1111"}],"thinking":{"type":"disabled"})" +
         more + "}";
}

TEST(ContentLogOfAServer, RequestsAndAnswersOfEveryProtocolAreWrittenOnceAndRedacted) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory / "content.jsonl";
  {
    TestApi api(answers(), {.content_log = {.file = file}});
    api.post(chat_body());
    api.post_stream(chat_body(R"(,"stream":true)"));
    api.post(R"({"model":"nano","prompt":"quetzalcoatl a@b.org","max_tokens":50})",
             "/v1/completions");
    api.post(
        R"({"model":"nano","max_tokens":50,"messages":[{"role":"user","content":"quetzalcoatl"}]})",
        "/v1/messages");
    api.post(R"({"model":"nano","input":"quetzalcoatl"})", "/v1/responses");
    EXPECT_TRUE(eventually([&] { return counted(api.metrics, "written", 5); }));
    // Nothing else of the server tells content.
    EXPECT_EQ(api.logged().find(kCanary), std::string::npos);
    EXPECT_EQ(api.metrics.text().find(kCanary), std::string::npos);
  }
  const std::vector<std::string> lines = lines_of(file);
  ASSERT_EQ(lines.size(), 5U);
  for (const std::string& line : lines) {
    const Json entry = Json::parse(line);
    EXPECT_NE(entry["request"].dump().find(kCanary), std::string::npos) << line;
    EXPECT_NE(entry["choices"][0].dump().find("quetzalcoatl for [email]"), std::string::npos)
        << line;
    EXPECT_FALSE(entry["request_id"].get<std::string>().empty());
    EXPECT_EQ(entry["time"].get<std::string>().size(), 24U);
    EXPECT_EQ(line.find("example.org"), std::string::npos);
    EXPECT_EQ(line.find("1111"), std::string::npos);
  }
  // Streamed or not, the same entry.
  EXPECT_EQ(Json::parse(lines[0])["choices"][0]["message"]["content"],
            Json::parse(lines[1])["choices"][0]["message"]["content"]);
  EXPECT_EQ(Json::parse(lines[2])["route"], "/v1/completions");
  struct stat state{};
  ASSERT_EQ(::stat(file.c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777U, 0600U);
}

TEST(ContentLogOfAServer, AnAnswerThatWasNotFinishedTellsWhy) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory / "content.jsonl";
  {
    TestApi api(
        [says = TestApi::says("one two")](const engine::GenerateRequest& request) {
          engine::Script script = says(request);
          script.hang = true;
          return script;
        },
        {.content_log = {.file = file}});
    const std::string completion = R"({"model":"nano","prompt":"p","max_tokens":50,"stream":true})";
    for (const auto& [body, path] :
         {std::pair{chat_body(R"(,"stream":true)"), "/v1/chat/completions"},
          {completion, "/v1/completions"}}) {
      {
        RawClient client(api.server->port());
        client.send(TestApi::request_text(body, path));
        client.read_until("data: ");
      }
      const int count = path == std::string_view("/v1/completions") ? 2 : 1;
      EXPECT_TRUE(eventually([&] { return counted(api.metrics, "written", count); }));
    }
  }
  const std::vector<std::string> lines = lines_of(file);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(Json::parse(lines[0])["choices"][0]["finish_reason"], "cancelled");
  EXPECT_EQ(Json::parse(lines[1])["choices"][0]["finish_reason"], "cancelled");
}

TEST(ContentLogOfAServer, WithoutAFileNothingIsWritten) {
  TestApi api(answers());
  api.post(chat_body());
  EXPECT_EQ(api.metrics.text().find("daybreak_content_log"), std::string::npos);
  EXPECT_EQ(api.logged().find(kCanary), std::string::npos);
}

class ContentLogFile : public ::testing::Test {
 protected:
  std::unique_ptr<ContentLog> open(ContentLogOptions options = {}) {
    options.file = file;
    auto made = ContentLog::open(std::move(options), metrics, log);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? *std::move(made) : nullptr;
  }
  static ContentEntry entry(const std::string& request) {
    return {.request_id = "r", .route = "/x", .request = request, .choices = "[]"};
  }

  TemporaryDirectory directory;
  std::filesystem::path file = directory / "log";
  Metrics metrics;
  Log log{{.sink = [](std::string_view) {}}};
};

TEST_F(ContentLogFile, StartsAnewBeforeItIsTooLarge) {
  {
    const auto content = open({.file = {}, .max_file_bytes = 400});
    for (int i = 0; i < 9; ++i) {
      content->write(entry("\"" + std::string(100, static_cast<char>('a' + i)) + "\""));
    }
  }
  // About 190 bytes a line: two a file, and of nine lines the last three are there.
  ASSERT_EQ(lines_of(file).size(), 1U);
  EXPECT_NE(lines_of(file)[0].find("iii"), std::string::npos);
  ASSERT_EQ(lines_of(file.string() + ".1").size(), 2U);
  EXPECT_NE(lines_of(file.string() + ".1")[0].find("ggg"), std::string::npos);
}

TEST_F(ContentLogFile, AFileThatIsLeftIsOnTheDiskAndSoAreTheNewNames) {
  const auto content = open({.file = {}, .max_file_bytes = 400});
  take_synced();
  for (int i = 0; i < 3; ++i) {
    content->write(entry("\"" + std::string(100, 'a') + "\""));
  }
  ASSERT_TRUE(eventually([&] { return counted(metrics, "written", 3); }));
  EXPECT_EQ(take_synced(),
            (std::vector<std::string>{file.string() + ".1", directory.path().string()}));
}

TEST_F(ContentLogFile, WhatAnotherProgramMovedAwayIsMadeAnew) {
  const auto content = open();
  content->write(entry("1"));
  ASSERT_TRUE(eventually([&] { return counted(metrics, "written", 1); }));
  std::filesystem::rename(file, file.string() + ".old");
  content->write(entry("2"));
  ASSERT_TRUE(eventually([&] { return counted(metrics, "written", 2); }));
  EXPECT_EQ(lines_of(file).size(), 1U);
  EXPECT_EQ(lines_of(file.string() + ".old").size(), 1U);
}

TEST_F(ContentLogFile, WhatFindsNoRoomIsDroppedAndCounted) {
  const auto content = open({.file = {}, .max_waiting_bytes = 1'000});
  content->write(entry(std::string(2'000, 'x')));
  EXPECT_TRUE(counted(metrics, "dropped", 1));
  content->write(entry("1"));
  EXPECT_TRUE(eventually([&] { return counted(metrics, "written", 1); }));
}

TEST_F(ContentLogFile, FailuresAreCountedAndItGoesOn) {
  const auto content = open();
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  content->write(entry("1"));
  ASSERT_TRUE(eventually([&] { return counted(metrics, "failed", 1); }));
  std::filesystem::remove(file);
  content->write(entry("2"));
  ASSERT_TRUE(eventually([&] { return counted(metrics, "written", 1); }));
  EXPECT_EQ(lines_of(file).size(), 1U);
}

TEST_F(ContentLogFile, LinksPipesAndMissingDirectoriesAreRefused) {
  std::filesystem::create_symlink(directory / "other", file);
  auto made = ContentLog::open({.file = file}, metrics, log);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find(file.string()), std::string::npos);
  EXPECT_FALSE(ContentLog::open({.file = directory / "no" / "log"}, metrics, log));
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(ContentLog::open({.file = directory / "pipe"}, metrics, log));
}

TEST_F(ContentLogFile, AFileThatOthersCouldReadBecomesItsOwnersAlone) {
  std::ofstream(file) << "{}\n";
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  const auto content = open();
  struct stat state{};
  ASSERT_EQ(::stat(file.c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777U, 0600U);
}

// As a server leaves it that is killed while it writes.
TEST_F(ContentLogFile, AfterHalfALineANewOneBegins) {
  std::ofstream(file) << "{}\n{\"time\":";
  {
    const auto content = open();
    content->write(entry("1"));
  }
  const std::vector<std::string> lines = lines_of(file);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], "{\"time\":");
  EXPECT_EQ(Json::parse(lines[2])["request"], 1);
}

TEST_F(ContentLogFile, AClosedLogHasWrittenEverything) {
  {
    const auto content = open();
    for (int i = 0; i < 500; ++i) {
      content->write(entry(std::to_string(i)));
    }
  }
  EXPECT_EQ(lines_of(file).size(), 500U);
}

}  // namespace
}  // namespace daybreak::api
