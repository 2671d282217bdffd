// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace daybreak {
namespace {

Result<int> half(int x) {
  if (x % 2 != 0) {
    return Error{Errc::kInvalidArgument, "x: expected an even number, found " + std::to_string(x)};
  }
  return x / 2;
}

Result<int> quarter(int x) {
  DAYBREAK_TRY(const int h, half(x));
  return half(h);
}

Status only_even(int x) {
  DAYBREAK_CHECK_OK([&]() -> Status {
    DAYBREAK_TRY([[maybe_unused]] const int h, half(x));
    return ok();
  }());
  return ok();
}

TEST(Result, TryBindsTheValueOrReturnsTheError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "x: expected an even number, found 3");
  EXPECT_TRUE(only_even(2));
  EXPECT_FALSE(only_even(3));
}

TEST(Result, InPrefixesTheContext) {
  EXPECT_EQ(half(3).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(std::move(half(3).error()).in("row 7").message,
            "row 7: x: expected an even number, found 3");
}

TEST(Result, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> r = std::make_unique<int>(4);
  const std::unique_ptr<int> owned = *std::move(r);
  EXPECT_EQ(*owned, 4);
}

TEST(Errc, EveryCodeHasTheDocumentedStatusAndExitCode) {
  struct Expected {
    Errc code;
    const char* name;
    int http;
    int exit;
  };
  const Expected rows[] = {
      {Errc::kInvalidArgument, "invalid_argument", 400, 2},
      {Errc::kUnauthenticated, "unauthenticated", 401, 2},
      {Errc::kPermission, "permission", 403, 2},
      {Errc::kNotFound, "not_found", 404, 2},
      {Errc::kTooLarge, "too_large", 413, 2},
      {Errc::kResourceLimit, "resource_limit", 429, 1},
      {Errc::kCancelled, "cancelled", 499, 1},
      {Errc::kCorrupt, "corrupt", 500, 1},
      {Errc::kUnsupported, "unsupported", 501, 2},
      {Errc::kUnavailable, "unavailable", 503, 1},
      {Errc::kDeadline, "deadline", 504, 1},
      {Errc::kIo, "io", 500, 1},
  };
  for (const Expected& e : rows) {
    EXPECT_EQ(to_string(e.code), e.name);
    EXPECT_EQ(http_status(e.code), e.http) << e.name;
    EXPECT_EQ(exit_code(e.code), e.exit) << e.name;
  }
}

}  // namespace
}  // namespace daybreak
