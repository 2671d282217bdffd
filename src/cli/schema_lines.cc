// SPDX-License-Identifier: Apache-2.0
#include "cli/schema_lines.h"

#include <algorithm>
#include <utility>

#include "base/json_document.h"
#include "chat/response_json.h"
#include "grammar/message_rules.h"
#include "grammar/mfjs.h"
#include "grammar/schema.h"

namespace daybreak::cli {
namespace {

// A schema or an instance of the full depth, and the line around it.
constexpr JsonTreeLimits kLineLimits = {.max_depth = 256, .max_values = 2'000'000};

Status check_schema(const std::string& schema, std::string_view dialect) {
  if (dialect == "mfjs") {
    // As the dialect's documentation and test cases have it; what an endpoint allows is wider.
    return grammar::check_mfjs(schema, grammar::MfjsLevel::kUltra, grammar::kDocumentedMfjsLimits);
  }
  if (dialect == "enforced") {
    const auto grammar = grammar::compile_schema(schema);
    return grammar ? ok() : Status(grammar.error());
  }
  DAYBREAK_TRY(auto document, grammar::SchemaDocument::parse(schema));
  const auto validator = grammar::Validator::create(std::move(document));
  return validator ? ok() : Status(validator.error());
}

}  // namespace

Result<SchemaLine> read_schema_line(std::string_view line, std::string_view member,
                                    MemberNeed need) {
  SchemaLine read;
  DAYBREAK_TRY(read.tree, parse_json_tree(line, kLineLimits));
  const auto refuse = [](std::string why) {
    return Error{Errc::kInvalidArgument, "line: " + std::move(why)};
  };
  if (!read.tree.is(JsonNode::Kind::kObject)) {
    return refuse("expected an object, found " + std::string(to_string(read.tree.kind)));
  }
  if (read.tree.duplicate != JsonNode::kNoDuplicate) {
    return refuse("a member was given twice");
  }
  for (const std::string& key : read.tree.keys) {
    if (key != "schema" && key != member) {
      return refuse("expected \"schema\" and \"" + std::string(member) + "\", found \"" +
                    printable(key, 60) + "\"");
    }
  }
  const JsonNode* schema = read.tree.find("schema");
  if (schema == nullptr) {
    return refuse("expected \"schema\", found none");
  }
  if (need == MemberNeed::kRequired && read.tree.find(member) == nullptr) {
    return refuse("expected \"" + std::string(member) + "\", found none");
  }
  read.schema = schema->is(JsonNode::Kind::kString) ? schema->text : std::string(schema->raw);
  return read;
}

Result<std::string> schema_check_line(std::string_view line) {
  DAYBREAK_TRY(const SchemaLine read, read_schema_line(line, "dialect", MemberNeed::kOptional));
  const JsonNode* dialect = read.tree.find("dialect");
  const std::string_view name = dialect == nullptr ? "2020-12" : std::string_view(dialect->text);
  if (name != "2020-12" && name != "mfjs" && name != "enforced") {
    return Error{Errc::kInvalidArgument,
                 "line: dialect: expected \"2020-12\", \"mfjs\" or \"enforced\", found " +
                     printable(dialect->raw, 60)};
  }
  const Status status = check_schema(read.schema, name);
  std::string out = status ? "{\"ok\":true,\"error\":null" : "{\"ok\":false,\"error\":";
  if (!status) {
    chat::append_json_text(out, status.error().message);
  }
  return out + "}";
}

Result<std::string> schema_validate_line(std::string_view line, grammar::Formats formats) {
  DAYBREAK_TRY(const SchemaLine read, read_schema_line(line, "instance", MemberNeed::kRequired));
  DAYBREAK_TRY(auto document, grammar::SchemaDocument::parse(read.schema));
  DAYBREAK_TRY(const auto validator, grammar::Validator::create(std::move(document)));
  DAYBREAK_TRY(const auto result,
               validator.validate(*read.tree.find("instance"), {.formats = formats}));
  std::string out = std::string("{\"ok\":") + (result.valid() ? "true" : "false") + ",\"errors\":[";
  for (const grammar::ValidationError& error : result.errors) {
    out += out.ends_with('[') ? "{\"instance_path\":" : ",{\"instance_path\":";
    chat::append_json_text(out, error.instance_path);
    out += ",\"schema_path\":";
    chat::append_json_text(out, error.schema_path);
    out += ",\"keyword\":";
    chat::append_json_text(out, error.keyword);
    out += ",\"message\":";
    chat::append_json_text(out, error.message);
    out += '}';
  }
  return out + "]}";
}

Result<std::string> schema_accept_line(std::string_view line, grammar::Formats formats) {
  DAYBREAK_TRY(const SchemaLine read, read_schema_line(line, "text", MemberNeed::kRequired));
  const JsonNode& text = *read.tree.find("text");
  if (!text.is(JsonNode::Kind::kString)) {
    return Error{Errc::kInvalidArgument,
                 "line: text: expected a string, found " + printable(text.raw, 60)};
  }
  DAYBREAK_TRY(
      const bool accepted,
      grammar::schema_accepts(read.schema, text.text,
                              {.spaces = grammar::JsonSpaces::kOptional, .formats = formats}));
  return std::string(accepted ? "{\"accepted\":true}" : "{\"accepted\":false}");
}

}  // namespace daybreak::cli
