// SPDX-License-Identifier: Apache-2.0
#include "exam/saved_answers.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_tree.h"
#include "chat/request_fields.h"
#include "exam/answer_reader.h"

namespace daybreak::exam {
namespace {

using chat::Field;
using Json = nlohmann::ordered_json;

// Escapes may make of a byte six.
constexpr std::size_t kMaxLineBytes = 6 * kMaxAnswerBytes + kMaxQuestionBytes;

std::string line_of(const Question& question, const Result<Answer>& answer,
                    const Verdict& verdict) {
  Json row = {{"id", question.id}, {"skill", question.skill}, {"question", question.digest}};
  if (!answer) {
    row["error"] = answer.error().message;
  } else {
    row["right"] = verdict.right;
    row["formed"] = verdict.formed;
    row["content"] = answer->content;
    row["reasoning"] = answer->reasoning;
    row["calls"] = Json::array();
    for (const Call& call : answer->calls) {
      row["calls"].push_back({{"name", call.name}, {"arguments", call.arguments}});
    }
    row["finish_reason"] = answer->finish_reason;
  }
  // Texts came through a JSON parser and are UTF-8; an error's may hold anything.
  return row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::string> text_of(const Field& owner, std::string_view key) {
  if (const auto field = owner.find(key)) {
    return field->string(kMaxAnswerBytes);
  }
  return Error{Errc::kInvalidArgument, owner.path_of(key) + ": expected a text, found none"};
}

Result<bool> flag_of(const Field& owner, std::string_view key) {
  if (const auto field = owner.find(key)) {
    return field->boolean();
  }
  return Error{Errc::kInvalidArgument, owner.path_of(key) + ": expected true or false, found none"};
}

Status read_answer(const Field& root, SavedAnswer& out) {
  DAYBREAK_TRY(out.verdict.right, flag_of(root, "right"));
  DAYBREAK_TRY(out.verdict.formed, flag_of(root, "formed"));
  DAYBREAK_TRY(out.answer.content, text_of(root, "content"));
  DAYBREAK_TRY(out.answer.reasoning, text_of(root, "reasoning"));
  DAYBREAK_TRY(out.answer.finish_reason, text_of(root, "finish_reason"));
  const auto calls = root.find("calls");
  if (!calls) {
    return Error{Errc::kInvalidArgument, "calls: expected an array, found none"};
  }
  DAYBREAK_TRY(const auto items, calls->array(kMaxAnswerCalls));
  for (const Field& item : items) {
    DAYBREAK_CHECK_OK(item.object_of({"name", "arguments"}));
    Call call;
    DAYBREAK_TRY(call.name, text_of(item, "name"));
    DAYBREAK_TRY(call.arguments, text_of(item, "arguments"));
    out.answer.calls.push_back(std::move(call));
  }
  return ok();
}

Result<std::pair<std::string, SavedAnswer>> read_line(std::string_view line) {
  DAYBREAK_TRY(const JsonNode tree, parse_json_tree(line));
  const Field root(tree, "");
  DAYBREAK_CHECK_OK(root.object_of({"id", "skill", "question", "error", "right", "formed",
                                    "content", "reasoning", "calls", "finish_reason"}));
  SavedAnswer out;
  DAYBREAK_TRY(std::string id, text_of(root, "id"));
  DAYBREAK_TRY(out.digest, text_of(root, "question"));
  if (root.find("error")) {
    DAYBREAK_TRY(out.error, text_of(root, "error"));
  } else {
    DAYBREAK_CHECK_OK(read_answer(root, out));
  }
  return std::pair(std::move(id), std::move(out));
}

}  // namespace

std::string saved_text(std::span<const Question> questions, std::span<const Result<Answer>> answers,
                       std::span<const Verdict> verdicts) {
  std::string out;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    out += line_of(questions[i], answers[i], verdicts[i]);
  }
  return out;
}

Result<SavedAnswers> parse_saved(std::string_view text, const std::string& name) {
  SavedAnswers out;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string where = fmt::format("{}: line {}", name, number);
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.size() > kMaxLineBytes || out.size() == kMaxQuestions) {
      return Error{Errc::kTooLarge, fmt::format("{}: expected at most {} bytes and {} lines", where,
                                                kMaxLineBytes, kMaxQuestions)};
    }
    auto read = read_line(line);
    if (!read) {
      return std::move(read).error().in(where);
    }
    if (!out.insert(*std::move(read)).second) {
      return Error{Errc::kInvalidArgument, where + ": id: expected another than those before"};
    }
  }
  return out;
}

Comparison compare(std::span<const Question> questions, std::span<const Result<Answer>> answers,
                   std::span<const Verdict> verdicts, const SavedAnswers& before) {
  Comparison out;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto found = before.find(questions[i].id);
    if (!answers[i] || found == before.end() || found->second.digest != questions[i].digest ||
        !found->second.error.empty()) {
      ++out.not_paired;
      continue;
    }
    const Answer& now = *answers[i];
    const Answer& then = found->second.answer;
    const bool same = now.content == then.content && now.calls == then.calls;
    const bool was_right = found->second.verdict.right;
    const bool is_right = verdicts[i].right;
    ++out.pairs;
    out.same += same ? 1 : 0;
    out.same_thinking += same && now.reasoning == then.reasoning ? 1 : 0;
    out.both_right += was_right && is_right ? 1 : 0;
    out.lost += was_right && !is_right ? 1 : 0;
    out.gained += !was_right && is_right ? 1 : 0;
  }
  return out;
}

}  // namespace daybreak::exam
