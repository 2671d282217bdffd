// SPDX-License-Identifier: Apache-2.0
// /v1/files and /v1/batches over a scripted engine: life of a batch, restart, cancellation, bounds.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <utility>

#include "api/batch_test_client.h"

namespace daybreak::api {
namespace {

using engine::GenerateRequest;
using engine::Script;
using testing::body_of;
using testing::status_of;

TEST(BatchServer, ABatchFromUploadToContent) {
  const TemporaryDirectory dir;
  TestApi api(TestApi::says("ok"), with_files(dir));
  const std::string text = lines(5) + batch_line("bad", "x", R"(,"max_tokens":-1)");
  const Json file = json_of(upload_reply(api, text));
  EXPECT_EQ(file["object"], "file");
  EXPECT_EQ(file["bytes"], text.size());
  EXPECT_EQ(file["filename"], "../../in.jsonl");
  EXPECT_EQ(content(api, file["id"]), text);
  const Json made =
      json_of(api.post(create_body(file["id"], R"(,"metadata":{"a":"b"})"), "/v1/batches"));
  EXPECT_EQ(made["object"], "batch");
  EXPECT_EQ(made["metadata"]["a"], "b");
  EXPECT_EQ(made["expires_at"].get<std::int64_t>() - made["created_at"].get<std::int64_t>(),
            86'400);
  const Json done = wait_for(api, made["id"], "completed");
  EXPECT_EQ(done["request_counts"], Json::parse(R"({"total":6,"completed":5,"failed":1})"));
  EXPECT_TRUE(done["completed_at"].is_number());
  EXPECT_TRUE(done["in_progress_at"].is_number());
  EXPECT_TRUE(done["finalizing_at"].is_number());
  EXPECT_TRUE(done["errors"].is_null());
  const auto answered = parse_lines(content(api, done["output_file_id"]));
  ASSERT_EQ(answered.size(), 5U);
  for (const auto& line : answered) {
    EXPECT_EQ(line["response"]["body"]["choices"][0]["text"], "ok");
  }
  const auto failed = parse_lines(content(api, done["error_file_id"]));
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0]["custom_id"], "bad");
  EXPECT_EQ(failed[0]["response"]["status_code"], 400);
  // What clients asked and the model answered is for nobody else on this machine.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir.file("state"))) {
    const auto others = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
    EXPECT_TRUE(entry.is_directory() ||
                (entry.status().permissions() & others) == std::filesystem::perms::none)
        << entry.path();
  }
  // Lists and deletion.
  EXPECT_EQ(json_of(api.get("/v1/batches?limit=1"))["data"][0]["id"], made["id"]);
  EXPECT_EQ(json_of(api.get("/v1/files"))["data"].size(), 3U);
  EXPECT_EQ(json_of(api.get("/v1/files?purpose=batch"))["data"].size(), 1U);
  RawClient client(api.server->port());
  client.send("DELETE /v1/files/" + file["id"].get<std::string>() + " HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(json_of(client.read_response())["deleted"]);
  json_of(api.get("/v1/files/" + file["id"].get<std::string>()), 404);
  json_of(api.get("/v1/files/" + file["id"].get<std::string>() + "/content"), 404);
}

TEST(BatchServer, AWrongInputFailsBeforeAnythingIsAnswered) {
  const TemporaryDirectory dir;
  TestApi api(TestApi::says("ok"), with_files(dir));
  const std::string id = create(
      api, upload(api, lines(2) + "oops\n" + batch_line("id0") +
                           R"({"custom_id":"c","method":"POST","url":"/v1/responses","body":{}})"));
  const Json failed = wait_for(api, id, "failed");
  ASSERT_EQ(failed["errors"]["data"].size(), 3U) << failed.dump();
  EXPECT_EQ(failed["errors"]["data"][0]["line"], 3);
  EXPECT_EQ(failed["errors"]["data"][1]["code"], "duplicate_custom_id");
  EXPECT_EQ(failed["errors"]["data"][2]["line"], 5);
  EXPECT_TRUE(failed["failed_at"].is_number());
  EXPECT_TRUE(failed["output_file_id"].is_null());
  EXPECT_TRUE(api.engine.requests().empty());
  const Json empty = wait_for(api, create(api, upload(api, "\n \n")), "failed");
  EXPECT_EQ(empty["errors"]["data"][0]["code"], "empty_file");
}

TEST(BatchServer, GoesOnAfterARestart) {
  const TemporaryDirectory dir;
  const auto hang = std::make_shared<std::atomic<bool>>(false);
  std::string id;
  std::string file;
  std::string second;
  {
    TestApiOptions options = with_files(dir);
    auto slow = [says = TestApi::says("ok")](const GenerateRequest& request) {
      Script script = says(request);
      script.delay_per_token = std::chrono::milliseconds(5);
      return script;
    };
    TestApi api(slow, options);
    file = upload(api, lines(60));
    id = create(api, file);
    second = create(api, upload(api, lines(1)));
    EXPECT_TRUE(eventually([&] { return batch_of(api, id)["request_counts"]["completed"] > 5; }));
    RawClient client(api.server->port());
    client.send("DELETE /v1/files/" + file + " HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(status_of(client.read_response()), 400);  // an unfinished batch needs it
  }
  TestApi api(answers_unless(hang), with_files(dir));
  const Json done = wait_for(api, id, "completed");
  EXPECT_EQ(done["request_counts"]["completed"], 60);
  EXPECT_EQ(done["request_counts"]["failed"], 0);
  EXPECT_LT(api.engine.requests().size(), 56U);
  std::set<std::string> ids;
  const auto answered = parse_lines(content(api, done["output_file_id"]));
  for (const auto& line : answered) {
    ids.insert(line["custom_id"]);
  }
  EXPECT_EQ(answered.size(), 60U);
  EXPECT_EQ(ids.size(), 60U);
  wait_for(api, second, "completed");
}

// Answers are paid for: what cannot be made files of the API now is so after the next start.
TEST(BatchServer, OutcomesOutlastAFailureToTakeThemIn) {
  const TemporaryDirectory dir;
  const auto hang = std::make_shared<std::atomic<bool>>(true);
  std::string id;
  {
    TestApi api(answers_unless(hang), with_files(dir));
    id = create(api, upload(api, lines(3)));
    wait_for(api, id, "in_progress");
  }
  *hang = false;
  const Json record = Json::parse(dir.read("state/batches/" + id + ".json"));
  // Where the description of the output would be written.
  const std::filesystem::path place =
      dir / ("state/files/" + record["output_id"].get<std::string>() + ".json.new");
  std::filesystem::create_directories(place / "x");
  {
    TestApi api(answers_unless(hang), with_files(dir));
    EXPECT_TRUE(eventually([&] { return api.logged().find("batches stop") != std::string::npos; }));
    EXPECT_EQ(batch_of(api, id)["status"], "finalizing");
  }
  std::filesystem::remove_all(place);
  TestApi api(answers_unless(hang), with_files(dir));
  const Json done = wait_for(api, id, "completed");
  EXPECT_EQ(parse_lines(content(api, done["output_file_id"])).size(), 3U);
  EXPECT_TRUE(api.engine.requests().empty());
}

TEST(BatchServer, CancellationStopsWhatRunsAndKeepsWhatIsDone) {
  const TemporaryDirectory dir;
  const auto hang = std::make_shared<std::atomic<bool>>(true);
  TestApi api(answers_unless(hang), with_files(dir));
  const std::string id = create(api, upload(api, lines(10)));
  const std::string waiting = create(api, upload(api, lines(3)));
  EXPECT_TRUE(eventually([&] { return api.engine.requests().size() == 2; }));  // batch_in_flight
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(api.engine.requests().size(), 2U);
  EXPECT_EQ(batch_of(api, id)["status"], "in_progress");
  const Json cancelling = json_of(api.post("", "/v1/batches/" + id + "/cancel"));
  EXPECT_EQ(cancelling["status"], "cancelling");
  json_of(api.post("", "/v1/batches/" + waiting + "/cancel"));
  const Json done = wait_for(api, id, "cancelled");
  EXPECT_EQ(done["request_counts"]["failed"], 10);
  EXPECT_TRUE(done["cancelled_at"].is_number());
  const auto left = parse_lines(content(api, done["error_file_id"]));
  ASSERT_EQ(left.size(), 10U);
  EXPECT_EQ(left[0]["error"]["code"], "batch_cancelled");
  // Cancelled before it was read: its lines are counted all the same.
  EXPECT_EQ(wait_for(api, waiting, "cancelled")["request_counts"],
            Json::parse(R"({"total":3,"completed":0,"failed":3})"));
  EXPECT_EQ(api.engine.requests().size(), 2U);
  json_of(api.post("", "/v1/batches/" + id + "/cancel"), 400);
  json_of(api.post("", "/v1/batches/batch_0/cancel"), 404);
  json_of(api.post("", "/v1/batches/" + id), 405);
}

TEST(BatchServer, ABatchExpires) {
  const TemporaryDirectory dir;
  TestApiOptions options = with_files(dir);
  options.batches.window_seconds = 1;
  TestApi api(answers_unless(std::make_shared<std::atomic<bool>>(true)), options);
  const std::string id = create(api, upload(api, lines(4)));
  const Json done = wait_for(api, id, "expired");
  EXPECT_TRUE(done["expired_at"].is_number());
  EXPECT_EQ(parse_lines(content(api, done["error_file_id"])).at(0)["error"]["code"],
            "batch_expired");
}

TEST(BatchServer, InteractiveRequestsAreAnsweredBesideABatch) {
  const TemporaryDirectory dir;
  const auto hang = std::make_shared<std::atomic<bool>>(true);
  TestApiOptions options = with_files(dir);
  options.engine.max_sequences = 3;
  TestApi api(answers_unless(hang), options);
  const std::string id = create(api, upload(api, lines(10)));
  EXPECT_TRUE(eventually([&] { return api.engine.requests().size() == 2; }));
  *hang = false;
  json_of(api.post(R"({"prompt":"x","max_tokens":3})", "/v1/completions"));
}

TEST(BatchServer, BoundsOfBytesAndFiles) {
  const TemporaryDirectory dir;
  TestApiOptions options = with_files(dir);
  options.batches.max_bytes = 100;
  options.batches.max_files = 2;
  TestApi api(TestApi::says("ok"), options);
  json_of(upload_reply(api, std::string(101, 'x')), 429);
  const std::string first = upload(api, std::string(99, 'x'));
  json_of(upload_reply(api, "xx"), 429);
  upload(api, "x");
  const std::string full = upload_reply(api, "");
  EXPECT_NE(full.find("files_mb"), std::string::npos);
  json_of(full, 429);
  RawClient client(api.server->port());
  client.send("DELETE /v1/files/" + first + " HTTP/1.1\r\nHost: x\r\n\r\n");
  json_of(client.read_response());
  upload(api, std::string(99, 'y'));
}

TEST(BatchServer, WhatABatchHasWrittenSoFarTakesRoomAlsoAfterARestart) {
  const TemporaryDirectory dir;
  TestApiOptions options = with_files(dir);
  options.batches.max_bytes = 20'000;
  options.batches.in_flight = 1;
  // Answers once, ever.
  const auto script = [hang = std::make_shared<std::atomic<bool>>(false),
                       says = TestApi::says("ok")](const GenerateRequest& request) {
    Script made = says(request);
    made.hang = hang->exchange(true);
    return made;
  };
  const std::string input = lines(3);
  std::size_t room = options.batches.max_bytes - 2 * input.size();
  std::string id;
  std::string waiting;
  {
    TestApi api(script, options);
    id = create(api, upload(api, input));
    EXPECT_TRUE(eventually([&] { return batch_of(api, id)["request_counts"]["completed"] == 1; }));
    EXPECT_TRUE(eventually([&] { return api.engine.requests().size() == 2; }));
    const Json record = Json::parse(dir.read("state/batches/" + id + ".json"));
    const std::size_t before = room;
    waiting = create(api, upload(api, input));
    room -= dir.read("state/files/" + record["output_id"].get<std::string>()).size();
    EXPECT_LT(room, before);
    json_of(upload_reply(api, std::string(room + 1, 'x')), 429);
  }
  // As if the other one had begun before it made room for this one.
  const Json other = Json::parse(dir.read("state/batches/" + waiting + ".json"));
  dir.write("state/files/" + other["output_id"].get<std::string>(), std::string(1'000, 'x'));
  room -= 1'000;
  TestApi api(script, options);
  EXPECT_TRUE(eventually([&] { return api.engine.requests().size() == 1; }));
  json_of(upload_reply(api, std::string(room + 1, 'x')), 429);
  upload(api, std::string(room, 'x'));
  // Now nothing is left for what the batch has to write yet.
  json_of(api.post("", "/v1/batches/" + id + "/cancel"));
  const Json failed = wait_for(api, id, "failed");
  EXPECT_NE(failed["errors"].dump().find("output: this server keeps at most"), std::string::npos)
      << failed.dump();
  EXPECT_EQ(parse_lines(content(api, failed["output_file_id"])).size(), 1U);
}

TEST(BatchServer, BadRequestsAreRefusedWithAReason) {
  const TemporaryDirectory dir;
  TestApi api(TestApi::says("ok"), with_files(dir));
  const std::string file = upload(api, lines(1));
  const auto says = [&](const std::string& reply, int status, const std::string& part) {
    const Json json = json_of(reply, status);
    EXPECT_NE(json["error"]["message"].get<std::string>().find(part), std::string::npos) << reply;
  };
  const std::string end = "--B--\r\n";
  says(post_form(api, form("purpose", "user_data") + form("file", "x") + end), 400, "user_data");
  says(post_form(api, form("purpose", "batch") + end), 400, "file");
  says(post_form(api, form("file", "x") + end), 400, "purpose");
  says(post_form(api, form("file", "x") + form("file", "x") + end), 400, "once");
  says(post_form(api, form("chunking_strategy", "x") + end), 400, "chunking");
  says(api.post("{}", "/v1/files"), 400, "multipart");
  says(api.post("{", "/v1/batches"), 400, "JSON");
  says(api.post("[]", "/v1/batches"), 400, "object");
  says(api.post(create_body("file-0"), "/v1/batches"), 404, "file-0");
  says(api.post(create_body("../batches/x"), "/v1/batches"), 404, "no file");
  says(api.post(create_body(file, R"(,"output_expires_after":{})"), "/v1/batches"), 400,
       "output_expires_after");
  says(api.post(create_body(file, R"(,"metadata":{"a":1})"), "/v1/batches"), 400, "metadata");
  says(api.post(R"({"input_file_id":")" + file +
                    R"(","endpoint":"/v1/embeddings","completion_window":"24h"})",
                "/v1/batches"),
       400, "found '/v1/embeddings'");
  says(api.post(R"({"input_file_id":")" + file +
                    R"(","endpoint":"/v1/completions","completion_window":"1h"})",
                "/v1/batches"),
       400, "completion_window");
  says(api.get("/v1/files/..%2f..%2fetc%2fpasswd"), 404, "no file");
  says(api.get("/v1/files/..%2fbatches/content"), 404, "no file");
  says(api.get("/v1/batches?limit=0"), 400, "limit");
  says(api.get("/v1/batches?after=x"), 400, "after");
  // An output is no input.
  const Json done = wait_for(api, create(api, file), "completed");
  says(api.post(create_body(done["output_file_id"]), "/v1/batches"), 400, "purpose");
}

