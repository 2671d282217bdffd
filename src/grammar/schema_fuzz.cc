// SPDX-License-Identifier: Apache-2.0
// Any bytes as a schema, and after a zero byte as an instance: refused with a message or used;
// never a crash, never an answer without a reason.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "grammar/mfjs.h"
#include "grammar/validator.h"

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

constexpr std::uint64_t kPatternSteps = 20'000;
constexpr daybreak::grammar::ValidationOptions kOptions = {
    .formats = daybreak::grammar::Formats::kAnnotate,
    .max_errors = 5,
    .max_steps = 20'000,
    .max_depth = 200};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace daybreak::grammar;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t split = std::min(text.find('\0'), text.size());
  const std::string_view schema = text.substr(0, split);
  bool accepted = true;
  for (const MfjsLevel level :
       {MfjsLevel::kLoose, MfjsLevel::kLite, MfjsLevel::kStrict, MfjsLevel::kUltra}) {
    const auto status = check_mfjs(schema, level);
    require(status || !status.error().message.empty());
    require(accepted || !status);  // a stricter level accepts no more
    accepted = status.has_value();
  }
  auto document = SchemaDocument::parse(schema);
  if (!document) {
    require(!document.error().message.empty());
    require(daybreak::is_valid_utf8(document.error().message));
    return 0;
  }
  require((*document)->bytes() >= schema.size());
  const auto validator = Validator::create(*std::move(document), kPatternSteps);
  const auto instance =
      daybreak::parse_json_tree(split < text.size() ? text.substr(split + 1) : schema);
  if (!validator || !instance) {
    return 0;
  }
  const auto result = validator->validate(*instance, kOptions);
  for (std::size_t i = 0; result && i < result->errors.size(); ++i) {
    require(!result->errors[i].message.empty());
    require(result->errors.size() <= kOptions.max_errors);
  }
  require(equal_values(*instance, *instance));
  return 0;
}
