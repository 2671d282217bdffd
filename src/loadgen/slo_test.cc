// SPDX-License-Identifier: Apache-2.0
#include "loadgen/slo.h"

#include <gtest/gtest.h>

namespace daybreak::loadgen {
namespace {

TEST(Slos, AreReadAsVllmSpellsThem) {
  const auto slos = parse_slos({"ttft:500", "tpot:50.5"});
  ASSERT_TRUE(slos);
  EXPECT_EQ(slos->ttft_ms, 500);
  EXPECT_EQ(slos->tpot_ms, 50.5);
  EXPECT_FALSE(slos->e2el_ms);
  EXPECT_TRUE(slos->any());
  EXPECT_FALSE(parse_slos({})->any());
}

TEST(Slos, OthersAreRefused) {
  for (const char* const text : {"", "ttft", "ttft:", "itl:5", "ttft:x", "ttft:-1", "ttft:inf",
                                 "ttft:nan", "ttft:5ms", ":5"}) {
    const auto slos = parse_slos({text});
    ASSERT_FALSE(slos) << text;
    EXPECT_EQ(slos.error().message,
              std::string("--goodput: expected ttft:MS, tpot:MS or e2el:MS, each once, found '") +
                  text + "'");
  }
  EXPECT_FALSE(parse_slos({"ttft:1", "ttft:2"}));
}

TEST(Slos, AreKeptUpToTheirLimit) {
  const Slos slos = *parse_slos({"ttft:500", "tpot:50", "e2el:1000"});
  EXPECT_TRUE(slos.kept_by({.ttft_seconds = 0.5, .tpot_seconds = 0.05, .e2el_seconds = 1}));
  EXPECT_FALSE(slos.kept_by({.ttft_seconds = 0.501, .tpot_seconds = 0, .e2el_seconds = 0}));
  EXPECT_FALSE(slos.kept_by({.ttft_seconds = 0, .tpot_seconds = 0.051, .e2el_seconds = 0}));
  EXPECT_FALSE(slos.kept_by({.ttft_seconds = 0, .tpot_seconds = 0, .e2el_seconds = 1.001}));
  EXPECT_TRUE(Slos{}.kept_by({.ttft_seconds = 9, .tpot_seconds = 9, .e2el_seconds = 9}));
}

}  // namespace
}  // namespace daybreak::loadgen
