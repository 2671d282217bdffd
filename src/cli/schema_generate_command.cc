// SPDX-License-Identifier: Apache-2.0
// `daybreak schema generate`: random schemas with instances of both kinds, for benchmarks and for
// comparing validators.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "grammar/mutate_instance.h"
#include "grammar/random_instance.h"
#include "grammar/random_schema.h"
#include "grammar/random_text.h"
#include "grammar/validator.h"

namespace daybreak::cli {
namespace {

constexpr std::size_t kValid = 3;  // instances at most
constexpr std::size_t kInvalid = 2;
constexpr int kTries = 12;

struct Options {
  std::size_t count = 100;
  std::size_t seed = 1;
  std::size_t depth = 4;
  bool odd = false;
};

struct Instances {
  std::vector<std::string> valid, invalid;

  void add(std::vector<std::string>& to, std::string text, std::size_t max) {
    if (to.size() < max && std::ranges::find(to, text) == to.end()) {
      to.push_back(std::move(text));
    }
  }
};

// Returns the verdict, or nothing where the validator gave up or formats would decide.
std::optional<bool> verdict(const grammar::Validator& validator, const std::string& text) {
  const auto tree = parse_json_tree(text);
  if (!tree) {
    return std::nullopt;
  }
  const auto loose = validator.validate(*tree, {.formats = grammar::Formats::kAnnotate});
  const auto strict = validator.validate(*tree, {.formats = grammar::Formats::kAssert});
  if (!loose || !strict || loose->valid() != strict->valid()) {
    return std::nullopt;
  }
  return strict->valid();
}

// Compact, members in the order of the schema, which other engines insist on.
Instances instances_of(const grammar::Validator& validator, Rng& rng) {
  Instances out;
  for (int i = 0; i < kTries; ++i) {
    const auto text =
        grammar::random_instance(validator.document(), rng,
                                 {.text = grammar::RandomInstanceOptions::Text::kWords,
                                  .order = grammar::RandomInstanceOptions::Order::kSchema});
    if (!text) {
      continue;
    }
    if (verdict(validator, *text) == true) {
      out.add(out.valid, *text, kValid);
    }
    const std::string other = grammar::mutate_instance(*text, rng);
    if (verdict(validator, other) == false) {
      out.add(out.invalid, other, kInvalid);
    }
  }
  return out;
}

Status generate(const Options& options) {
  std::size_t made = 0;
  for (std::uint64_t seed = options.seed; made < options.count; ++seed) {
    Rng rng(seed);
    const std::string text = grammar::random_schema(
        rng,
        {.features = options.odd ? grammar::kAllSchemaFeatures : grammar::kModerateSchemaFeatures,
         .max_depth = options.depth});
    DAYBREAK_TRY(auto document, grammar::SchemaDocument::parse(text));
    auto validator = grammar::Validator::create(std::move(document));
    if (!validator) {
      continue;  // a pattern that is not supported
    }
    const Instances instances = instances_of(*validator, rng);
    if (instances.valid.empty() && !options.odd) {
      continue;
    }
    grammar::JsonObjectText line;
    line.add("name", grammar::json_quoted("random-" + std::to_string(seed)));
    line.add("schema", grammar::json_quoted(text));
    line.add("instances", grammar::json_list_of_strings(instances.valid));
    line.add("invalid", grammar::json_list_of_strings(instances.invalid));
    std::printf("%s\n", line.text().c_str());
    ++made;
  }
  return ok();
}

}  // namespace

void register_schema_generate(Command schema) {
  const auto options = std::make_shared<Options>();
  const Command sub = schema.add_subcommand(
      "generate", "print random schemas, each with instances that conform and that do not");
  sub.add_option("--count", options->count, "schemas").in_range(1, 1'000'000).show_default();
  sub.add_option("--seed", options->seed, "of the first; later ones count up").show_default();
  sub.add_option("--depth", options->depth, "of subschemas").in_range(0, 8).show_default();
  sub.add_flag("--odd", options->odd,
               "also contradictions, rare keywords, odd names; schemas without instances are kept");
  sub.runs([options] { return generate(*options); });
}

}  // namespace daybreak::cli
