// SPDX-License-Identifier: Apache-2.0
#include "exam/question.h"

#include <fmt/format.h>

#include <set>
#include <span>
#include <utility>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "base/json_tree.h"
#include "chat/request_fields.h"

namespace daybreak::exam {
namespace {

using chat::Field;

constexpr std::size_t kMaxMessages = 1'000;
constexpr std::size_t kMaxCalls = 128;

// What the exam itself puts into a request.
constexpr std::string_view kDecidedHere[] = {
    "model", "stream",     "stream_options",        "temperature",
    "seed",  "max_tokens", "max_completion_tokens", "n"};

// A member that must be there; null counts as a value.
Result<Field> member(const Field& owner, std::string_view key) {
  const JsonNode* found = owner.node().find(key);
  if (found == nullptr) {
    return Error{Errc::kInvalidArgument, owner.path_of(key) + ": expected a value, found none"};
  }
  return Field(*found, owner.path_of(key));
}

Result<std::string> name_of(const Field& owner, std::string_view key) {
  DAYBREAK_TRY(const Field field, member(owner, key));
  DAYBREAK_TRY(std::string text, field.string(kMaxNameBytes));
  if (text.empty()) {
    return field.expected("a name");
  }
  return text;
}

// A value as it stands in the line, which is JSON already.
Result<nlohmann::json> value_of(const Field& field) {
  nlohmann::json value = nlohmann::json::parse(field.node().raw, nullptr, false);
  return value.is_discarded() ? Result<nlohmann::json>(field.expected("numbers below 1e308"))
                              : Result<nlohmann::json>(std::move(value));
}

Result<nlohmann::json> read_calls(const Field& field) {
  nlohmann::json calls = nlohmann::json::array();
  DAYBREAK_TRY(const auto items, field.array(kMaxCalls));
  for (const Field& item : items) {
    DAYBREAK_CHECK_OK(item.object_of({"name", "arguments"}));
    DAYBREAK_TRY(const std::string name, name_of(item, "name"));
    DAYBREAK_TRY(const Field arguments, member(item, "arguments"));
    DAYBREAK_CHECK_OK(arguments.object());
    DAYBREAK_TRY(nlohmann::json value, value_of(arguments));
    calls.push_back({{"name", name}, {"arguments", std::move(value)}});
  }
  return calls;
}

Result<Expectation> read_expectation(const Field& field) {
  DAYBREAK_CHECK_OK(field.object_of({"calls", "json", "any"}));
  Expectation out;
  if (const auto calls = field.find("calls")) {
    DAYBREAK_TRY(out.calls, read_calls(*calls));
  }
  if (field.node().find("json") != nullptr) {
    DAYBREAK_TRY(const Field json, member(field, "json"));
    DAYBREAK_TRY(out.json, value_of(json));
  }
  if (const auto any = field.find("any")) {
    DAYBREAK_TRY(const auto items, any->array(kMaxWordings));
    out.any.emplace();
    for (const Field& item : items) {
      DAYBREAK_TRY(std::string text, item.string(kMaxQuestionBytes));
      out.any->push_back(std::move(text));
    }
  }
  if (out.calls.empty() && !out.json && (!out.any || out.any->empty())) {
    return field.expected("calls, json or any that an answer can be held to");
  }
  return out;
}

// Effort is said by `thinking` or by `reasoning_effort`; without either it is the server's own.
Result<std::string> read_effort(const Field& request) {
  if (const auto thinking = request.find("thinking")) {
    DAYBREAK_CHECK_OK(thinking->object());
    if (const auto type = thinking->find("type"); type && type->node().text == "disabled") {
      return std::string("off");
    }
    if (const auto effort = thinking->find("effort")) {
      return effort->string(kMaxNameBytes);
    }
  }
  if (const auto effort = request.find("reasoning_effort")) {
    DAYBREAK_TRY(std::string text, effort->string(kMaxNameBytes));
    return text == "none" ? std::string("off") : text;
  }
  return std::string("max");
}

Result<Question> read_question(std::string_view line) {
  DAYBREAK_TRY(const JsonNode tree, parse_json_tree(line));
  const Field root(tree, "");
  DAYBREAK_CHECK_OK(root.object_of({"id", "skill", "request", "expect"}));
  Question out;
  DAYBREAK_TRY(out.id, name_of(root, "id"));
  DAYBREAK_TRY(out.skill, name_of(root, "skill"));
  DAYBREAK_TRY(const Field request, member(root, "request"));
  DAYBREAK_CHECK_OK(request.object());
  for (const std::string_view key : kDecidedHere) {
    if (request.node().find(key) != nullptr) {
      return Error{Errc::kInvalidArgument,
                   request.path_of(key) + ": the exam decides this, expected no such member"};
    }
  }
  DAYBREAK_TRY(const Field messages, member(request, "messages"));
  DAYBREAK_TRY(const auto items, messages.array(kMaxMessages));
  if (items.empty()) {
    return messages.expected("at least one message");
  }
  DAYBREAK_TRY(out.effort, read_effort(request));
  out.request = request.node().raw;
  DAYBREAK_TRY(const Field expect, member(root, "expect"));
  DAYBREAK_TRY(out.expect, read_expectation(expect));
  out.digest = fmt::format("{:016x}", fnv1a64(std::as_bytes(std::span(line))));
  return out;
}

}  // namespace

Result<std::vector<Question>> parse_questions(std::string_view text, const std::string& name) {
  std::vector<Question> out;
  std::set<std::string> ids;
  std::set<std::string> skills;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string where = fmt::format("{}: line {}", name, number);
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.size() > kMaxQuestionBytes || out.size() == kMaxQuestions) {
      return Error{Errc::kTooLarge,
                   where + (out.size() == kMaxQuestions ? ": expected at most 20000 questions"
                                                        : ": expected at most 1 MiB")};
    }
    auto question = read_question(line);
    if (!question) {
      return std::move(question).error().in(where);
    }
    if (!ids.insert(question->id).second) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("{}: id: expected another than those before, found \"{}\"", where,
                               question->id)};
    }
    skills.insert(question->skill);
    if (skills.size() > kMaxSkills) {
      return Error{Errc::kTooLarge, where + ": skill: expected at most 100 different ones"};
    }
    out.push_back(*std::move(question));
  }
  if (out.empty()) {
    return Error{Errc::kInvalidArgument, name + ": expected questions, found an empty file"};
  }
  return out;
}

Result<std::vector<Question>> read_questions(const std::string& path) {
  DAYBREAK_TRY(const std::string text, read_whole_file(path, kMaxQuestionsBytes));
  return parse_questions(text, path);
}

}  // namespace daybreak::exam
