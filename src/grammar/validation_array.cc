// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "grammar/schema_reader.h"
#include "grammar/validation.h"

namespace daybreak::grammar {

bool Validation::check_array(const Visit& visit) {
  const Schema& schema = visit.schema;
  const auto& items = visit.instance.items;
  if (!visit.instance.is(JsonNode::Kind::kArray)) {
    return true;
  }
  bool valid = true;
  if (schema.min_items && items.size() < *schema.min_items) {
    valid = report(visit, "minItems", "at least " + std::to_string(*schema.min_items) + " items",
                   std::to_string(items.size()));
  }
  if (schema.max_items && items.size() > *schema.max_items) {
    valid = report(visit, "maxItems", "at most " + std::to_string(*schema.max_items) + " items",
                   std::to_string(items.size()));
  }
  const std::size_t prefix = schema.prefix_items.size();
  for (std::size_t i = 0; i < items.size() && (valid || !enough()); ++i) {
    const Schema* child = i < prefix ? schema.prefix_items[i] : schema.items;
    if (child == nullptr) {
      break;
    }
    valid = apply_to_child(*child, visit.instance, i) && valid;
    mark_seen(visit.seen, i, items.size());
  }
  if (valid || !enough()) {
    valid = check_contains(visit) && valid;
  }
  if (schema.unique_items && (valid || !enough())) {
    valid = check_unique(visit) && valid;
  }
  return valid;
}

bool Validation::check_contains(const Visit& visit) {
  const Schema& schema = visit.schema;
  if (schema.contains == nullptr) {
    return true;
  }
  std::uint64_t matches = 0;
  const auto& items = visit.instance.items;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (test_child(*schema.contains, visit.instance, i)) {
      ++matches;
      mark_seen(visit.seen, i, items.size());
    }
    if (stopped_) {
      return false;
    }
  }
  bool valid = true;
  const std::uint64_t least = schema.min_contains.value_or(1);
  if (matches < least) {
    valid =
        report(visit, schema.min_contains ? "minContains" : "contains",
               "at least " + std::to_string(least) + " matching items", std::to_string(matches));
  }
  if (schema.max_contains && matches > *schema.max_contains) {
    valid = report(visit, "maxContains",
                   "at most " + std::to_string(*schema.max_contains) + " matching items",
                   std::to_string(matches));
  }
  return valid;
}

// By hash, so that a long array is not compared pair by pair.
bool Validation::check_unique(const Visit& visit) {
  const auto& items = visit.instance.items;
  if (!spend(visit.instance.raw.size() / 16)) {
    return false;
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> hashes;
  hashes.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    hashes.emplace_back(hash_value(items[i]), i);
  }
  std::ranges::sort(hashes);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const JsonNode& item = items[hashes[i].second];
    for (std::size_t j = i + 1; j < hashes.size() && hashes[j].first == hashes[i].first; ++j) {
      if (!spend(1 + item.raw.size() / 16)) {
        return false;
      }
      if (equal_values(item, items[hashes[j].second])) {
        return report(visit, "uniqueItems", "all items to differ",
                      "items " + std::to_string(hashes[i].second) + " and " +
                          std::to_string(hashes[j].second) + " equal");
      }
    }
  }
  return true;
}

}  // namespace daybreak::grammar
