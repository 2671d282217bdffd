// SPDX-License-Identifier: Apache-2.0
// Any text is refused with an error or becomes rules without circles that say the same about the
// empty text however they are asked, and that the rewriting leaves alone.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "grammar/ebnf.h"
#include "grammar/rule_analysis.h"
#include "grammar/test_recognizer.h"

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace daybreak::grammar;
  const std::string text(data, data + size);
  Budget budget(50'000);
  const auto rules = parse_grammar(text, budget);
  if (!rules) {
    require(!rules.error().message.empty());
    require(daybreak::is_valid_utf8(rules.error().message));
    return 0;
  }
  require(rules->rules.size() == rules->names.size());
  TestRecognizer recognizer(*rules);
  const bool empty = recognizer.matches("");
  require(!recognizer.left_recursive());
  Budget ample(10'000'000);
  const auto nullable = nullable_rules(*rules, ample);
  require(nullable.has_value() && is_nullable(*rules->start, *nullable) == empty);
  const auto again = without_left_recursion(*rules, ample);
  require(again.has_value() && again->rules.size() == rules->rules.size());
  return 0;
}
