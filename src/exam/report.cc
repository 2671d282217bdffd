// SPDX-License-Identifier: Apache-2.0
#include "exam/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/human_units.h"
#include "base/utf8.h"
#include "exam/intervals.h"

namespace daybreak::exam {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kPercent = 100;
constexpr double kMilliseconds = 1000;
constexpr std::size_t kBarCells = 20;
constexpr std::size_t kShownBytes = 400;  // of each text of a wrong answer

double share(std::size_t part, std::size_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(whole, 1));
}

std::string percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? "n/a" : fmt::format("{:.1f} %", kPercent * share(part, whole));
}

std::string bar(const SkillTally& skill) {
  const auto full =
      static_cast<std::size_t>(share(skill.right, skill.answered) * double{kBarCells} + 0.5);
  return "  " + std::string(full, '#') + std::string(kBarCells - full, '.');
}

std::string skill_line(const SkillTally& skill, Bars bars) {
  const Interval trust = wilson(skill.right, skill.answered);
  const bool known = skill.answered > 0;
  return fmt::format(
      "{:<14}{:>5} / {:<5}{:>9}  {:>13}{:>11}{:>10}{:>14}{}\n", skill.skill, skill.right,
      skill.answered, percent(skill.right, skill.answered),
      known ? fmt::format("{:.1f} to {:.1f}", kPercent * trust.low, kPercent * trust.high) : "n/a",
      percent(skill.formed, skill.answered), percent(skill.markers, skill.ids_known),
      skill.answered == skill.asked ? "-" : std::to_string(skill.asked - skill.answered),
      bars == Bars::kOn && known ? bar(skill) : "");
}

std::string figures_text(const Report& report) {
  const Tally& tally = report.tally;
  std::string out;
  if (!tally.efforts.empty()) {
    out += "thinking, median tokens:";
    for (const EffortTally& effort : tally.efforts) {
      out += fmt::format("{} {} {:g} ({} answers)", &effort == &tally.efforts.front() ? "" : ",",
                         effort.effort, effort.median_tokens, effort.answers);
    }
    out += "\n";
  }
  out += fmt::format("{} tokens in {:.1f} s", grouped(tally.completion_tokens), report.seconds);
  if (tally.first_seconds) {
    out += fmt::format("; median of an answer: first token after {:.1f} ms",
                       kMilliseconds * *tally.first_seconds);
  }
  if (tally.tokens_per_second) {
    out += fmt::format(", {:.1f} tokens/s", *tally.tokens_per_second);
  }
  return out + "\n";
}

std::string comparison_text(const Comparison& c) {
  const Interval same = wilson(c.same, c.pairs);
  const Interval change = paired_change(c.lost, c.gained, c.pairs);
  const auto points = [](double value) { return fmt::format("{:+.2f}", kPercent * value); };
  std::string out = fmt::format(
      "compared with the saved run: {} pairs, {} same answers ({}, 95 % {:.1f} to {:.1f}), {} of "
      "them with the same thinking, {} different\n",
      c.pairs, c.same, percent(c.same, c.pairs), kPercent * same.low, kPercent * same.high,
      c.same_thinking, c.pairs - c.same);
  out += fmt::format(
      "right before and now {}, only before {}, only now {}: a change of {} points (95 % {} to "
      "{})\n",
      c.both_right, c.lost, c.gained,
      points((static_cast<double>(c.gained) - static_cast<double>(c.lost)) /
             static_cast<double>(std::max<std::size_t>(c.pairs, 1))),
      points(change.low), points(change.high));
  if (c.not_paired > 0) {
    out += fmt::format("not compared: {} (not asked before, other words, or no answer)\n",
                       c.not_paired);
  }
  return out;
}

std::string shortened(const std::string& text) {
  return text.size() <= kShownBytes ? text : repair_utf8(text.substr(0, kShownBytes)) + " ...";
}

std::string wrong_text(const WrongAnswer& wrong) {
  return fmt::format("\n{}\n  asked    {}\n  expected {}\n  found    {}\n{}", wrong.id,
                     shortened(Json(wrong.asked).dump()), shortened(wrong.expected),
                     shortened(wrong.found),
                     wrong.fault.empty() ? "" : fmt::format("  broken   {}\n", wrong.fault));
}

Json interval_json(const Interval& interval) { return {interval.low, interval.high}; }

Json skill_json(const SkillTally& skill) {
  Json out = {{"skill", skill.skill},
              {"asked", skill.asked},
              {"answered", skill.answered},
              {"right", skill.right}};
  out["share"] = skill.answered == 0 ? Json() : Json(share(skill.right, skill.answered));
  out["interval_95"] = interval_json(wilson(skill.right, skill.answered));
  out["well_formed"] = skill.formed;
  out["ids_known"] = skill.ids_known;
  out["markers_to_the_letter"] = skill.markers;
  out["not_answered"] = skill.asked - skill.answered;
  out["first_error"] = skill.first_error.empty() ? Json() : Json(skill.first_error);
  return out;
}

