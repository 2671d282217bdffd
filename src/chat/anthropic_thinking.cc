// SPDX-License-Identifier: Apache-2.0
#include "chat/anthropic_thinking.h"

#include <optional>
#include <string_view>

#include "chat/effort_name.h"
#include "chat/required_field.h"

namespace daybreak::chat {
namespace {

Effort effort_of_budget(std::uint64_t tokens) {
  constexpr std::uint64_t kHighFrom = 8'192;
  constexpr std::uint64_t kMaxFrom = 24'576;
  if (tokens < kHighFrom) {
    return Effort::kLow;
  }
  return tokens < kMaxFrom ? Effort::kHigh : Effort::kMax;
}

Result<std::optional<Effort>> read_effort(const Field& root) {
  const auto config = root.find("output_config");
  if (!config) {
    return std::optional<Effort>();
  }
  DAYBREAK_CHECK_OK(config->object());
  const auto field = config->find("effort");
  if (!field) {
    return std::optional<Effort>();
  }
  const std::optional<Effort> known = effort_named(field->node().text);
  return known ? Result<std::optional<Effort>>(known) : field->expected(kEffortsExpected);
}

}  // namespace

Result<AnthropicThinking> read_anthropic_thinking(const Field& root) {
  AnthropicThinking out;
  std::optional<Effort> from_budget;
  if (const auto field = root.find("thinking")) {
    DAYBREAK_CHECK_OK(field->object());
    const auto type = field->find("type");
    const std::string_view kind = type ? std::string_view(type->node().text) : "";
    if (kind != "enabled" && kind != "adaptive" && kind != "disabled") {
      static constexpr std::string_view kExpected = "\"enabled\", \"adaptive\" or \"disabled\"";
      return type ? type->expected(kExpected) : missing_field(*field, "type", kExpected);
    }
    out.thinking.enabled = kind != "disabled";
    if (const auto budget = field->find("budget_tokens")) {
      DAYBREAK_TRY(const std::uint64_t tokens, budget->integer(1, std::uint64_t{1} << 32));
      from_budget = effort_of_budget(tokens);
    }
    if (const auto display = field->find("display")) {
      out.show = display->node().text != "omitted";
      if (out.show && display->node().text != "summarized") {
        return display->expected("\"summarized\" or \"omitted\"");
      }
    }
  }
  DAYBREAK_TRY(const std::optional<Effort> named, read_effort(root));
  out.thinking.effort = named ? named : from_budget.value_or(Effort::kMax);
  return out;
}

}  // namespace daybreak::chat
