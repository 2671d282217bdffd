// SPDX-License-Identifier: Apache-2.0
#include "chat/field_table.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/json_document.h"
#include "chat/known_members.h"
#include "chat/python_json.h"

namespace daybreak::chat {
namespace {

constexpr std::size_t kMaxNeutralBytes = 32;  // a longer value is none of the neutral ones
constexpr std::size_t kMaxShownName = 64;
constexpr std::string_view kOr = " or ";

// The parts of a text between separators; none of an empty text.
std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), out.back().size() + separator.size()));
  }
  return out;
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

// Whether a member asks for nothing.
bool is_neutral(const JsonNode& node, const FieldRule& rule) {
  return node.is(JsonNode::Kind::kNull) ||
         (node.raw.size() <= kMaxNeutralBytes &&
          std::ranges::any_of(rule.neutral_values(),
                              [&](std::string_view json) { return equals(node, json); }));
}

Status refuse(const JsonNode& node, const FieldRule& rule, const std::string& path) {
  if (is_neutral(node, rule)) {
    return ok();
  }
  const std::string wanted = rule.values.empty() ? "" : std::string(rule.values) + " or ";
  return Error{Errc::kInvalidArgument, path + ": expected " + wanted + "nothing, found " +
                                           describe(node) + " (" + std::string(rule.text) + ")"};
}

std::string_view to_string(FieldApi api) {
  switch (api) {
    case FieldApi::kOpenAi:
      return "OpenAI";
    case FieldApi::kAnthropic:
      return "Anthropic";
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
  if (rule.verdict == FieldVerdict::kRefused && !rule.values.empty()) {
    out += "unless `" + std::string(rule.values) + "`: ";
  }
  out += std::string(rule.text) + " |\n";
}

}  // namespace

std::vector<std::string_view> FieldRule::neutral_values() const {
  return verdict == FieldVerdict::kHonoured ? std::vector<std::string_view>{} : split(values, kOr);
}

FieldTable::FieldTable(std::span<const FieldRule> own) : rules_(own.begin(), own.end()) {
  sorted_.resize(rules_.size());
  std::iota(sorted_.begin(), sorted_.end(), std::size_t{0});
  std::ranges::sort(sorted_, {}, [this](std::size_t i) { return rules_[i].name; });
}

FieldTable::FieldTable(std::span<const FieldRule> own, const FieldTable& other,
                       std::string_view names, Refusals refusals)
    : FieldTable([&] {
        std::vector<FieldRule> rules(own.begin(), own.end());
        for (const std::string_view name : split(names, " ")) {
          rules.push_back(*other.find(name));
        }
        for (const FieldRule& rule : other.rules()) {
          if (refusals == Refusals::kAll && rule.verdict == FieldVerdict::kRefused &&
              rule.top_level() &&
              std::ranges::find(rules, rule.name, &FieldRule::name) == rules.end()) {
            rules.push_back(rule);
          }
        }
        return rules;
      }()) {}

const FieldRule* FieldTable::find(std::string_view name) const {
  const auto found =
      std::ranges::lower_bound(sorted_, name, {}, [this](std::size_t i) { return rules_[i].name; });
  return found != sorted_.end() && rules_[*found].name == name ? &rules_[*found] : nullptr;
}

Status FieldTable::judge(const Field& object, std::vector<std::string>& ignored) const {
  const JsonNode& node = object.node();
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string path = object.path_of(node.keys[i]);
    const FieldRule* rule = find(path);
    if (rule != nullptr && rule->verdict == FieldVerdict::kHonoured) {
      continue;
    }
    if (rule != nullptr && rule->verdict == FieldVerdict::kRefused) {
      DAYBREAK_CHECK_OK(refuse(node.items[i], *rule, path));
    } else if (!(rule == nullptr ? node.items[i].is(JsonNode::Kind::kNull)
                                 : is_neutral(node.items[i], *rule))) {
      add_ignored(ignored, object.path_of(printable(node.keys[i], kMaxShownName)));
    }
  }
  return ok();
}

Status FieldTable::judge(const Field& field, std::string_view name) const {
  return refuse(field.node(), *find(name), field.path());
}

std::string FieldTable::markdown() const {
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
    std::string rows;
    for (const FieldRule& rule : rules_) {
      if (rule.verdict == part.verdict) {
        append_row(rows, rule);
      }
    }
    if (!rows.empty()) {
      out += (out.empty() ? "" : "\n") + std::string(part.heading) + ":\n\n| field | API | " +
             std::string(part.column) + " |\n|---|---|---|\n" + rows;
    }
  }
  return out;
}

}  // namespace daybreak::chat