Json comparison_json(const Comparison& c) {
  return {{"pairs", c.pairs},
          {"same", c.same},
          {"same_thinking", c.same_thinking},
          {"different", c.pairs - c.same},
          {"same_interval_95", interval_json(wilson(c.same, c.pairs))},
          {"both_right", c.both_right},
          {"only_before", c.lost},
          {"only_now", c.gained},
          {"change_interval_95", interval_json(paired_change(c.lost, c.gained, c.pairs))},
          {"not_paired", c.not_paired}};
}

std::string expected_json(const Expectation& expect) {
  nlohmann::json out;
  if (!expect.calls.empty()) {
    out["calls"] = expect.calls;
  }
  if (expect.json) {
    out["json"] = *expect.json;
  }
  if (expect.any) {
    out["any"] = *expect.any;
  }
  return out.dump();
}

std::string found_json(const Answer& answer) {
  Json out = {{"content", answer.content}};
  for (const Call& call : answer.calls) {
    out["calls"].push_back({{"name", call.name}, {"arguments", call.arguments}});
  }
  out["finish_reason"] = answer.finish_reason;
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The text of the last message, as far as it has one.
std::string last_message(const std::string& request) {
  const nlohmann::json body = nlohmann::json::parse(request, nullptr, false);
  const nlohmann::json content = body.is_object() && body["messages"].back().is_object()
                                     ? body["messages"].back().value("content", nlohmann::json())
                                     : nlohmann::json();
  if (content.is_string()) {
    return content.get<std::string>();
  }
  std::string out;
  for (const nlohmann::json& part : content) {
    if (part.is_object() && part.contains("text") && part["text"].is_string()) {
      out += part["text"].get<std::string>();
    }
  }
  return out;
}

}  // namespace

std::vector<WrongAnswer> wrong_answers(std::span<const Question> questions,
                                       std::span<const Result<Answer>> answers,
                                       std::span<const Verdict> verdicts, std::size_t each) {
  std::vector<WrongAnswer> out;
  std::map<std::string, std::size_t> shown;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Question& question = questions[i];
    if (answers[i] && !verdicts[i].right && shown[question.skill]++ < each) {
      out.push_back({.id = question.id,
                     .skill = question.skill,
                     .asked = last_message(question.request),
                     .expected = expected_json(question.expect),
                     .found = found_json(*answers[i]),
                     .fault = verdicts[i].fault});
    }
  }
  return out;
}

std::string report_text(const Report& report, Bars bars) {
  std::string out = fmt::format("{}: {} questions of {}\n\n", report.endpoint,
                                grouped(report.tally.total.asked), report.questions);
  out += fmt::format("{:<14}{:<13}{:>9}  {:>13}{:>11}{:>10}{:>14}\n", "skill", "   right / of",
                     "share", "95 %", "formed", "markers", "not answered");
  for (const SkillTally& skill : report.tally.skills) {
    out += skill_line(skill, bars);
  }
  out += skill_line(report.tally.total, bars) + "\n" + figures_text(report);
  for (const SkillTally& skill : report.tally.skills) {
    if (!skill.first_error.empty()) {
      out += fmt::format("{}: {} not answered: {}\n", skill.skill, skill.asked - skill.answered,
                         skill.first_error);
    }
  }
  if (report.comparison) {
    out += comparison_text(*report.comparison);
  }
  for (const WrongAnswer& wrong : report.wrong) {
    out += wrong_text(wrong);
  }
  return out;
}

std::string report_json(const Report& report) {
  const Tally& tally = report.tally;
  Json out = {{"endpoint", report.endpoint},
              {"questions", report.questions},
              {"seconds", report.seconds},
              {"skills", Json::array()},
              {"all", skill_json(tally.total)},
              {"thinking_tokens", Json::array()},
              {"completion_tokens", tally.completion_tokens}};
  for (const SkillTally& skill : tally.skills) {
    out["skills"].push_back(skill_json(skill));
  }
  for (const EffortTally& effort : tally.efforts) {
    out["thinking_tokens"].push_back(
        {{"effort", effort.effort}, {"answers", effort.answers}, {"median", effort.median_tokens}});
  }
  out["median_first_token_seconds"] = tally.first_seconds ? Json(*tally.first_seconds) : Json();
  out["median_tokens_per_second"] =
      tally.tokens_per_second ? Json(*tally.tokens_per_second) : Json();
  if (report.comparison) {
    out["comparison"] = comparison_json(*report.comparison);
  }
  out["wrong"] = Json::array();
  for (const WrongAnswer& wrong : report.wrong) {
    out["wrong"].push_back({{"id", wrong.id},
                            {"skill", wrong.skill},
                            {"asked", wrong.asked},
                            {"expected", Json::parse(wrong.expected)},
                            {"found", Json::parse(wrong.found)},
                            {"fault", wrong.fault}});
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace daybreak::exam