TEST(BatchServer, WithoutADirectoryItSaysWhichOptionIsMissing) {
  TestApi api(TestApi::says("ok"));
  for (const std::string& reply :
       {api.get("/v1/files"), api.get("/v1/batches"), api.get("/v1/files/x/content"),
        api.post("{}", "/v1/batches"), upload_reply(api, "x")}) {
    EXPECT_EQ(status_of(reply), 501) << reply;
    EXPECT_NE(reply.find("files_dir"), std::string::npos);
  }
}

TEST(BatchServer, StateThatIsDamagedOrInUseIsNotOpened) {
  const TemporaryDirectory dir;
  std::string file;
  {
    TestApi api(TestApi::says("ok"), with_files(dir));
    file = upload(api, "x");
    Log log({.level = LogLevel::kOff});
    const auto second = BatchService::start(
        {.directory = dir.file("state")}, {}, [] { return std::uint64_t{1}; }, log);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("another server"), std::string::npos);
  }
  const auto open = [&] {
    Log log({.level = LogLevel::kOff});
    const auto service = BatchService::start(
        {.directory = dir.file("state")}, {}, [] { return std::uint64_t{1}; }, log);
    return service ? ok() : Status(service.error());
  };
  EXPECT_TRUE(open());
  // Bytes without a description are what an interrupted upload leaves.
  dir.write("state/files/file-00000000000000000000000000000000", "orphan");
  EXPECT_TRUE(open());
  EXPECT_FALSE(
      std::filesystem::exists(dir.file("state/files/file-00000000000000000000000000000000")));
  dir.write("state/files/" + file, "longer");
  EXPECT_EQ(open().error().code, Errc::kCorrupt);
  dir.write("state/files/" + file, "x");
  dir.write("state/batches/batch_00000000000000000000000000000000.json", "{}");
  EXPECT_EQ(open().error().code, Errc::kCorrupt);
}

// The first id that create() draws is that of a batch whose input it has found.
TEST(BatchServer, AnInputIsNotRemovedBeforeItsBatchIsKnown) {
  const TemporaryDirectory dir;
  Log log({.level = LogLevel::kOff});
  std::function<void()> on_id;
  std::uint64_t ids = 0;
  const auto service = *BatchService::start(
      {.directory = dir.file("state")}, {.handlers = {}, .busy = [] { return true; }},
      [&] {
        if (const auto call = std::exchange(on_id, nullptr)) {
          call();
        }
        return ++ids;
      },
      log);
  const std::string file = service->files().put(lines(1), "in.jsonl", "batch", "")->id;
  std::future<Status> removed;
  on_id = [&] {
    removed = std::async(std::launch::async, [&] { return service->remove_file("", file); });
    removed.wait_for(std::chrono::milliseconds(50));  // enough where nothing holds it up
  };
  const auto batch = service->create(*access::anonymous_caller(), file, "/v1/completions", "", 0);
  ASSERT_TRUE(batch);
  EXPECT_EQ(removed.get().error().code, Errc::kInvalidArgument);
  EXPECT_TRUE(service->files().find("", file));
}

}  // namespace
}  // namespace daybreak::api
