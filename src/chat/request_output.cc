// SPDX-License-Identifier: Apache-2.0
#include "chat/request_output.h"

#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace daybreak::chat {
namespace {

using Kind = OutputForm::Kind;

constexpr std::string_view kNone =
    "expected one of \"json\", \"regex\", \"choice\", \"grammar\" and \"json_object\", found none";

// A JSON Schema, as an object or as its text.
Result<OutputForm> read_schema(const Field& field, const ChatLimits& limits) {
  OutputForm form{.kind = Kind::kSchema, .source = {}, .choices = {}, .field = field.path()};
  if (field.is(JsonNode::Kind::kObject)) {
    form.source = std::string(field.node().raw);
    return form;
  }
  if (!field.is(JsonNode::Kind::kString)) {
    return field.expected("a JSON Schema object, or its text");
  }
  const JsonTreeLimits json{.max_depth = limits.max_depth, .max_values = limits.max_values};
  const auto tree = parse_json_tree(field.node().text, json);
  if (!tree) {
    return field.wrong("the text is no JSON: " + tree.error().message, tree.error().code);
  }
  if (!tree->is(JsonNode::Kind::kObject)) {
    return field.expected("the text of a JSON Schema object");
  }
  form.source = field.node().text;
  return form;
}

Result<OutputForm> read_text(const Field& field, Kind kind, std::string_view what) {
  if (!field.is(JsonNode::Kind::kString) || field.node().text.empty()) {
    return field.expected(what);
  }
  return OutputForm{
      .kind = kind, .source = field.node().text, .choices = {}, .field = field.path()};
}

Result<OutputForm> read_choices(const Field& field, const ChatLimits& limits) {
  DAYBREAK_TRY(const auto items, field.array(limits.max_output_choices));
  if (items.empty()) {
    return field.wrong("expected at least one string, found none");
  }
  OutputForm form{.kind = Kind::kChoice, .source = {}, .choices = {}, .field = field.path()};
  for (const Field& item : items) {
    DAYBREAK_TRY(std::string text, item.string(std::numeric_limits<std::size_t>::max()));
    form.choices.push_back(std::move(text));
  }
  return form;
}

// Reads the forms that `owner` spells PREFIXjson, PREFIXregex and so on; more than one is an error.
Result<std::optional<OutputForm>> read_forms(const Field& owner, const std::string& prefix,
                                             const ChatLimits& limits) {
  std::optional<OutputForm> found;
  const auto add = [&found](Result<OutputForm> form) -> Status {
    if (!form) {
      return std::move(form).error();
    }
    if (found) {
      return Error{Errc::kInvalidArgument, form->field + ": cannot be combined with " +
                                               found->field + ": expected one form of the answer"};
    }
    found = *std::move(form);
    return ok();
  };
  if (const auto field = owner.find(prefix + "json")) {
    DAYBREAK_CHECK_OK(add(read_schema(*field, limits)));
  }
  if (const auto field = owner.find(prefix + "regex")) {
    DAYBREAK_CHECK_OK(add(read_text(*field, Kind::kRegex, "a regular expression")));
  }
  if (const auto field = owner.find(prefix + "choice")) {
    DAYBREAK_CHECK_OK(add(read_choices(*field, limits)));
  }
  if (const auto field = owner.find(prefix + "grammar")) {
    DAYBREAK_CHECK_OK(add(read_text(*field, Kind::kGrammar, "a grammar")));
  }
  if (const auto field = owner.find(prefix + "json_object")) {
    DAYBREAK_TRY(const bool wanted, field->boolean());
    if (wanted) {
      DAYBREAK_CHECK_OK(add(OutputForm{
          .kind = Kind::kJsonObject, .source = {}, .choices = {}, .field = field->path()}));
    }
  }
  return found;
}

// disable_fallback and disable_any_whitespace ask for what is so anyway.
Result<std::optional<OutputForm>> read_structured_outputs(const Field& root,
                                                          const ChatLimits& limits) {
  const auto owner = root.find("structured_outputs");
  if (!owner) {
    return std::optional<OutputForm>();
  }
  DAYBREAK_CHECK_OK(owner->object_of(
      {"json", "regex", "choice", "grammar", "json_object", "structural_tag", "disable_fallback",
       "disable_any_whitespace", "disable_additional_properties", "whitespace_pattern"}));
  if (const auto field = owner->find("structural_tag")) {
    return field->wrong("structural tags are not supported; tools and response_format are");
  }
  // There is no white space, so a pattern for it has nothing to say, and saying it anyway expects
  // something else. guided_whitespace_pattern is refused by the table of fields.
  if (const auto field = owner->find("whitespace_pattern")) {
    return field->wrong("not supported: JSON is written without white space between values");
  }
  for (const std::string_view key :
       {"disable_fallback", "disable_any_whitespace", "disable_additional_properties"}) {
    if (const auto field = owner->find(key)) {
      DAYBREAK_TRY(const bool on, field->boolean());
      if (on && key == "disable_additional_properties") {
        return field->wrong(
            "not supported: say \"additionalProperties\": false in the schema instead");
      }
    }
  }
  DAYBREAK_TRY(auto form, read_forms(*owner, "", limits));
  if (!form) {
    return owner->wrong(kNone);
  }
  return form;
}

std::optional<OutputForm> form_of(const Field& root, const ResponseFormat& format) {
  OutputForm form;
  if (format.kind == ResponseFormatKind::kText) {
    return std::nullopt;
  }
  form.kind = Kind::kJsonObject;
  form.field = "response_format";
  if (format.kind == ResponseFormatKind::kJsonSchema && format.strict) {
    form.kind = Kind::kSchema;
    form.field = "response_format.json_schema.schema";
    form.source = root.find("response_format")->find("json_schema")->find("schema")->node().raw;
  }
  return form;
}

}  // namespace

Result<OutputForm> read_output_form(const Field& root, const ResponseFormat& format,
                                    const ToolChoice& tool_choice, const ChatLimits& limits) {
  const std::optional<OutputForm> from_format = form_of(root, format);
  DAYBREAK_TRY(auto structured, read_structured_outputs(root, limits));
  DAYBREAK_TRY(auto guided, read_forms(root, "guided_", limits));
  std::optional<OutputForm> found;
  for (const std::optional<OutputForm>& form : {from_format, structured, guided}) {
    if (form && found) {
      return Error{Errc::kInvalidArgument, form->field + ": cannot be combined with " +
                                               found->field + ": expected one form of the answer"};
    }
    if (form) {
      found = form;
    }
  }
  const bool forced =
      tool_choice.kind == ToolChoiceKind::kRequired || tool_choice.kind == ToolChoiceKind::kNamed;
  if (forced && found && !from_format) {
    return Error{Errc::kInvalidArgument,
                 found->field + ": cannot be combined with a tool_choice that forces a call"};
  }
  return found && !forced ? *std::move(found) : OutputForm{};
}

Status check_verbosity(const Field& owner) {
  const auto field = owner.find("verbosity");
  if (!field) {
    return ok();
  }
  const std::string_view name = field->node().text;
  const bool known = name == "low" || name == "medium" || name == "high";
  return field->is(JsonNode::Kind::kString) && known
             ? ok()
             : Status(field->expected("\"low\", \"medium\" or \"high\""));
}

}  // namespace daybreak::chat
