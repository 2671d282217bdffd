// SPDX-License-Identifier: Apache-2.0
#include "grammar/random_instance.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/instance_scalars.h"
#include "grammar/json_spelling.h"
#include "grammar/random_text.h"

namespace daybreak::grammar {
namespace {

using Ref = const Schema*;
using Options = RandomInstanceOptions;
using Text = std::optional<std::string>;

constexpr int kAttempts = 8;
constexpr int kItemTries = 20;                // for one more distinct item
constexpr std::size_t kMaxConjuncts = 400;    // schemas that hold for one value
constexpr std::uint64_t kMoreThanNeeded = 3;  // items and members beyond the minimum
constexpr std::uint64_t kMaxItems = 300;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

class InstanceMaker {
 public:
  InstanceMaker(Rng& rng, const Options& options) : rng_(rng), options_(options) {}

  Text value(std::vector<Ref> schemas, std::size_t depth);

 private:
  // Everything one object asks of its members.
  struct Members {
    std::vector<std::string> names;  // those included, in order
    std::vector<Ref> schemas;
    std::size_t depth = 0;
    std::uint64_t min = 0, max = kNoLimit;
  };

  // Appends `schema` and all that hold with it, one branch where there is a choice. Returns false
  // on `false` or when there are too many.
  bool expand(Ref schema, std::vector<Ref>& out);
  bool expand_choice(const std::vector<Ref>& branches, std::vector<Ref>& out);
  Text chosen(const std::vector<Ref>& schemas);
  Text of_type(std::uint8_t type, const std::vector<Ref>& schemas, std::size_t depth);
  Text array(const std::vector<Ref>& schemas, std::size_t depth);
  Text item(std::size_t index, const std::vector<Ref>& schemas, Ref contained, std::size_t depth);
  Text object(std::vector<Ref> schemas, std::size_t depth);
  bool add_required(Members& members);
  void add_optional(Members& members);
  void add_extra(Members& members);
  Text new_name(const Members& members);
  std::vector<Ref> member_schemas(const std::vector<Ref>& schemas, const std::string& name);
  Text written(const Members& members);

