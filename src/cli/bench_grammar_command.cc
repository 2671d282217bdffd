// SPDX-License-Identifier: Apache-2.0
// `daybreak bench grammar`: what structured output costs. The same file of schemas can be given to
// the peers in bench/peers/grammar.

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json_tree.h"
#include "cli/bench_grammar_report.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/model_path.h"
#include "cli/process_usage.h"
#include "grammar/formats.h"
#include "grammar/grammar.h"
#include "grammar/message_rules.h"
#include "grammar/vocabulary_index.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {
namespace {

constexpr std::size_t kMaxSchemas = 100'000;

struct Options {
  std::string model;
  std::string schemas;
  std::size_t vocab_size = 0;  // 0: the tokenizer's
  bool json = false;
};

struct Entry {
  std::string name;
  std::string schema;
  std::vector<std::string> valid;
  std::vector<std::string> invalid;
};

Result<std::vector<std::string>> texts_of(const JsonNode* list, const std::string& where) {
  std::vector<std::string> out;
  if (list == nullptr) {
    return out;
  }
  if (!list->is(JsonNode::Kind::kArray)) {
    return Error{Errc::kInvalidArgument, where + ": expected an array of strings, found " +
                                             std::string(to_string(list->kind))};
  }
  for (const JsonNode& item : list->items) {
    if (!item.is(JsonNode::Kind::kString)) {
      return Error{Errc::kInvalidArgument,
                   where + ": expected strings, found " + std::string(to_string(item.kind))};
    }
    out.push_back(item.text);
  }
  return out;
}

Result<Entry> parse_entry(const std::string& line, const std::string& where) {
  auto tree = parse_json_tree(line);
  if (!tree) {
    return std::move(tree).error().in(where);
  }
  const JsonNode* name = tree->find("name");
  const JsonNode* schema = tree->find("schema");
  if (name == nullptr || schema == nullptr || !name->is(JsonNode::Kind::kString) ||
      !schema->is(JsonNode::Kind::kString)) {
    return Error{Errc::kInvalidArgument,
                 where + ": expected an object with the strings name and schema"};
  }
  Entry entry{.name = name->text, .schema = schema->text, .valid = {}, .invalid = {}};
  DAYBREAK_TRY(entry.valid, texts_of(tree->find("instances"), where + ": instances"));
  DAYBREAK_TRY(entry.invalid, texts_of(tree->find("invalid"), where + ": invalid"));
  return entry;
}

Result<std::vector<Entry>> read_entries(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return Error{Errc::kNotFound, path + ": cannot be opened"};
  }
  std::vector<Entry> out;
  for (std::string line; std::getline(file, line);) {
    if (out.size() == kMaxSchemas) {
      return Error{Errc::kTooLarge,
                   path + ": expected at most " + std::to_string(kMaxSchemas) + " lines"};
    }
    DAYBREAK_TRY(Entry entry, parse_entry(line, path + ":" + std::to_string(out.size() + 1)));
    out.push_back(std::move(entry));
  }
  return out;
}

class GrammarBench {
 public:
  GrammarBench(const tokenizer::Tokenizer& tokenizer, std::size_t vocab_size, TokenId stop)
      : tokenizer_(tokenizer),
        vocabulary_(grammar::VocabularyIndex::make(tokenizer, vocab_size)),
        stop_{stop} {
    result_.vocab_size = vocab_size;
    grammar::prepare_formats();  // as a server does when it starts
  }

  GrammarBenchResult run(const std::vector<Entry>& entries) {
    const std::size_t before = private_bytes(::getpid());
    for (const Entry& entry : entries) {
      measure(entry);
    }
    const std::size_t after = private_bytes(::getpid());
    result_.resident_bytes = after > before ? after - before : 0;
    for (const auto& grammar : alive_) {
      result_.grammar_bytes += grammar->bytes();
    }
    return std::move(result_);
  }

