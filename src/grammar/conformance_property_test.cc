// SPDX-License-Identifier: Apache-2.0
// The grammar of a schema against the validator, both ways: what is valid is accepted however it is
// cut into tokens and however its strings are escaped; what is accepted is valid; and whoever
// follows the masks ends in something valid.
//
// DAYBREAK_CONFORMANCE_SEEDS=N looks at N random schemas instead of a few hundred.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "base/json_tree.h"
#include "base/rng.h"
#include "grammar/grammar.h"
#include "grammar/json_spelling.h"
#include "grammar/message_rules.h"
#include "grammar/mutate_instance.h"
#include "grammar/random_instance.h"
#include "grammar/random_schema.h"
#include "grammar/random_text.h"
#include "grammar/validator.h"
#include "grammar/vocabulary_index.h"
#include "testing/paths.h"
#include "tokenizer/test_vocabulary.h"

namespace daybreak::grammar {
namespace {

constexpr int kMaxReports = 5;

std::uint64_t seeds(std::uint64_t usual) {
  const char* set = std::getenv("DAYBREAK_CONFORMANCE_SEEDS");
  return set == nullptr ? usual : std::strtoull(set, nullptr, 10);
}

// A schema with its judge and its grammar.
struct Subject {
  std::string text;
  std::shared_ptr<const SchemaDocument> document;
  std::unique_ptr<const Validator> validator;
  std::shared_ptr<const Grammar> grammar;  // null: refused, see `refusal`
  Errc refusal = Errc::kInvalidArgument;

  // Nothing when the validator has no verdict.
  [[nodiscard]] std::optional<bool> valid(const std::string& instance) const {
    const auto tree = parse_json_tree(instance);
    if (!tree) {
      return std::nullopt;
    }
    const auto result = validator->validate(*tree, {.formats = Formats::kAssert});
    return result ? std::optional(result->valid() && !has_duplicate_keys(*tree)) : std::nullopt;
  }
};

std::optional<Subject> subject_of(const std::string& text) {
  auto document = SchemaDocument::parse(text);
  EXPECT_TRUE(document) << text << "\n" << (document ? "" : document.error().message);
  if (!document) {
    return std::nullopt;
  }
  Subject out{.text = text, .document = *std::move(document), .validator = {}, .grammar = {}};
  auto validator = Validator::create(out.document);
  if (!validator) {
    return std::nullopt;
  }
  out.validator = std::make_unique<const Validator>(*std::move(validator));
  auto grammar = compile_schema(text);
  if (grammar) {
    out.grammar = *std::move(grammar);
  } else {
    out.refusal = grammar.error().code;
  }
  return out;
}

// Numbers may be written with an exponent only where nothing bounds them (number_language.h).
bool has_exponent(const JsonNode& node) {
  return (node.is(JsonNode::Kind::kNumber) &&
          node.raw.find_first_of("eE") != std::string_view::npos) ||
         std::ranges::any_of(node.items, has_exponent);
}

class Conformance : public ::testing::Test {
 protected:
  void SetUp() override {
    tokenizer_ = tokenizer::test_tokenizer();
    ASSERT_NE(tokenizer_, nullptr);
    const auto stop = tokenizer_->special("<|end_of_msg|>");
    ASSERT_TRUE(stop);
    stop_ = {*stop};
    vocabulary_ = VocabularyIndex::make(*tokenizer_, tokenizer_->vocab_size() + 37);
  }

  Matcher start(const Subject& subject) const { return {subject.grammar, vocabulary_, stop_}; }

  bool accepts(const Subject& subject, const std::vector<TokenId>& ids) const {
    Matcher matcher = start(subject);
    return std::ranges::all_of(ids, [&](TokenId id) { return matcher.accept(id); }) &&
           matcher.complete();
  }

