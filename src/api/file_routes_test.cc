// SPDX-License-Identifier: Apache-2.0
// What /v1/files and /v1/batches say of requests they do not take, and how long files stay.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "access/access_testing.h"
#include "api/batch_test_client.h"

namespace daybreak::api {
namespace {

TEST(FileRoutes, SaysWhatWasExpectedAndWhatWasFound) {
  const TemporaryDirectory dir;
  TestApi api(TestApi::says("ok"), with_files(dir));
  const auto fault = [](const std::string& reply, int status = 400) {
    return json_of(reply, status)["error"]["message"].get<std::string>();
  };
  EXPECT_EQ(fault(api.get("/v1/files?limit=0")),
            "limit: expected an integer from 1 to 10000, found '0'");
  EXPECT_EQ(fault(api.get("/v1/batches?limit=101")),
            "limit: expected an integer from 1 to 100, found '101'");
  EXPECT_EQ(fault(api.get("/v1/files?order=up")),
            "order: expected \"asc\" or \"desc\", found 'up'");
  EXPECT_EQ(fault(api.get("/v1/files?offset=1")),
            "offset: no such parameter, expected limit, order, after or purpose");
  EXPECT_EQ(fault(api.get("/v1/batches?foo=1")),
            "foo: no such parameter, expected limit, order or after");
  EXPECT_EQ(fault(api.get("/v1/batches?purpose=zzz")),
            "purpose: no such parameter, expected limit, order or after");
  EXPECT_EQ(json_of(api.get("/v1/files?purpose=zzz"), 200)["data"].size(), 0U);
  EXPECT_EQ(fault(api.post("{}", "/v1/files")),
            "Content-Type: expected multipart/form-data, found 'application/json'");
  RawClient bare(api.server->port());
  bare.send("POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(fault(bare.read_response()),
            "Content-Type: expected multipart/form-data, found nothing");
  const Json error = json_of(api.post(create_body("file-x"), "/v1/batches"), 404)["error"];
  EXPECT_EQ(error["message"], "input_file_id: no file 'file-x' here");
  EXPECT_EQ(error["param"], "input_file_id");
  EXPECT_EQ(fault(api.post(R"({"messages":[{"role":"user","content":"hi"}]})", "/v1/completions")),
            "messages: expected nothing, found an array (not a field of this route: say `prompt`, "
            "or ask /v1/chat/completions)");
}

TEST(FileRoutes, FilesEndWhenTheirClientsSay) {
  const TemporaryDirectory dir;
  access::ManualUtc utc;
  TestApiOptions options = with_files(dir);
  options.batches.utc = &utc;
  options.batches.sweep = std::chrono::milliseconds(5);
  const auto hang = std::make_shared<std::atomic<bool>>(true);
  TestApi api(answers_unless(hang), options);
  const auto upload_for = [&](const std::string& text, const std::string& more) {
    return post_form(api, form("purpose", "batch") + form("file", text, "; filename=\"a\"") + more +
                              "--B--\r\n");
  };
  const auto expiry = [](const std::string& anchor, const std::string& seconds) {
    return form("expires_after[anchor]", anchor) + form("expires_after[seconds]", seconds);
  };
  const Json file = json_of(upload_for(lines(2), expiry("created_at", "3600")));
  EXPECT_EQ(file["expires_at"].get<std::int64_t>(), file["created_at"].get<std::int64_t>() + 3600);
  const Json stays = json_of(upload_for(lines(1), ""));
  EXPECT_TRUE(stays["expires_at"].is_null());
  json_of(upload_for("x", expiry("created_at", "2592000")));
  const auto fault = [&](const std::string& more) {
    return json_of(upload_for("x", more), 400)["error"]["message"].get<std::string>();
  };
  for (const std::string seconds : {"3599", "2592001", "", "1e4", "4000 ", "-1"}) {
    EXPECT_EQ(fault(expiry("created_at", seconds)),
              "expires_after[seconds]: expected 3600 to 2592000, found '" + seconds + "'");
  }
  EXPECT_EQ(fault(expiry("last_active_at", "3600")),
            "expires_after[anchor]: expected \"created_at\", found 'last_active_at'");
  EXPECT_EQ(fault(form("expires_after[anchor]", "created_at")),
            "expires_after[seconds]: expected 3600 to 2592000, found nothing");
  EXPECT_EQ(fault(form("expires_after[seconds]", "3600")),
            "expires_after[anchor]: expected \"created_at\", found nothing");
  const std::string anchor = form("expires_after[anchor]", "created_at");
  EXPECT_EQ(fault(form("expires_after", "3600")),
            "expires_after: no such part, expected file, purpose, expires_after[anchor], "
            "expires_after[seconds]");
  EXPECT_EQ(fault(anchor + anchor),
            "expires_after[anchor]: expected this part once, found it once more");
  const auto wrong = [&](const std::string& more) {
    const std::string reply = api.post(create_body(file["id"], more), "/v1/batches");
    return json_of(reply, 400)["error"]["message"].get<std::string>();
  };
  EXPECT_EQ(wrong(R"(,"output_expires_after":{"anchor":"created_at","seconds":3599})"),
            "output_expires_after.seconds: expected an integer from 3600 to 2592000, found 3599");
  EXPECT_TRUE(wrong(R"(,"output_expires_after":{"anchor":"x","seconds":3600})")
                  .starts_with("output_expires_after.anchor: expected \"created_at\""));
  EXPECT_TRUE(wrong(R"(,"output_expires_after":{"seconds":3600})")
                  .starts_with("output_expires_after.anchor: expected"));
  EXPECT_TRUE(
      wrong(R"(,"output_expires_after":7200)").starts_with("output_expires_after: expected"));
  const Json batch = json_of(api.post(
      create_body(file["id"], R"(,"output_expires_after":{"anchor":"created_at","seconds":7200})"),
      "/v1/batches"));
  ASSERT_TRUE(eventually([&] { return !api.engine.requests().empty(); }));
  utc.advance_us(3600 * access::kMicrosPerSecond);
  const auto on_disk = [&](const Json& id) {
    return std::filesystem::exists(dir.file("state") + "/files/" + id.get<std::string>());
  };
  json_of(api.get("/v1/files/" + file["id"].get<std::string>()), 404);
  json_of(api.post(create_body(file["id"]), "/v1/batches"), 404);
  EXPECT_TRUE(on_disk(file["id"])) << "the batch goes on with it";
  json_of(api.post("", "/v1/batches/" + batch["id"].get<std::string>() + "/cancel"));
  const Json done = wait_for(api, batch["id"], "cancelled");
  EXPECT_TRUE(eventually([&] { return !on_disk(file["id"]); }));
  const Json output = done["error_file_id"];
  const Json outcome = json_of(api.get("/v1/files/" + output.get<std::string>()));
  EXPECT_EQ(outcome["expires_at"].get<std::int64_t>(),
            outcome["created_at"].get<std::int64_t>() + 7200);
  utc.advance_us(7200 * access::kMicrosPerSecond);
  EXPECT_TRUE(eventually([&] { return !on_disk(output); }));
  json_of(api.get("/v1/files/" + stays["id"].get<std::string>()));
}

}  // namespace
}  // namespace daybreak::api
