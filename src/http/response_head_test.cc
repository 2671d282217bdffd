// SPDX-License-Identifier: Apache-2.0
#include "http/response_head.h"

#include <gtest/gtest.h>

#include <set>

#include "http/message.h"

namespace daybreak::http {
namespace {

TEST(ResponseHead, DateIsTheOneOfTheRfc) {
  // 784111777 = 1994-11-06 08:49:37 UTC, the example of RFC 9110, 5.6.7.
  EXPECT_EQ(http_date(std::chrono::system_clock::from_time_t(784111777)),
            "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(ResponseHead, ValueCannotAddAHeader) {
  std::string out;
  append_header(out, "X", "a\r\nSet-Cookie: b\x7f");
  EXPECT_EQ(out, "X: a  Set-Cookie: b \r\n");
}

TEST(ResponseHead, RequestIdOfTheClientIsEchoedWhenWellFormed) {
  EXPECT_EQ(request_id("abc-1_2.Z"), "abc-1_2.Z");
  const std::string longest(kMaxRequestIdBytes, 'a');
  EXPECT_EQ(request_id(longest), longest);
  EXPECT_NE(request_id(longest + "a"), longest + "a");
  EXPECT_NE(request_id("a b"), "a b");
  EXPECT_NE(request_id("a\r\nb"), "a\r\nb");
}

TEST(ResponseHead, OwnRequestIdsDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    ids.insert(request_id(""));
  }
  EXPECT_EQ(ids.size(), 1000U);
}

TEST(ResponseHead, ChunkHeadIsHexadecimal) { EXPECT_EQ(chunk_head(65535), "ffff\r\n"); }

TEST(ResponseHead, EveryStatusThisServerSendsHasAReason) {
  for (const int status :
       {200, 204, 400, 401, 403, 404, 405, 408, 413, 417, 429, 431, 499, 500, 501, 503, 504, 505}) {
    EXPECT_NE(reason(status), "Unknown") << status;
  }
}

}  // namespace
}  // namespace daybreak::http
