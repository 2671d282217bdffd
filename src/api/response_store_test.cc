// SPDX-License-Identifier: Apache-2.0
// What is kept of responses, and what is not: bounds, sharing, ids.

#include "api/response_store.h"

#include <gtest/gtest.h>

#include "testing/hand_clock.h"

namespace daybreak::api {
namespace {

std::function<std::uint64_t()> counter() {
  return [n = std::uint64_t{0}]() mutable { return (++n) * 0x9E3779B97F4A7C15ULL; };
}

chat::ResponsesItemPtr item(std::string body, std::string id = {}, bool ours = false) {
  return std::make_shared<const chat::ResponsesItem>(
      chat::ResponsesItem{.id = std::move(id), .body = std::move(body), .ours = ours});
}

ResponseStore::Response response(std::string id, std::size_t bytes = 100, std::string owner = "") {
  return {.owner = std::move(owner),
          .id = std::move(id),
          .json = std::string(bytes, 'x'),
          .previous = {},
          .input = {},
          .output = {}};
}

TEST(ResponseStore, KeepsFindsAndForgets) {
  ResponseStore store({}, counter());
  EXPECT_TRUE(store.put(response("resp_1")));
  ASSERT_TRUE(store.find("", "resp_1"));
  EXPECT_EQ((*store.find("", "resp_1"))->json.size(), 100U);
  EXPECT_TRUE(store.remove("", "resp_1"));
  EXPECT_EQ(store.stats().bytes, 0U);
  for (const Error& error :
       {store.find("", "resp_1").error(), store.remove("", "resp_1").error(),
        store.conversation("", "resp_1").error(), store.find_item("", "x").error()}) {
    EXPECT_EQ(error.code, Errc::kNotFound);
    EXPECT_NE(error.message.find("kept for at most 3600 seconds"), std::string::npos)
        << error.message;
  }
}

TEST(ResponseStore, OldestGoesAtTheBoundOfResponses) {
  ResponseStore store({.max_responses = 2}, counter());
  store.put(response("resp_1"));
  store.put(response("resp_2"));
  EXPECT_TRUE(store.find("", "resp_1"));  // at the bound
  store.put(response("resp_3"));
  EXPECT_FALSE(store.find("", "resp_1"));
  EXPECT_TRUE(store.find("", "resp_2"));
  EXPECT_EQ(store.stats().evicted, 1U);
}

TEST(ResponseStore, OldestGoesAtTheBoundOfBytes) {
  ResponseStore one({}, counter());
  one.put(response("resp_1"));
  const std::size_t each = one.stats().bytes;
  ResponseStore store({.max_bytes = 2 * each}, counter());
  store.put(response("resp_1"));
  store.put(response("resp_2"));
  EXPECT_TRUE(store.find("", "resp_1"));  // exactly full
  EXPECT_FALSE(store.put(response("resp_3", 2 * each)));
  EXPECT_TRUE(store.find("", "resp_1"));            // one that cannot fit costs nothing
  EXPECT_TRUE(store.put(response("resp_4", 101)));  // one byte more than fits beside both
  EXPECT_FALSE(store.find("", "resp_1"));
  EXPECT_FALSE(store.find("", "resp_2"));
  EXPECT_TRUE(store.find("", "resp_4"));
}

TEST(ResponseStore, AgeIsABound) {
  testing::HandClock clock;
  ResponseStore store({.max_age = std::chrono::seconds(10), .clock = &clock}, counter());
  store.put(response("resp_1"));
  clock.advance(std::chrono::seconds(9));
  EXPECT_TRUE(store.find("", "resp_1"));
  clock.advance(std::chrono::seconds(1));
  EXPECT_FALSE(store.find("", "resp_1"));
  EXPECT_EQ(store.stats().bytes, 0U);
}

TEST(ResponseStore, SwitchedOffKeepsNothing) {
  ResponseStore store({.max_bytes = 0}, counter());
  EXPECT_FALSE(store.keeps_anything());
  EXPECT_FALSE(store.put(response("resp_1")));
  EXPECT_NE(store.find("", "resp_1").error().message.find("response_store_mb is 0"),
            std::string::npos);
}

TEST(ResponseStore, SharedItemsAreCountedOnceAndFreedWithTheLastResponse) {
  ResponseStore store({}, counter());
  auto first = response("resp_1");
  first.output = {item(std::string(10'000, ' '), "msg_1", true)};
  store.put(std::move(first));
  const std::size_t before = store.stats().bytes;
  auto second = response("resp_2");
  second.previous = *store.conversation("", "resp_1");
  ASSERT_EQ(second.previous.size(), 1U);
  store.put(std::move(second));
  EXPECT_LT(store.stats().bytes, before + 2'000);
  EXPECT_TRUE(store.remove("", "resp_1"));
  EXPECT_TRUE(store.find_item("", "msg_1"));
  EXPECT_EQ(store.conversation("", "resp_2")->at(0)->id, "msg_1");
  EXPECT_TRUE(store.remove("", "resp_2"));
  EXPECT_FALSE(store.find_item("", "msg_1"));
  EXPECT_EQ(store.stats().bytes, 0U);
}

// Otherwise one client could read, by guessing, what another has sent.
TEST(ResponseStore, ItemsWithForeignIdsGetOursAndCannotBeFoundByTheirs) {
  ResponseStore store({}, counter());
  auto one = response("resp_1");
  one.input = {item("{\"a\":1}", "1"), item("{\"b\":2}")};
  one.output = {item("{\"c\":3}", "msg_1", true)};
  store.put(std::move(one));
  EXPECT_FALSE(store.find_item("", "1"));
  EXPECT_FALSE(store.find_item("", ""));
  const auto kept = *store.find("", "resp_1");
  EXPECT_TRUE(kept->input[0]->id.starts_with("item_"));
  EXPECT_NE(kept->input[0]->id, kept->input[1]->id);
  EXPECT_EQ(kept->input[0]->json(), "{\"id\":\"" + kept->input[0]->id + "\",\"a\":1}");
  // One that claims an id of ours does not replace what has it.
  auto two = response("resp_2");
  two.input = {item("{\"other\":true}", "msg_1"), item("{\"c\":3}", "msg_1")};
  store.put(std::move(two));
  EXPECT_EQ((*store.find_item("", "msg_1"))->body, "{\"c\":3}");
  EXPECT_NE((*store.find("", "resp_2"))->input[0]->id, "msg_1");
  EXPECT_EQ((*store.find("", "resp_2"))->input[1]->id, "msg_1");
}

TEST(ResponseStore, AnItemThatComesTwiceInAListHasTwoIds) {
  ResponseStore store({}, counter());
  auto one = response("resp_1");
  one.output = {item("{\"c\":3}", "msg_1", true)};
  store.put(std::move(one));
  const auto known = *store.find_item("", "msg_1");
  auto two = response("resp_2");
  two.input = {known, item("{\"d\":4}"), known};
  store.put(std::move(two));
  const auto kept = *store.find("", "resp_2");
  EXPECT_EQ(kept->input[0]->id, "msg_1");
  EXPECT_NE(kept->input[2]->id, "msg_1");
  EXPECT_EQ(kept->input[2]->body, known->body);
  EXPECT_TRUE(store.find_item("", kept->input[2]->id));
  EXPECT_TRUE(store.remove("", "resp_1"));
  EXPECT_TRUE(store.remove("", "resp_2"));
  EXPECT_EQ(store.stats().bytes, 0U);
}

TEST(ResponseStore, OwnersFindTheirOwnAlone) {
  ResponseStore store({}, counter());
  auto one = response("resp_1", 100, "key:1");
  one.output = {item("{\"c\":3}", "msg_1", true)};
  store.put(std::move(one));
  for (const char* other : {"key:2", "tenant:a", ""}) {
    const Error hidden = store.find(other, "resp_1").error();
    Error unknown = store.find("key:1", "resp_2").error();
    unknown.message.replace(unknown.message.find("resp_2"), 6, "resp_1");
    EXPECT_EQ(hidden, unknown) << "it must look as if it were not there";
    EXPECT_FALSE(store.conversation(other, "resp_1"));
    EXPECT_FALSE(store.find_item(other, "msg_1"));
    EXPECT_FALSE(store.remove(other, "resp_1"));
  }
  // An item of another owner under the same id is another item.
  auto two = response("resp_2", 100, "key:2");
  two.output = {item("{\"c\":3}", "msg_1", true)};
  store.put(std::move(two));
  EXPECT_TRUE(store.remove("key:1", "resp_1"));
  EXPECT_FALSE(store.find_item("key:1", "msg_1"));
  EXPECT_TRUE(store.find_item("key:2", "msg_1"));
  EXPECT_TRUE(store.remove("key:2", "resp_2"));
  EXPECT_EQ(store.stats().bytes, 0U);
}

TEST(ResponseStore, WhoHoldsMostMakesRoom) {
  ResponseStore one({}, counter());
  one.put(response("resp_1", 100, "a"));
  const std::size_t each = one.stats().bytes;
  for (const bool by_bytes : {true, false}) {
    ResponseStore store({.max_bytes = by_bytes ? 4 * each + 100 : 100 * each,
                         .max_responses = by_bytes ? std::size_t{100} : std::size_t{4}},
                        counter());
    store.put(response("resp_a", 100, "a"));
    for (int i = 0; i < 20; ++i) {
      store.put(response("resp_" + std::to_string(i), 100, "b"));
    }
    EXPECT_TRUE(store.find("a", "resp_a")) << "pushed out by another";
    EXPECT_FALSE(store.find("b", "resp_16"));
    EXPECT_TRUE(store.find("b", "resp_17"));
    EXPECT_TRUE(store.find("b", "resp_19"));
    EXPECT_EQ(store.stats().responses, 4U);
    EXPECT_EQ(store.stats().evicted, 17U);
  }
}

}  // namespace
}  // namespace daybreak::api
