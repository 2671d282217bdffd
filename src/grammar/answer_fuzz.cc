// SPDX-License-Identifier: Apache-2.0
// First line: a schema; second: a text; the rest: token ids, one a byte. What the automaton takes
// is valid by the validator; what is valid, compact and without repeated keys is taken; and
// wherever a stream of tokens leads, the mask says of every id what accept() does.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_tree.h"
#include "grammar/json_spelling.h"
#include "grammar/message_rules.h"
#include "grammar/validator.h"
#include "grammar/vocabulary_index.h"
#include "tokenizer/tokenizer.h"

namespace {

using namespace daybreak;
using namespace daybreak::grammar;

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

constexpr std::size_t kMaxSteps = 64;

std::string_view line_of(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

// Every byte, and tokens that cross the borders of JSON.
std::shared_ptr<const tokenizer::Tokenizer> vocabulary() {
  static const auto made = [] {
    const char* source = std::getenv("DAYBREAK_SOURCE_DIR");
    auto loaded = tokenizer::Tokenizer::load(std::string(source == nullptr ? "." : source) +
                                             "/testdata/tokenizer");
    require(loaded.has_value());
    return *std::move(loaded);
  }();
  return made;
}

void check_verdict(const Grammar& grammar, const Validator& validator, const std::string& text) {
  const bool taken = accepts(grammar, text);
  const auto tree = parse_json_tree(text);
  if (!tree) {
    require(!taken);
    return;
  }
  const auto verdict = validator.validate(*tree, {.formats = Formats::kAssert});
  if (!verdict) {
    return;  // too large for it
  }
  const bool valid = verdict->valid() && !has_duplicate_keys(*tree);
  require(valid || !taken);
  // A number's exponent is only taken where nothing restricts the number; see number_language.h.
  const bool plain = text.find_first_of("eE") == std::string::npos && text.size() < 300;
  require(taken || !valid || !plain || text != compact_json(*tree));
}

void check_stream(const std::shared_ptr<const Grammar>& grammar, std::string_view stream) {
  static const auto index = VocabularyIndex::make(*vocabulary(), vocabulary()->vocab_size());
  Matcher matcher(grammar, index, {});
  for (std::size_t step = 0; step < std::min(stream.size(), kMaxSteps); ++step) {
    const auto row = matcher.mask();
    const std::vector<std::uint32_t> before(row.begin(), row.end());
    for (TokenId id = 0; id < index->vocab_size(); ++id) {
      const bool allowed = ((before[id / 32] >> (id % 32)) & 1U) != 0;
      require(matcher.accept(id) == allowed);
      if (allowed) {
        matcher.rollback(1);
      }
    }
    const TokenId next = static_cast<std::uint8_t>(stream[step]) % index->vocab_size();
    if (!matcher.accept(next)) {
      return;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string schema(line_of(rest));
  const std::string text(line_of(rest));
  const auto grammar = compile_schema(schema, {.limits = {.steps = 200'000}});
  if (!grammar) {
    require(!grammar.error().message.empty());
    return 0;
  }
  auto document = SchemaDocument::parse(schema);
  require(document.has_value());
  const auto validator = Validator::create(*std::move(document));
  if (validator) {
    check_verdict(**grammar, *validator, text);
  }
  check_stream(*grammar, rest);
  return 0;
}
