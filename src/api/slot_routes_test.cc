// SPDX-License-Identifier: Apache-2.0
#include "api/slot_routes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <utility>

#include "access/access_testing.h"
#include "api/api_test_server.h"
#include "engine/answer_collector.h"
#include "engine/engine.h"
#include "engine/fake_model.h"
#include "engine/sequence_file.h"
#include "testing/paths.h"
#include "testing/temporary_directory.h"

namespace daybreak::api {
namespace {

using engine::FakeModel;
using testing::body_of;
using testing::status_of;

// The routes over an engine of two slots, beside the scripted one that answers requests.
class SlotRoutes : public ::testing::Test {
 protected:
  static std::unique_ptr<engine::Engine> start(FakeModel::Observer& observer) {
    return *engine::Engine::start(
        std::make_unique<FakeModel>(engine::FakeModelOptions{.slots = 2}, observer), {});
  }
  static std::size_t ask(engine::Engine& engine, std::vector<TokenId> prompt) {
    engine::GenerateRequest request;
    request.prompt = std::move(prompt);
    request.max_tokens = 1;
    request.isolation = "\n";
    engine::AnswerCollector answer;
    EXPECT_TRUE(engine.submit(request, answer.fn()));
    answer.wait();
    return answer.usage().cached_tokens;
  }
  TestApiOptions options(const std::string& save_path) {
    TestApiOptions out;
    out.slots = engine_.get();
    out.slot_save_path = save_path;
    return out;
  }
  static Json post(TestApi& api, const std::string& path, const std::string& body, int status) {
    const std::string reply = api.post(body, path);
    EXPECT_EQ(status_of(reply), status) << reply;
    return Json::parse(body_of(reply));
  }

