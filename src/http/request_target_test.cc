// SPDX-License-Identifier: Apache-2.0
#include "http/request_target.h"

#include <gtest/gtest.h>

namespace daybreak::http {
namespace {

// "PATH|QUERY|AUTHORITY", or "refused".
std::string shown(std::string_view target, std::string_view method = "GET") {
  const auto parsed = parse_target(method, target);
  return parsed ? parsed->path + "|" + parsed->query + "|" + parsed->authority : "refused";
}

TEST(RequestTarget, AbsolutePathsAreTakenAsTheyAre) {
  EXPECT_EQ(shown("/"), "/||");
  EXPECT_EQ(shown("/v1/models?a=1?b"), "/v1/models|a=1?b|");
  EXPECT_EQ(shown("/a?"), "/a||");
  EXPECT_EQ(shown("//a/http://b/"), "//a/http://b/||");
}

TEST(RequestTarget, UrlsArePathAndAuthority) {
  EXPECT_EQ(shown("http://localhost/health"), "/health||localhost");
  EXPECT_EQ(shown("https://h.example:8000/a/b?c=d"), "/a/b|c=d|h.example:8000");
  EXPECT_EQ(shown("HTTP://H/"), "/||H");
  EXPECT_EQ(shown("http://[::1]:80/x"), "/x||[::1]:80");
  EXPECT_EQ(shown("http://127.0.0.1:/x"), "/x||127.0.0.1:");
  EXPECT_EQ(shown("http://h"), "/||h");
  EXPECT_EQ(shown("http://h?a=/b"), "/|a=/b|h");
  EXPECT_EQ(shown("http://h/http://other/"), "/http://other/||h");
}

TEST(RequestTarget, TheAsteriskIsForOptions) {
  EXPECT_EQ(shown("*", "OPTIONS"), "*||");
  EXPECT_EQ(shown("http://h:1", "OPTIONS"), "*||h:1");
  EXPECT_EQ(shown("http://h:1/", "OPTIONS"), "/||h:1");
  EXPECT_EQ(shown("*"), "refused");
}

TEST(RequestTarget, WhatNamesNoResourceHereIsRefused) {
  for (const char* target : {"",
                             "health",
                             "h:80",
                             "ftp://h/",
                             "http:/h/",
                             "http:h",
                             "http://",
                             "http:///x",
                             "http://:80/",
                             "http://user@h/",
                             "http://user:pw@h/",
                             "http://h:80a/",
                             "http://h:65536/",
                             "http://h:-1/",
                             "http://[::1/",
                             "http://[]/",
                             "http://[::1]x/",
                             "http://[::1@h]/",
                             "http://a\\b/",
                             "http://h\"/",
                             "http://#f",
                             "httpx://h/",
                             "/a b",
                             "http://h/\x7f",
                             "/\xc3\xa9"}) {
    EXPECT_EQ(shown(target), "refused") << target;
  }
}

}  // namespace
}  // namespace daybreak::http
