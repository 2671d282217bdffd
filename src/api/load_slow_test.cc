// SPDX-License-Identifier: Apache-2.0
// As in load_fault_test.cc, ten thousand times.

#include <gtest/gtest.h>

#include "api/load_test_clients.h"

namespace daybreak::api {
namespace {

TEST(LoadSlow, TenThousandClientsThatLeaveLeaveNothingBehind) { expect_nothing_leaks(10'000); }

}  // namespace
}  // namespace daybreak::api
