// SPDX-License-Identifier: Apache-2.0
#include "chat/field_table.h"

#include <algorithm>
#include <array>

#include "base/json_document.h"
#include "chat/python_json.h"

namespace daybreak::chat {
namespace {

constexpr std::size_t kMaxNeutralBytes = 32;  // a longer value is none of the neutral ones
constexpr std::size_t kMaxShownName = 64;
constexpr std::string_view kOr = " or ";

std::vector<const FieldRule*> sorted_rules() {
  std::vector<const FieldRule*> sorted;
  for (const FieldRule& rule : field_rules()) {
    sorted.push_back(&rule);
  }
  std::ranges::sort(sorted, {}, [](const FieldRule* rule) { return rule->name; });
  return sorted;
}

bool equals(const JsonNode& node, std::string_view json) {
  if (node.is(JsonNode::Kind::kNumber)) {
    return (json.front() == '-' || (json.front() >= '0' && json.front() <= '9')) &&
           number_value(node.raw) == number_value(json);
  }
  std::string text;
  append_python_json(text, node, JsonStyle::kSortedCompact);
  return text == json;
}

bool is_neutral(const JsonNode& node, std::string_view neutral) {
  while (!neutral.empty() && node.raw.size() <= kMaxNeutralBytes) {
    const std::size_t end = neutral.find(kOr);
    if (equals(node, neutral.substr(0, end))) {
      return true;
    }
    neutral = end == std::string_view::npos ? "" : neutral.substr(end + kOr.size());
  }
  return false;
}

Status judge(const JsonNode& node, const FieldRule& rule, const std::string& path) {
  if (node.is(JsonNode::Kind::kNull) || is_neutral(node, rule.neutral)) {
    return ok();
  }
  const std::string wanted = rule.neutral.empty() ? "" : std::string(rule.neutral) + " or ";
  return Error{Errc::kInvalidArgument, path + ": expected " + wanted + "nothing, found " +
                                           describe(node) + " (" + std::string(rule.text) + ")"};
}

std::string_view to_string(FieldApi api) {
  switch (api) {
    case FieldApi::kOpenAi:
      return "OpenAI";
    case FieldApi::kMoonshot:
      return "Moonshot";
    case FieldApi::kVllm:
      return "vLLM";
    case FieldApi::kOther:
      return "others";
  }
  __builtin_unreachable();
}

void append_row(std::string& out, const FieldRule& rule) {
  out += "| `" + std::string(rule.name) + "` | " + std::string(to_string(rule.api)) + " | ";
  if (rule.verdict == FieldVerdict::kRefused && !rule.neutral.empty()) {
    out += "unless `" + std::string(rule.neutral) + "`: ";
  }
  out += std::string(rule.text) + " |\n";
}

}  // namespace

const FieldRule* find_field_rule(std::string_view name) {
  static const std::vector<const FieldRule*> sorted = sorted_rules();
  const auto found =
      std::ranges::lower_bound(sorted, name, {}, [](const FieldRule* rule) { return rule->name; });
  return found != sorted.end() && (*found)->name == name ? *found : nullptr;
}

Status judge_fields(const Field& object, std::vector<std::string>& ignored) {
  const JsonNode& node = object.node();
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string path = object.path_of(node.keys[i]);
    const FieldRule* rule = find_field_rule(path);
    if (rule != nullptr && rule->verdict == FieldVerdict::kHonoured) {
      continue;
    }
    if (rule != nullptr && rule->verdict == FieldVerdict::kRefused) {
      DAYBREAK_CHECK_OK(judge(node.items[i], *rule, path));
    } else if (ignored.size() < kMaxIgnoredFields && !node.items[i].is(JsonNode::Kind::kNull) &&
               (rule == nullptr || !is_neutral(node.items[i], rule->neutral))) {
      ignored.push_back(object.path_of(printable(node.keys[i], kMaxShownName)));
    }
  }
  return ok();
}

Status judge_field(const Field& field, std::string_view name) {
  return judge(field.node(), *find_field_rule(name), field.path());
}

std::string field_table_markdown() {
  struct Part {
    FieldVerdict verdict;
    std::string_view heading;
    std::string_view column;
  };
  static constexpr std::array<Part, 3> kParts = {{
      {FieldVerdict::kHonoured, "Honoured", "what it does"},
      {FieldVerdict::kIgnored, "Ignored, and named in `x-daybreak-ignored-fields`", "why"},
      {FieldVerdict::kRefused, "Refused with 400", "why"},
  }};
  std::string out;
  for (const Part& part : kParts) {
    out += (out.empty() ? "" : "\n") + std::string(part.heading) + ":\n\n| field | API | " +
           std::string(part.column) + " |\n|---|---|---|\n";
    for (const FieldRule& rule : field_rules()) {
      if (rule.verdict == part.verdict) {
        append_row(out, rule);
      }
    }
  }
  return out;
}

}  // namespace daybreak::chat
