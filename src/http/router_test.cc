// SPDX-License-Identifier: Apache-2.0
#include "http/router.h"

#include <gtest/gtest.h>

namespace daybreak::http {
namespace {

Router example() {
  Router router;
  const Handler none = [](Exchange&) -> Task<void> { co_return; };
  router.add("GET", "/v1/models", none);
  router.add("GET", "/v1/models/{model}", none);
  router.add("POST", "/v1/chat", none);
  router.add("GET", "/v1/chat", none);
  return router;
}

TEST(Router, FindsByMethodAndPath) {
  const Router router = example();
  EXPECT_NE(router.find("GET", "/v1/models").handler, nullptr);
  EXPECT_NE(router.find("HEAD", "/v1/models").handler, nullptr);
  EXPECT_NE(router.find("POST", "/v1/chat").handler, router.find("GET", "/v1/chat").handler);
}

TEST(Router, UnknownPathHasNoMethods) {
  const Router router = example();
  for (const char* path : {"/", "", "/v1/model", "/v1/models/", "/v1/chat/x", "/V1/models"}) {
    const Router::Match match = router.find("GET", path);
    EXPECT_EQ(match.handler, nullptr) << path;
    EXPECT_EQ(match.allow, "") << path;
    EXPECT_EQ(match.route, "none") << path;
  }
}

TEST(Router, WrongMethodListsTheRightOnes) {
  const Router router = example();
  EXPECT_EQ(router.find("DELETE", "/v1/chat").allow, "POST, GET, HEAD, OPTIONS");
  EXPECT_EQ(router.find("POST", "/v1/models").allow, "GET, HEAD, OPTIONS");
  EXPECT_EQ(router.find("POST", "/v1/models").handler, nullptr);
}

TEST(Router, ParameterTakesSlashesAndEscapes) {
  const Router router = example();
  const auto name = [&](const char* path) { return router.find("GET", path).parameters.at(0); };
  EXPECT_EQ(name("/v1/models/moonshotai/Kimi-K3"), "moonshotai/Kimi-K3");
  EXPECT_EQ(name("/v1/models/moonshotai%2FKimi-K3"), "moonshotai/Kimi-K3");
  EXPECT_EQ(name("/v1/models/100%"), "100%");
  EXPECT_EQ(name("/v1/models/%zz%4"), "%zz%4");
}

// The shorter pattern has no part in what is below it, whichever was added first.
TEST(Router, TheMostExactPatternIsMeant) {
  const Handler none = [](Exchange&) -> Task<void> { co_return; };
  for (const bool reverse : {false, true}) {
    Router router;
    for (const bool longer : {reverse, !reverse}) {
      router.add(longer ? "POST" : "GET", longer ? "/v1/x/{id}/cancel" : "/v1/x/{id}", none);
    }
    const Router::Match cancel = router.find("POST", "/v1/x/a%2Fb/cancel");
    ASSERT_NE(cancel.handler, nullptr);
    EXPECT_EQ(cancel.route, "/v1/x/{id}/cancel");
    EXPECT_EQ(cancel.parameters, std::vector<std::string>{"a/b"});
    EXPECT_EQ(cancel.allow, "POST, OPTIONS");
    EXPECT_EQ(router.find("GET", "/v1/x/a/cancel").handler, nullptr);
    EXPECT_EQ(router.find("GET", "/v1/x//cancel").route, "/v1/x/{id}") << "nothing is no name";
    EXPECT_EQ(router.find("GET", "/v1/x/a/cancels").parameters.at(0), "a/cancels");
    EXPECT_EQ(router.find("POST", "/v1/x/a").allow, "GET, HEAD, OPTIONS");
  }
}

TEST(Router, RouteLabelIsThePattern) {
  EXPECT_EQ(example().find("GET", "/v1/models/abc").route, "/v1/models/{model}");
}

}  // namespace
}  // namespace daybreak::http