  testing::TemporaryDirectory temporary_;
  const std::filesystem::path directory_ = temporary_ / "slots";
  const bool made_ = std::filesystem::create_directory(directory_);
  FakeModel::Observer observer_;
  std::unique_ptr<engine::Engine> engine_ = start(observer_);
};

TEST_F(SlotRoutes, ListsCountsAndNoContent) {
  ask(*engine_, {11, 12, 13});
  TestApi api(TestApi::says("x"), options(""));
  const std::string reply = api.get("/slots");
  ASSERT_EQ(status_of(reply), 200);
  const Json slots = Json::parse(body_of(reply));
  ASSERT_EQ(slots.size(), 2U);
  EXPECT_EQ(slots[0]["id"], 0);
  EXPECT_EQ(slots[0]["n_past"], 3);
  EXPECT_EQ(slots[0]["is_processing"], false);
  EXPECT_EQ(slots[1]["n_past"], 0);
  EXPECT_EQ(body_of(reply).find("11"), std::string::npos) << reply;
}

TEST_F(SlotRoutes, ABusySlotTellsHowFarItIs) {
  std::promise<void> looked;
  const std::shared_future<void> over = looked.get_future().share();
  std::promise<void> began;
  // Slow enough to be looked at between two of its 900 steps, on any machine.
  observer_.before_step = [&, first = true](std::span<const engine::StepChunk>) mutable {
    if (std::exchange(first, false)) {
      began.set_value();
    }
    over.wait_for(std::chrono::milliseconds(50));
    return ok();
  };
  TestApi api(TestApi::says("x"), options(""));
  engine::GenerateRequest request;
  request.prompt = {1, 2, 3};
  request.max_tokens = 900;
  engine::AnswerCollector answer;
  const auto id = *engine_->submit(request, answer.fn());
  began.get_future().wait();
  const Json slot = Json::parse(body_of(api.get("/slots")))[0];
  looked.set_value();
  engine_->cancel(id);
  answer.wait();
  EXPECT_EQ(slot["is_processing"], true);
  EXPECT_EQ(slot["id_task"], 1);
  EXPECT_EQ(slot["n_prompt_tokens"], 3);
  EXPECT_EQ(slot["n_prompt_tokens_cache"], 0);
  EXPECT_EQ(slot["next_token"]["n_decoded"].get<int>() + slot["next_token"]["n_remain"].get<int>(),
            900);
}

TEST_F(SlotRoutes, WhatIsSavedComesBackInAnotherEngine) {
  ask(*engine_, {1, 2, 3});
  {
    TestApi api(TestApi::says("x"), options(directory_));
    const Json saved = post(api, "/slots/0?action=save", R"({"filename":"a.bin"})", 200);
    EXPECT_EQ(saved["id_slot"], 0);
    EXPECT_EQ(saved["filename"], "a.bin");
    EXPECT_EQ(saved["n_saved"], 3);
    EXPECT_EQ(saved["n_written"].get<std::size_t>(),
              std::filesystem::file_size(directory_ / "a.bin"));
    EXPECT_TRUE(saved["timings"]["save_ms"].is_number());
  }
  engine_ = start(observer_);
  TestApi api(TestApi::says("x"), options(directory_));
  const Json restored = post(api, "/slots/1?action=restore", R"({"filename":"a.bin"})", 200);
  EXPECT_EQ(restored["n_restored"], 3);
  EXPECT_EQ(restored["n_read"].get<std::size_t>(),
            std::filesystem::file_size(directory_ / "a.bin"));
  EXPECT_EQ(Json::parse(body_of(api.get("/slots")))[1]["n_past"], 3);
  EXPECT_EQ(ask(*engine_, {1, 2, 3, 4}), 3U);
}

TEST_F(SlotRoutes, EraseAndResetForget) {
  ask(*engine_, {1, 2, 3});
  TestApi api(TestApi::says("x"), options(""));
  EXPECT_EQ(post(api, "/slots/0?action=erase", "", 200)["n_erased"], 3);
  EXPECT_EQ(post(api, "/slots/0?action=erase", "", 200)["n_erased"], 0);
  EXPECT_EQ(ask(*engine_, {1, 2, 3, 4}), 0U);
  EXPECT_EQ(post(api, "/reset_prefix_cache", "", 200)["dropped"], 1);
  // Counted a moment after the answer.
  EXPECT_TRUE(eventually([&] { return engine_->stats().kept_sequences == 0; }));
}

TEST_F(SlotRoutes, RefusesWhatItCannotDoAndSaysWhy) {
  ask(*engine_, {1, 2, 3});
  TestApi api(TestApi::says("x"), options(directory_));
  struct Case {
    const char* path;
    std::string body;
    int status;
    const char* message;
  };
  const std::string name = R"({"filename":"a"})";
  const Case cases[] = {
      {"/slots/2?action=save", name, 404, "slot 2: expected one of 0 to 1"},
      {"/slots/x?action=save", name, 404, "slot 'x': expected a number"},
      {"/slots/-1?action=erase", name, 404, "slot '-1': expected a number"},
      {"/slots/1?action=save", name, 400, "slot 1: expected a kept sequence, found none"},
      {"/slots/0", name, 400, "action: expected save, restore or erase, found ''"},
      {"/slots/0?a=b&action=saves", name, 400, "found 'saves'"},
      {"/slots/0?action=save", "{}", 400, "filename: expected a string, found nothing"},
      {"/slots/0?action=save", R"({"filename":3})", 400, "filename: expected a string"},
      {"/slots/0?action=save", "[]", 400, "expected an object"},
      {"/slots/0?action=restore", name, 404, "slot file a: there is none"},
  };
  for (const Case& one : cases) {
    const Json error = post(api, one.path, one.body, one.status)["error"];
    EXPECT_NE(error["message"].get<std::string>().find(one.message), std::string::npos)
        << one.path << error;
  }
  for (const char* bad : {"", "../a", "a/b", "/a", ".", "..", ".a", "a.new", "a\\\\b", "a b"}) {
    for (const char* action : {"save", "restore"}) {
      const Json error = post(api, std::string("/slots/0?action=") + action,
                              R"({"filename":")" + std::string(bad) + "\"}", 400)["error"];
      EXPECT_TRUE(error["message"].get<std::string>().starts_with("filename: expected")) << bad;
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
  post(api, "/slots/0?action=save", R"({"filename":")" + std::string(128, 'a') + "\"}", 200);
  post(api, "/slots/0?action=save", R"({"filename":")" + std::string(129, 'a') + "\"}", 400);
}

TEST_F(SlotRoutes, DamagedAndForeignFilesAreRefusedAndTheSlotKeepsWhatItKept) {
  ask(*engine_, {1, 2, 3});
  TestApi api(TestApi::says("x"), options(directory_));
  post(api, "/slots/0?action=save", R"({"filename":"a"})", 200);
  const std::string bytes = testing::read_file(directory_ / "a");
  const auto refuse = [&](const std::string& content, const char* message) {
    std::ofstream(directory_ / "b", std::ios::binary) << content;
    const Json error = post(api, "/slots/0?action=restore", R"({"filename":"b"})", 400)["error"];
    EXPECT_NE(error["message"].get<std::string>().find(message), std::string::npos) << error;
  };
  std::string flipped = bytes;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  refuse(flipped, "slot file b: damaged: its checksum does not match");
  refuse(bytes.substr(0, bytes.size() - 1), "slot file b: expected");
  refuse("", "slot file b: this is not a slot file of daybreak serve");
  refuse("DAYBREAK-CHAT-1\n" + bytes.substr(16), "this is not a slot file");
  // A state of another size, as of another model, in a file that is right.
  constexpr engine::SequenceFileKind kKind{"DAYBREAK-SLOT-2\n", "slot file", "a test"};
  ASSERT_TRUE(engine::write_sequence_file(kKind, directory_ / "c", {"", {1, 2}, {}}));
  post(api, "/slots/0?action=restore", R"({"filename":"c"})", 400);
  EXPECT_EQ(ask(*engine_, {1, 2, 3, 4}), 3U);
}

TEST_F(SlotRoutes, ADirectoryHoldsABoundedNumberOfFiles) {
  ask(*engine_, {1, 2, 3});
  TestApi api(TestApi::says("x"), options(directory_));
  for (std::size_t i = 0; i + 1 < kMaxSlotFiles; ++i) {
    std::ofstream(directory_ / std::to_string(i)) << "x";
  }
  post(api, "/slots/0?action=save", R"({"filename":"last"})", 200);
  post(api, "/slots/0?action=save", R"({"filename":"more"})", 429);
  post(api, "/slots/0?action=save", R"({"filename":"last"})", 200);  // replaces it
}

TEST_F(SlotRoutes, WithoutADirectoryNothingIsSavedAndWithoutSlotsThereAreNone) {
  {
    TestApi api(TestApi::says("x"), options(""));
    const Json error = post(api, "/slots/0?action=save", R"({"filename":"a"})", 501)["error"];
    EXPECT_EQ(error["message"],
              "this server saves no slots: start it with --slot-save-path DIRECTORY");
  }
  TestApi none(TestApi::says("x"));
  EXPECT_EQ(status_of(none.get("/slots")), 501);
  EXPECT_EQ(check_slot_save_path("/nonexistent").error().message,
            "slot_save_path: expected a directory that is there already, found nothing at "
            "'/nonexistent'");
  EXPECT_TRUE(check_slot_save_path(directory_));
}

TEST_F(SlotRoutes, WithoutMemoryForACopyTheServerSaysSoAndGoesOn) {
  ask(*engine_, {1, 2, 3});
  observer_.before_save = [] { throw std::bad_alloc(); };
  TestApi api(TestApi::says("x"), options(directory_));
  const Json error = post(api, "/slots/0?action=save", R"({"filename":"a"})", 503)["error"];
  EXPECT_EQ(error["message"], "slot 0: not enough memory at the moment, try again later");
  EXPECT_EQ(ask(*engine_, {1, 2, 3, 4}), 3U);
}

TEST_F(SlotRoutes, AFileIsOfUseBesideTheKeysItWasSavedWithOnly) {
  ask(*engine_, {1, 2, 3});
  // Asks a server whose keys are those of `database`; "": one without keys.
  const auto act = [&](const std::string& database, const std::string& action) {
    TestApiOptions with = options(directory_);
    std::string key;
    if (!database.empty()) {
      const std::filesystem::path path = temporary_ / database;
      access::AccessOptions access;
      access.keys = *access::KeyStore::open(
          {.database = path, .pepper = {}, .missing = access::Database::Missing::kCreate});
      access::KeySettings settings = access::test_settings();
      settings.scopes.add(access::Scope::kAdmin);
      key = access.keys->create(settings)->text;
      access.ledger = *access::Ledger::open({.database = path});
      with.access = *access::AccessPolicy::create(std::move(access));
    }
    TestApi api(TestApi::says("x"), std::move(with));
    RawClient client(api.server->port());
    client.send("POST /slots/0?action=" + action + " HTTP/1.1\r\nHost: x\r\nx-api-key: " + key +
                "\r\nContent-Length: 16\r\n\r\n{\"filename\":\"a\"}");
    return client.read_response();
  };
  for (const char* saved_with : {"one.db", "two.db", ""}) {
    ASSERT_EQ(status_of(act(saved_with, "save")), 200);
    for (const char* restored_with : {"one.db", "two.db", ""}) {
      const std::string reply = act(restored_with, "restore");
      if (std::string_view(saved_with) == restored_with) {
        EXPECT_EQ(status_of(reply), 200) << reply;
      } else {
        EXPECT_EQ(status_of(reply), 400) << reply;
        EXPECT_NE(reply.find("slot file a: was saved by a server with other API keys"),
                  std::string::npos)
            << reply;
      }
    }
  }
}

TEST_F(SlotRoutes, AStoppedEngineIsUnavailable) {
  TestApi api(TestApi::says("x"), options(""));
  engine_->stop(std::chrono::milliseconds(0));
  EXPECT_EQ(status_of(api.get("/slots")), 503);
}

}  // namespace
}  // namespace daybreak::api
