// SPDX-License-Identifier: Apache-2.0
#include "base/out_of_memory.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace daybreak {
namespace {

TEST(OutOfMemory, IsAnErrorOfTheOneWhoAsked) {
  const auto failed = or_out_of_memory(Errc::kUnavailable, "slot 3",
                                       []() -> Result<int> { throw std::bad_alloc(); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), (Error{Errc::kUnavailable,
                                   "slot 3: not enough memory at the moment, try again later"}));
}

TEST(OutOfMemory, PassesOnWhatElseComes) {
  EXPECT_EQ(*or_out_of_memory(Errc::kUnavailable, "x", [] { return Result(7); }), 7);
  const Error own{Errc::kIo, "own"};
  EXPECT_EQ(or_out_of_memory(Errc::kUnavailable, "x", [&] { return Status(own); }).error(), own);
  EXPECT_THROW((void)or_out_of_memory(Errc::kUnavailable, "x",
                                      []() -> Status { throw std::runtime_error("other"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace daybreak
