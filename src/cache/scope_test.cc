// SPDX-License-Identifier: Apache-2.0
#include "cache/scope.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace daybreak::cache {
namespace {

TEST(Scope, WithoutAnAdapterItIsTheIsolation) {
  EXPECT_EQ(make_scope({.isolation = "tenant\nsalt", .lora_name = {}, .lora_digest = {}}),
            "tenant\nsalt");
  EXPECT_EQ(make_scope({}), "");
}

// Isolations that try to look like another's scope, and digests and names that run together.
TEST(Scope, DiffersWhereverAPartDoesAndGivesThemBack) {
  std::vector<std::string> isolations = {"", "a", "a\nb", "\x1f", "\x1f\x1f", "d\x1fn\x1f"};
  std::set<std::string> scopes;
  std::size_t made = 0;
  for (int round = 0; round < 2; ++round) {
    const std::size_t count = isolations.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<ScopeParts> all = {
          {.isolation = isolations[i], .lora_name = {}, .lora_digest = {}},
          {.isolation = isolations[i], .lora_name = "n", .lora_digest = "d"},
          {.isolation = isolations[i], .lora_name = "nd", .lora_digest = "d"},
          {.isolation = isolations[i], .lora_name = "n", .lora_digest = "dn"}};
      std::vector<std::string> forged;
      for (const ScopeParts& parts : all) {
        const std::string scope = make_scope(parts);
        ++made;
        scopes.insert(scope);
        const ScopeParts back = split_scope(scope);
        EXPECT_EQ(back.isolation, parts.isolation);
        EXPECT_EQ(back.lora_name, parts.lora_name);
        EXPECT_EQ(back.lora_digest, parts.lora_digest);
        forged.push_back(scope);
      }
      if (round == 0) {  // the second time, the scopes of others are isolations
        isolations.insert(isolations.end(), forged.begin() + 1, forged.end());
      }
    }
    if (round == 0) {
      isolations.erase(isolations.begin(), isolations.begin() + static_cast<std::ptrdiff_t>(count));
    }
  }
  EXPECT_EQ(scopes.size(), made);
}

}  // namespace
}  // namespace daybreak::cache
