// SPDX-License-Identifier: Apache-2.0
#include "engine/adapter_registry.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/fake_adapter.h"

namespace daybreak::engine {
namespace {

// The digest is the path.
Result<AdapterPtr> load_fake(const std::filesystem::path& path, const std::string& name) {
  if (path == "bad") {
    return Error{Errc::kInvalidArgument, "damaged"};
  }
  return fake_adapter(name, path.string());
}

TEST(AdapterRegistry, FindsWhatWasLoadedUntilItIsUnloaded) {
  AdapterRegistry registry(load_fake, 4);
  EXPECT_EQ(registry.find("a"), nullptr);
  ASSERT_TRUE(registry.load("a", "pa", 5));
  ASSERT_TRUE(registry.load("b", "pb", 6));
  const auto list = registry.list();
  ASSERT_EQ(list->size(), 2U);
  EXPECT_EQ((*list)[0].name, "a");
  EXPECT_EQ((*list)[0].path, "pa");
  EXPECT_EQ((*list)[0].created, 5);
  const AdapterPtr taken = registry.find("a");
  ASSERT_NE(taken, nullptr);
  ASSERT_TRUE(registry.unload("a"));
  EXPECT_EQ(registry.find("a"), nullptr);
  EXPECT_EQ(taken->digest(), "pa") << "who has taken it keeps it";
  EXPECT_EQ(list->size(), 2U) << "a list stays as it is";
  const Status again = registry.unload("a");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::kNotFound);
  EXPECT_EQ(again.error().message, "lora_name: no adapter 'a' is loaded");
}

TEST(AdapterRegistry, ANameIsLoadedOnceUnlessItIsToBeReplaced) {
  AdapterRegistry registry(load_fake, 4);
  ASSERT_TRUE(registry.load("a", "1", 0));
  const Status again = registry.load("a", "2", 0);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "lora_name: the adapter 'a' is loaded already");
  EXPECT_EQ(registry.find("a")->digest(), "1");
  ASSERT_TRUE(registry.load("a", "2", 0, AdapterRegistry::IfLoaded::kReplace));
  EXPECT_EQ(registry.find("a")->digest(), "2");
  EXPECT_EQ(registry.list()->size(), 1U);
}

TEST(AdapterRegistry, WhatFailsToLoadLeavesNothing) {
  AdapterRegistry registry(load_fake, 1);
  for (int i = 0; i < 3; ++i) {
    const Status bad = registry.load("a", "bad", 0);
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().message, "lora adapter 'a': damaged");
  }
  EXPECT_TRUE(registry.load("a", "good", 0)) << "its place is free";
}

TEST(AdapterRegistry, TheBoundCountsWhatIsStillInUse) {
  AdapterRegistry registry(load_fake, 2);
  ASSERT_TRUE(registry.load("a", "1", 0));
  ASSERT_TRUE(registry.load("b", "2", 0));
  EXPECT_EQ(registry.load("c", "3", 0).error().code, Errc::kResourceLimit);
  AdapterPtr used = registry.find("a");
  ASSERT_TRUE(registry.unload("a"));
  EXPECT_EQ(registry.load("c", "3", 0).error().code, Errc::kResourceLimit);
  used.reset();
  EXPECT_TRUE(registry.load("c", "3", 0));
}

TEST(AdapterRegistry, NamesArePlain) {
  AdapterRegistry registry(load_fake, 200);
  for (const std::string& name : {std::string(), std::string("a b"), std::string("a\x1f"),
                                  std::string("\xc3\xa4"), std::string(kMaxAdapterName + 1, 'a')}) {
    EXPECT_EQ(registry.load(name, "p", 0).error().code, Errc::kInvalidArgument) << name;
  }
  EXPECT_TRUE(registry.load(std::string(kMaxAdapterName, 'a'), "p", 0));
  EXPECT_TRUE(registry.load("org/name:v1.2", "p", 0));
}

}  // namespace
}  // namespace daybreak::engine