  Rng& rng_;
  Options options_;
  SampledPatterns patterns_;
};

bool InstanceMaker::expand(Ref schema, std::vector<Ref>& out) {
  if (schema == nullptr || std::ranges::find(out, schema) != out.end()) {
    return true;
  }
  if (schema->always) {
    return *schema->always;
  }
  if (out.size() >= kMaxConjuncts) {
    return false;
  }
  out.push_back(schema);
  bool possible = expand(schema->ref, out) && expand(schema->dynamic_ref, out);
  for (Ref each : schema->all_of) {
    possible = possible && expand(each, out);
  }
  if (schema->has_any_of) {
    possible = possible && expand_choice(schema->any_of, out);
  }
  if (schema->has_one_of) {
    possible = possible && expand_choice(schema->one_of, out);
  }
  if (schema->condition != nullptr) {
    possible = possible && (chance(rng_, 50)
                                ? expand(schema->condition, out) && expand(schema->consequence, out)
                                : expand(schema->alternative, out));
  }
  return possible;
}

bool InstanceMaker::expand_choice(const std::vector<Ref>& branches, std::vector<Ref>& out) {
  return !branches.empty() && expand(pick(rng_, branches), out);
}

std::uint8_t types_of(const std::vector<Ref>& schemas) {
  std::uint8_t types = kAllTypes;
  for (Ref s : schemas) {
    std::uint8_t own = s->types.value_or(kAllTypes);
    if ((own & kNumberType) != 0) {
      own |= kIntegerType;
    }
    types &= own;
  }
  return types;
}

// Types that keywords speak of, for schemas that name none.
std::uint8_t types_spoken_of(const std::vector<Ref>& schemas) {
  std::uint8_t types = 0;
  for (Ref s : schemas) {
    if (!s->properties.empty() || !s->required.empty() || s->additional_properties != nullptr) {
      types |= kObjectType;
    }
    if (s->items != nullptr || !s->prefix_items.empty() || s->min_items || s->max_items) {
      types |= kArrayType;
    }
    if (s->pattern || s->format || s->min_length || s->max_length) {
      types |= kStringType;
    }
    if (s->minimum || s->maximum || s->exclusive_minimum || s->exclusive_maximum ||
        s->multiple_of) {
      types |= kNumberType | kIntegerType;
    }
  }
  return types;
}

bool of_types(const JsonNode& node, std::uint8_t types) {
  switch (node.kind) {
    case JsonNode::Kind::kNull:
      return (types & kNullType) != 0;
    case JsonNode::Kind::kBoolean:
      return (types & kBooleanType) != 0;
    case JsonNode::Kind::kNumber:
      return (types & (kNumberType | kIntegerType)) != 0;
    case JsonNode::Kind::kString:
      return (types & kStringType) != 0;
    case JsonNode::Kind::kArray:
      return (types & kArrayType) != 0;
    case JsonNode::Kind::kObject:
      return (types & kObjectType) != 0;
  }
  __builtin_unreachable();
}

// One of the values that every const and enum holds; nothing if there are none.
Text InstanceMaker::chosen(const std::vector<Ref>& schemas) {
  std::vector<const JsonNode*> candidates;
  for (Ref s : schemas) {
    if (s->constant != nullptr) {
      candidates = {s->constant};
      break;
    }
    if (s->enumeration != nullptr && candidates.empty()) {
      for (const JsonNode& each : s->enumeration->items) {
        candidates.push_back(&each);
      }
    }
  }
  const std::uint8_t types = types_of(schemas);
  std::erase_if(candidates, [&](const JsonNode* node) {
    return !of_types(*node, types) || std::ranges::any_of(schemas, [&](Ref s) {
      return s->enumeration != nullptr &&
             std::ranges::none_of(s->enumeration->items,
                                  [&](const JsonNode& n) { return equal_values(n, *node); });
    });
  });
  return candidates.empty() ? std::nullopt : Text(compact_json(*pick(rng_, candidates)));
}

Text InstanceMaker::value(std::vector<Ref> schemas, std::size_t depth) {
  if (depth > 2 * options_.max_depth) {
    return std::nullopt;
  }
  std::vector<Ref> all;
  for (Ref s : schemas) {
    if (!expand(s, all)) {
      return std::nullopt;
    }
  }
  if (std::ranges::any_of(all, [](Ref s) { return s->constant || s->enumeration; })) {
    return chosen(all);
  }
  std::uint8_t types = types_of(all);
  if (types == kAllTypes) {
    const std::uint8_t spoken = types_spoken_of(all);
    if (spoken == 0) {
      return random_value(rng_, depth < options_.max_depth ? 2 : 0);
    }
    types = chance(rng_, 80) ? spoken : types;
  }
  if (types == 0) {
    return std::nullopt;
  }
  std::vector<std::uint8_t> choices;
  for (unsigned bit = 1; bit <= kObjectType; bit <<= 1) {
    if ((types & bit) != 0) {
      choices.push_back(static_cast<std::uint8_t>(bit));
    }
  }
  return of_type(pick(rng_, choices), all, depth);
}

Text InstanceMaker::of_type(std::uint8_t type, const std::vector<Ref>& schemas, std::size_t depth) {
  switch (type) {
    case kNullType:
      return "null";
    case kBooleanType:
      return chance(rng_, 50) ? "true" : "false";
    case kIntegerType:
      return random_number_of(schemas, Integer::kYes, rng_);
    case kNumberType:
      return random_number_of(schemas, Integer::kNo, rng_);
    case kStringType: {
      const auto text = random_string_of(schemas, options_.text, patterns_, rng_);
      return text ? Text(json_quoted(*text)) : std::nullopt;
    }
    case kArrayType:
      return array(schemas, depth);
    default:
      return object(schemas, depth);
  }
}

Text InstanceMaker::item(std::size_t index, const std::vector<Ref>& schemas, Ref contained,
                         std::size_t depth) {
  std::vector<Ref> own;
  for (Ref s : schemas) {
    if (index < s->prefix_items.size()) {
      own.push_back(s->prefix_items[index]);
    } else if (s->items != nullptr) {
      own.push_back(s->items);
    }
  }
  if (contained != nullptr) {
    own.push_back(contained);
  }
  return value(std::move(own), depth + 1);
}

Text InstanceMaker::array(const std::vector<Ref>& schemas, std::size_t depth) {
  std::uint64_t min = 0;
  std::uint64_t max = kNoLimit;
  bool unique = false;
  std::vector<Ref> contained;  // one entry for each item that must match it
  for (Ref s : schemas) {
    min = std::max(min, s->min_items.value_or(0));
    max = std::min(max, s->max_items.value_or(kNoLimit));
    unique |= s->unique_items;
    if (s->items != nullptr && s->items->always == false) {
      max = std::min<std::uint64_t>(max, s->prefix_items.size());
    }
    if (s->contains != nullptr) {
      contained.insert(contained.end(), std::min(s->min_contains.value_or(1), kMaxItems),
                       s->contains);
    }
  }
  min = std::max<std::uint64_t>(min, contained.size());
  if (min > max || min > kMaxItems) {
    return std::nullopt;
  }
  const std::uint64_t spread =
      depth > options_.max_depth ? 0 : std::min(max - min, kMoreThanNeeded);
  const std::uint64_t count = min + rng_.below(static_cast<std::uint32_t>(spread + 1));
  std::vector<std::string> items;
  // Those that must match `contains` stand at random places, but late enough to find one.
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool forced = contained.size() >= count - i;
    Ref match = !contained.empty() && (forced || chance(rng_, 40)) ? contained.back() : nullptr;
    Text text;
    for (int tries = 0; tries < (unique ? kItemTries : 1); ++tries) {
      text = item(i, schemas, match, depth);
      if (text && !(unique && std::ranges::find(items, *text) != items.end())) {
        break;
      }
      text.reset();
    }
    if (!text) {
      return items.size() >= min && contained.empty() ? Text(json_list(items)) : std::nullopt;
    }
    if (match != nullptr) {
      contained.pop_back();
    }
    items.push_back(*std::move(text));
  }
  return json_list(items);
}

void include(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) {
    names.push_back(name);
  }
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// Adds what is required, also because something else is there. Returns false on a contradiction.
bool InstanceMaker::add_required(Members& members) {
  for (bool changed = true; changed;) {
    const std::size_t before = members.names.size() + members.schemas.size();
    const std::vector<Ref> schemas = members.schemas;  // it may grow
    for (Ref s : schemas) {
      for (const std::string& name : s->required) {
        include(members.names, name);
      }
      for (const auto& [name, more] : s->dependent_required) {
        for (const std::string& each : has(members.names, name) ? more : decltype(more){}) {
          include(members.names, each);
        }
      }
      for (const auto& [name, schema] : s->dependent_schemas) {
        if (has(members.names, name) && !expand(schema, members.schemas)) {
          return false;
        }
      }
    }
    changed = members.names.size() + members.schemas.size() > before;
  }
  return true;
}

// The schemas of member `name`; those that forbid it include `false`.
std::vector<Ref> InstanceMaker::member_schemas(const std::vector<Ref>& schemas,
                                               const std::string& name) {
  std::vector<Ref> out;
  for (Ref s : schemas) {
    const std::size_t before = out.size();
    if (Ref own = s->property(name)) {
      out.push_back(own);
    }
    for (const auto& [pattern, schema] : s->pattern_properties) {
      if (patterns_.matches(pattern, name)) {
        out.push_back(schema);
      }
    }
    if (out.size() == before && s->additional_properties != nullptr) {
      out.push_back(s->additional_properties);
    }
  }
  return out;
}

bool forbidden(const std::vector<Ref>& schemas) {
  return std::ranges::any_of(schemas, [](Ref s) { return s->always == false; });
}

void InstanceMaker::add_optional(Members& members) {
  const std::vector<Ref> schemas = members.schemas;
  for (Ref s : schemas) {
    for (const auto& [name, schema] : s->properties) {
      const bool wanted =
          members.names.size() < members.min ||
          (members.depth <= options_.max_depth && chance(rng_, options_.optional_percent));
      if (wanted && members.names.size() < members.max &&
          !forbidden(member_schemas(schemas, name))) {
        include(members.names, name);
      }
    }
  }
}

// A name that no `properties` lists.
Text InstanceMaker::new_name(const Members& members) {
  std::vector<Ref> rules;
  for (Ref s : members.schemas) {
    if (s->property_names != nullptr && !expand(s->property_names, rules)) {
      return std::nullopt;
    }
  }
  if (!rules.empty()) {
    return random_string_of(rules, options_.text, patterns_, rng_);
  }
  for (Ref s : members.schemas) {
    if (!s->pattern_properties.empty() && chance(rng_, 70)) {
      const Dfa* names = patterns_.find(pick(rng_, s->pattern_properties).first);
      return names == nullptr ? std::nullopt
                              : random_member(*names, 0, kNoLimit, options_.text, rng_);
    }
  }
  return options_.text == Options::Text::kAny && chance(rng_, 30)
             ? random_string(rng_, rng_.below(6))
             : random_name(rng_);
}

void InstanceMaker::add_extra(Members& members) {
  const bool open = std::ranges::none_of(
      members.schemas, [](Ref s) { return s->unevaluated_properties != nullptr; });
  const std::uint64_t wish =
      open && members.depth <= options_.max_depth && chance(rng_, 20) ? 1 + rng_.below(2) : 0;
  const std::uint64_t goal =
      std::max(members.min, std::min<std::uint64_t>(members.max, members.names.size() + wish));
  for (int tries = 0; members.names.size() < goal && tries < kItemTries; ++tries) {
    const Text name = new_name(members);
    if (name && !forbidden(member_schemas(members.schemas, *name))) {
      include(members.names, *name);
    }
  }
}

Text InstanceMaker::object(std::vector<Ref> schemas, std::size_t depth) {
  Members members{.names = {}, .schemas = std::move(schemas), .depth = depth};
  for (Ref s : members.schemas) {
    members.min = std::max(members.min, s->min_properties.value_or(0));
    members.max = std::min(members.max, s->max_properties.value_or(kNoLimit));
  }
  if (members.min > kMaxItems || !add_required(members)) {
    return std::nullopt;
  }
  add_optional(members);
  add_extra(members);
  if (!add_required(members)) {
    return std::nullopt;
  }
  return written(members);
}

Text InstanceMaker::written(const Members& members) {
  std::vector<std::string> names;
  for (Ref s : members.schemas) {
    for (const auto& [name, schema] : s->properties) {
      if (has(members.names, name)) {
        include(names, name);
      }
    }
  }
  for (const std::string& name : members.names) {
    include(names, name);
  }
  if (options_.order == Options::Order::kRandom) {
    for (std::size_t i = names.size(); i > 1; --i) {
      std::swap(names[i - 1], names[rng_.below(static_cast<std::uint32_t>(i))]);
    }
  }
  JsonObjectText out;
  for (const std::string& name : names) {
    Text text = value(member_schemas(members.schemas, name), members.depth + 1);
    if (text) {
      out.add(name, *std::move(text));
    } else if (std::ranges::any_of(members.schemas,
                                   [&](Ref s) { return has(s->required, name); })) {
      return std::nullopt;
    }
  }
  return out.text();
}

}  // namespace

std::optional<std::string> random_instance(const SchemaDocument& schema, Rng& rng,
                                           const RandomInstanceOptions& options) {
  InstanceMaker maker(rng, options);
  for (int i = 0; i < kAttempts; ++i) {
    if (Text text = maker.value({&schema.root()}, 0)) {
      return text;
    }
  }
  return std::nullopt;
}

}  // namespace daybreak::grammar
