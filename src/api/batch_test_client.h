// SPDX-License-Identifier: Apache-2.0
#pragma once

// A client of /v1/files and /v1/batches over a scripted engine. Test code only.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "api/api_test_server.h"
#include "api/batch_test_files.h"

namespace daybreak::api {

using engine::GenerateRequest;
using engine::Script;
using testing::body_of;
using testing::status_of;

inline TestApiOptions with_files(const TemporaryDirectory& dir) {
  TestApiOptions options;
  options.batches.directory = dir.file("state");
  return options;
}

inline std::string form(const std::string& name, const std::string& value,
                        const std::string& more = "") {
  return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"" + more + "\r\n\r\n" +
         value + "\r\n";
}

inline std::string post_form(TestApi& api, const std::string& body) {
  RawClient client(api.server->port());
  client.send(
      "POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=B" +
      std::string("\r\nContent-Length: ") + std::to_string(body.size()) + "\r\n\r\n" + body);
  return client.read_response();
}

inline std::string upload_reply(TestApi& api, const std::string& text,
                                const std::string& name = "../../in.jsonl") {
  return post_form(api, form("purpose", "batch") +
                            form("file", text, "; filename=\"" + name + "\"") + "--B--\r\n");
}

inline Json json_of(const std::string& reply, int status = 200) {
  EXPECT_EQ(status_of(reply), status) << reply;
  return Json::parse(body_of(reply), nullptr, false);
}

inline std::string upload(TestApi& api, const std::string& text) {
  return json_of(upload_reply(api, text))["id"];
}

inline std::string create_body(const std::string& file, const std::string& more = "") {
  return R"({"input_file_id":")" + file +
         R"(","endpoint":"/v1/completions","completion_window":"24h")" + more + "}";
}

inline std::string create(TestApi& api, const std::string& file) {
  return json_of(api.post(create_body(file), "/v1/batches"))["id"];
}

inline Json batch_of(TestApi& api, const std::string& id) {
  return json_of(api.get("/v1/batches/" + id));
}

// Waits for a status; returns the batch.
inline Json wait_for(TestApi& api, const std::string& id, const std::string& status) {
  Json batch;
  EXPECT_TRUE(eventually([&] { return (batch = batch_of(api, id))["status"] == status; }))
      << batch.dump();
  return batch;
}

inline std::string content(TestApi& api, const Json& id) {
  const std::string reply = api.get("/v1/files/" + id.get<std::string>() + "/content");
  EXPECT_EQ(status_of(reply), 200) << reply;
  return body_of(reply);
}

inline std::string lines(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    out += batch_line("id" + std::to_string(i), "p" + std::to_string(i), R"(,"max_tokens":4)");
  }
  return out;
}

// Answers, or says nothing for as long as `hang` is true.
inline TestApi::ScriptFn answers_unless(const std::shared_ptr<std::atomic<bool>>& hang) {
  return [hang, says = TestApi::says("ok")](const GenerateRequest& request) {
    Script script = says(request);
    script.hang = *hang;
    return script;
  };
}

}  // namespace daybreak::api