 private:
  static std::uint64_t nanoseconds(Clock::TimePoint begin, Clock::TimePoint end) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count());
  }

  std::span<const std::uint32_t> timed_mask(grammar::Matcher& matcher) {
    const auto begin = clock_.now();
    const std::span<const std::uint32_t> mask = matcher.mask();
    result_.mask_ns.push_back(nanoseconds(begin, clock_.now()));
    return mask;
  }

  void measure(const Entry& entry) {
    ++result_.schemas;
    const auto begin = clock_.now();
    auto compiled = grammar::compile_schema(entry.schema);
    if (!compiled) {
      ++result_.refused[kind_of_refusal(compiled.error().message)];
      return;
    }
    {
      grammar::Matcher matcher(*compiled, vocabulary_, stop_);
      (void)matcher.mask();
      result_.first_mask_ns.push_back(nanoseconds(begin, clock_.now()));
    }
    alive_.push_back(*compiled);
    for (std::size_t i = 0; i < entry.valid.size(); ++i) {
      ++result_.instances;
      const auto failure = walk(*compiled, entry.valid[i]);
      if (failure) {
        result_.wrongly_refused.push_back(entry.name + ": instance " + std::to_string(i) + ": " +
                                          *failure);
      }
    }
    for (std::size_t i = 0; i < entry.invalid.size(); ++i) {
      if (accepts(*compiled, entry.invalid[i])) {
        result_.wrongly_accepted.push_back(entry.name + ": invalid " + std::to_string(i));
      }
    }
  }

  // Returns what went wrong on the way through a valid instance, or nothing.
  std::optional<std::string> walk(const std::shared_ptr<const grammar::Grammar>& compiled,
                                  const std::string& text) {
    grammar::Matcher matcher(compiled, vocabulary_, stop_);
    const std::vector<TokenId> ids = encoded(text);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto mask = timed_mask(matcher);
      const bool allowed = ((mask[ids[i] / 32] >> (ids[i] % 32)) & 1) != 0;
      const bool accepted = matcher.accept(ids[i]);
      if (!allowed || !accepted) {
        return "id " + std::to_string(ids[i]) + " at " + std::to_string(i) +
               (accepted  ? " is accepted and not in the mask"
                : allowed ? " is in the mask and not accepted"
                          : " is refused");
      }
    }
    (void)timed_mask(matcher);
    return matcher.complete() ? std::nullopt
                              : std::optional<std::string>("not complete at its end");
  }

  bool accepts(const std::shared_ptr<const grammar::Grammar>& compiled, const std::string& text) {
    grammar::Matcher matcher(compiled, vocabulary_, stop_);
    for (const TokenId id : encoded(text)) {
      if (!matcher.accept(id)) {
        return false;
      }
    }
    return matcher.complete();
  }

  [[nodiscard]] std::vector<TokenId> encoded(const std::string& text) const {
    std::vector<TokenId> ids;
    tokenizer_.encode(text, tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOn, ids);
    return ids;
  }

  const tokenizer::Tokenizer& tokenizer_;
  const Clock& clock_ = Clock::steady();
  std::shared_ptr<const grammar::VocabularyIndex> vocabulary_;
  std::array<TokenId, 1> stop_;
  std::vector<std::shared_ptr<const grammar::Grammar>> alive_;
  GrammarBenchResult result_;
};

Status bench_grammar(const Options& options) {
  DAYBREAK_TRY(const std::filesystem::path model, resolve_model(options.model));
  DAYBREAK_TRY(const auto tokenizer, tokenizer::Tokenizer::load(model));
  DAYBREAK_TRY(const std::vector<Entry> entries, read_entries(options.schemas));
  const std::size_t vocab_size =
      options.vocab_size == 0 ? tokenizer->vocab_size() : options.vocab_size;
  if (vocab_size < tokenizer->vocab_size()) {
    return Error{Errc::kInvalidArgument, "--vocab-size: expected at least the tokenizer's " +
                                             std::to_string(tokenizer->vocab_size()) + ", found " +
                                             std::to_string(vocab_size)};
  }
  const auto stop = tokenizer->special("<|end_of_msg|>");
  if (!stop) {
    return Error{Errc::kCorrupt, model.string() + ": the tokenizer has no <|end_of_msg|>"};
  }
  GrammarBench bench(*tokenizer, vocab_size, *stop);
  const GrammarBenchResult result = bench.run(entries);
  std::printf("%s\n", options.json ? grammar_bench_json(result).c_str()
                                   : grammar_bench_text(result).c_str());
  return ok();
}

}  // namespace

void register_bench_grammar(Command bench) {
  const auto options = std::make_shared<Options>();
  const Command command =
      bench.add_subcommand("grammar", "time of token masks over a file of JSON Schemas");
  command.add_option("MODEL", options->model,
                     "model directory, of which the tokenizer is read; default: the bundled model");
  command
      .add_option(
          "--schemas", options->schemas,
          R"(lines of {"name":...,"schema":TEXT,"instances":[TEXT...],"invalid":[TEXT...]})")
      .required();
  command.add_option("--vocab-size", options->vocab_size,
                     "rows of logits, if more than the tokenizer has ids");
  command.add_flag("--json", options->json, "print one JSON object");
  command.runs([options] { return bench_grammar(*options); });
}

}  // namespace daybreak::cli