  // The same text in other spellings and other tokens.
  void expect_verdict(const Subject& subject, const std::string& instance, Rng& rng) {
    const auto expected = subject.valid(instance);
    const auto tree = parse_json_tree(instance);
    if (!expected || (*expected && has_exponent(*tree))) {
      return;
    }
    ++verdicts_[*expected];
    for (const std::uint32_t escapes : {0U, 30U}) {
      const bool respellable = escapes > 0 && !has_duplicate_keys(*tree);
      const std::string spelled = respellable ? respell(instance, rng, escapes) : instance;
      const auto ids = random_tokens(spelled, vocabulary_->trie(), rng);
      ASSERT_TRUE(ids) << spelled;
      if (accepts(subject, *ids) != *expected && reports_++ < kMaxReports) {
        ADD_FAILURE() << "expected " << (*expected ? "accepted" : "refused") << ": " << spelled
                      << "\nschema: " << subject.text;
      }
    }
  }

  void expect_mask_agrees(Matcher& matcher, const Subject& subject, std::string_view so_far,
                          Rng& rng) {
    const auto row = matcher.mask();
    const std::vector<std::uint32_t> mask(row.begin(), row.end());
    for (int i = 0; i < 12; ++i) {
      const TokenId id = rng.below(static_cast<std::uint32_t>(vocabulary_->vocab_size()));
      const bool allowed = ((mask[id / 32] >> (id % 32)) & 1) != 0;
      const bool accepted = matcher.accept(id);
      if (accepted) {
        matcher.rollback(1);
      }
      if (allowed != accepted && reports_++ < kMaxReports) {
        ADD_FAILURE() << "id " << id << " '" << vocabulary_->token(id) << "' after " << so_far
                      << ": mask " << allowed << ", accept " << accepted
                      << "\nschema: " << subject.text;
      }
    }
    const auto again = matcher.mask();
    if (!std::ranges::equal(mask, again) && reports_++ < kMaxReports) {
      ADD_FAILURE() << "rolled back to another mask after " << so_far
                    << "\nschema: " << subject.text;
    }
  }

  // Follows random allowed ids until the stop id. Returns the text, or nothing after `steps`.
  std::optional<std::string> random_walk(const Subject& subject, std::size_t steps, Rng& rng) {
    Matcher matcher = start(subject);
    std::string text;
    for (std::size_t step = 0; step < steps; ++step) {
      if (chance(rng, 10)) {
        expect_mask_agrees(matcher, subject, text, rng);
      }
      const TokenId id = next_id(matcher, step > 40, rng);
      if (id == TokenTrie::kNoToken) {
        ADD_FAILURE() << "nothing may follow " << text << "\nschema: " << subject.text;
        return std::nullopt;
      }
      EXPECT_EQ(matcher.complete(), ((matcher.mask()[stop_[0] / 32] >> (stop_[0] % 32)) & 1) != 0);
      if (id == stop_[0]) {
        return text;
      }
      EXPECT_TRUE(matcher.accept(id)) << text << " id " << id << "\nschema: " << subject.text;
      text += vocabulary_->token(id);
    }
    return std::nullopt;
  }

