// SPDX-License-Identifier: Apache-2.0
#include "chat/request_thinking.h"

#include <optional>
#include <string_view>

#include "chat/effort_name.h"
#include "chat/field_table.h"

namespace daybreak::chat {
namespace {

// What one source says; absent means it says nothing.
struct Wish {
  std::optional<bool> enabled;
  std::optional<Effort> effort;

  // Takes what is still open from a source of lower rank.
  void fill_from(const Wish& lower) {
    if (!enabled) {
      enabled = lower.enabled;
    }
    if (!effort) {
      effort = lower.effort;
    }
  }

  // The same for a reasoning_effort. Its "none" is an effort like the others: a source of higher
  // rank that names an effort overrules it.
  void fill_from_effort(const Wish& lower) {
    if (!effort) {
      fill_from(lower);
    }
  }
};

// Of a field that the prompt format itself has, under its own names.
Result<Effort> read_native_effort(const Field& field) {
  const std::string& text = field.node().text;
  if (text == "low") {
    return Effort::kLow;
  }
  if (text == "high") {
    return Effort::kHigh;
  }
  if (text == "max") {
    return Effort::kMax;
  }
  return field.expected("\"low\", \"high\" or \"max\"");
}

// reasoning_effort: an effort by the names of OpenAI, and "none", which turns thinking off.
Result<Wish> read_reasoning_effort(const Field& owner) {
  Wish wish;
  const auto field = owner.find("reasoning_effort");
  if (!field) {
    return wish;
  }
  if (field->node().text == "none") {
    wish.enabled = false;
    return wish;
  }
  wish.effort = effort_named(field->node().text);
  return wish.effort ? Result<Wish>(wish)
                     : field->expected("\"none\", " + std::string(kEffortsExpected));
}

Result<Wish> read_thinking_field(const Field& root, std::vector<std::string>& ignored) {
  Wish wish;
  const auto field = root.find("thinking");
  if (!field) {
    return wish;
  }
  if (field->is(JsonNode::Kind::kBoolean)) {
    wish.enabled = field->node().boolean;
    return wish;
  }
  DAYBREAK_CHECK_OK(field->object());
  DAYBREAK_CHECK_OK(chat_fields().judge(*field, ignored));
  if (const auto type = field->find("type")) {
    const std::string& text = type->node().text;
    if (text != "enabled" && text != "disabled") {
      return type->expected("\"enabled\" or \"disabled\"");
    }
    wish.enabled = text == "enabled";
  }
  if (const auto keep = field->find("keep"); keep && keep->node().text != "all") {
    return keep->expected("\"all\"");
  }
  if (const auto effort = field->find("effort")) {
    DAYBREAK_TRY(wish.effort, read_native_effort(*effort));
  }
  return wish;
}

Result<Wish> read_kwargs(const Field& root, std::vector<std::string>& ignored) {
  Wish wish;
  const auto kwargs = root.find("chat_template_kwargs");
  if (!kwargs) {
    return wish;
  }
  DAYBREAK_CHECK_OK(kwargs->object());
  DAYBREAK_CHECK_OK(chat_fields().judge(*kwargs, ignored));
  for (const std::string_view key : {"thinking", "enable_thinking"}) {
    if (const auto field = kwargs->find(key)) {
      DAYBREAK_TRY(const bool value, field->boolean());
      wish.fill_from({value, std::nullopt});
    }
  }
  if (const auto field = kwargs->find("thinking_effort")) {
    DAYBREAK_TRY(wish.effort, read_native_effort(*field));
  }
  DAYBREAK_TRY(const Wish alias, read_reasoning_effort(*kwargs));
  wish.fill_from_effort(alias);
  return wish;
}

}  // namespace

Result<Thinking> read_thinking(const Field& root, std::vector<std::string>& ignored) {
  DAYBREAK_TRY(Wish wish, read_kwargs(root, ignored));
  DAYBREAK_TRY(const Wish field, read_thinking_field(root, ignored));
  wish.fill_from(field);
  DAYBREAK_TRY(const Wish effort, read_reasoning_effort(root));
  wish.fill_from_effort(effort);
  return Thinking{wish.enabled.value_or(true), wish.effort.value_or(Effort::kMax)};
}

}  // namespace daybreak::chat