  // Returns a random allowed id; of those that close something, when in a hurry.
  TokenId next_id(Matcher& matcher, bool hurry, Rng& rng) const {
    std::vector<TokenId> allowed;
    std::vector<TokenId> closing;
    const auto mask = matcher.mask();
    for (std::size_t word = 0; word < mask.size(); ++word) {
      for (std::uint32_t bits = mask[word]; bits != 0; bits &= bits - 1) {
        const auto id =
            static_cast<TokenId>(32 * word) + static_cast<TokenId>(std::countr_zero(bits));
        allowed.push_back(id);
        if (id == stop_[0] ||
            vocabulary_->token(id).find_first_of("\"}]") != std::string_view::npos) {
          closing.push_back(id);
        }
      }
    }
    if (allowed.empty()) {
      return TokenTrie::kNoToken;
    }
    return !closing.empty() && hurry && chance(rng, 80) ? pick(rng, closing) : pick(rng, allowed);
  }

  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::shared_ptr<const VocabularyIndex> vocabulary_;
  std::array<TokenId, 1> stop_{};
  std::map<bool, int> verdicts_;
  int reports_ = 0;
};

TEST_F(Conformance, TheGrammarAcceptsWhatTheValidatorAccepts) {
  const std::uint64_t count = seeds(250);
  std::uint64_t compiled = 0;
  for (std::uint64_t seed = 0; seed < count && reports_ < kMaxReports; ++seed) {
    Rng rng(seed);
    const bool odd = chance(rng, 60);
    const auto subject = subject_of(random_schema(
        rng, {.features = odd ? kAllSchemaFeatures : kModerateSchemaFeatures, .max_depth = 3}));
    if (!subject) {
      continue;
    }
    std::vector<std::string> texts;
    for (int i = 0; i < 4; ++i) {
      if (const auto text = random_instance(*subject->document, rng)) {
        texts.push_back(*text);
        texts.push_back(mutate_instance(*text, rng));
      }
    }
    texts.push_back(random_value(rng, 2));
    if (subject->grammar == nullptr) {
      // A schema refused as contradictory has no instance.
      for (const std::string& text : texts) {
        if (subject->refusal == Errc::kInvalidArgument && subject->valid(text) == true) {
          ADD_FAILURE() << "refused as a contradiction, but " << text
                        << " is valid\nschema: " << subject->text;
          ++reports_;
        }
      }
      continue;
    }
    ++compiled;
    for (const std::string& text : texts) {
      expect_verdict(*subject, text, rng);
    }
  }
  EXPECT_EQ(reports_, 0);
  EXPECT_GT(compiled, count / 2);
  EXPECT_GT(verdicts_[true], static_cast<int>(count));
  EXPECT_GT(verdicts_[false], static_cast<int>(count / 2));
  std::cout << "PROOF grammar_verdicts: " << compiled << " schemas, " << verdicts_[true]
            << " valid and " << verdicts_[false] << " invalid texts, each in two spellings\n";
}

TEST_F(Conformance, WalksOverMasksEndInValidInstances) {
  const std::uint64_t count = seeds(120);
  int walks = 0;
  int finished = 0;
  for (std::uint64_t seed = 0; seed < count && reports_ < kMaxReports; ++seed) {
    Rng rng(seed + 1'000'000);
    const auto subject = subject_of(random_schema(rng, {.max_depth = 3}));
    if (!subject || subject->grammar == nullptr) {
      continue;
    }
    for (int i = 0; i < 2; ++i) {
      ++walks;
      const auto text = random_walk(*subject, 300, rng);
      if (!text) {
        continue;
      }
      ++finished;
      if (subject->valid(*text) == false && reports_++ < kMaxReports) {
        ADD_FAILURE() << "walked to " << *text << "\nschema: " << subject->text;
      }
    }
  }
  EXPECT_EQ(reports_, 0);
  EXPECT_GT(finished, walks / 2);
  std::cout << "PROOF grammar_walks: " << finished << " of " << walks
            << " walks ended within 300 tokens, all valid\n";
}

// Tools as people send them: every one compiles, and both kinds of instance are told apart.
TEST_F(Conformance, ToolsOfTheCorpus) {
  std::istringstream lines(
      daybreak::testing::read_file(daybreak::testing::source_path("testdata/grammar/tools.jsonl")));
  int tools = 0;
  Rng rng(1);
  for (std::string line; std::getline(lines, line); ++tools) {
    const auto entry = parse_json_tree(line);
    ASSERT_TRUE(entry);
    const auto subject = subject_of(entry->find("schema")->text);
    ASSERT_TRUE(subject) << line;
    ASSERT_NE(subject->grammar, nullptr) << line;
    for (const auto& [key, valid] : {std::pair("instances", true), std::pair("invalid", false)}) {
      for (const JsonNode& text : entry->find(key)->items) {
        ASSERT_EQ(subject->valid(text.text), valid) << text.text << "\n" << subject->text;
        expect_verdict(*subject, text.text, rng);
      }
    }
  }
  EXPECT_EQ(tools, 120);
  EXPECT_EQ(reports_, 0);
  std::cout << "PROOF grammar_tools: " << tools << " tools, " << verdicts_[true] << " valid and "
            << verdicts_[false] << " invalid instances\n";
}

}  // namespace
}  // namespace daybreak::grammar
