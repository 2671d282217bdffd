// SPDX-License-Identifier: Apache-2.0
#include "exam/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>
#include <utility>

namespace daybreak::exam {
namespace {

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void add(SkillTally& to, const Result<Answer>& answer, const Verdict& verdict) {
  ++to.asked;
  if (!answer) {
    if (to.first_error.empty()) {
      to.first_error = answer.error().message;
    }
    return;
  }
  ++to.answered;
  to.right += verdict.right ? 1 : 0;
  to.formed += verdict.formed ? 1 : 0;
  to.ids_known += verdict.markers ? 1 : 0;
  to.markers += verdict.markers.value_or(false) ? 1 : 0;
}

SkillTally& tally_of(std::vector<SkillTally>& skills, const std::string& skill) {
  const auto found = std::ranges::find(skills, skill, &SkillTally::skill);
  if (found != skills.end()) {
    return *found;
  }
  skills.push_back({.skill = skill, .first_error = {}});
  return skills.back();
}

// What answers tell of time and length.
struct Figures {
  std::map<std::string, std::vector<double>> thinking;  // tokens by effort
  std::vector<double> first_seconds;
  std::vector<double> rates;
  std::size_t tokens = 0;

  void add(const Question& question, const Answer& answer) {
    if (question.effort != "off" && answer.reasoning_tokens) {
      thinking[question.effort].push_back(static_cast<double>(*answer.reasoning_tokens));
    }
    if (answer.first_seconds > 0) {
      first_seconds.push_back(answer.first_seconds);
    }
    const double rest = answer.seconds - answer.first_seconds;
    const std::size_t made = answer.completion_tokens.value_or(0);
    tokens += made;
    if (made > 1 && answer.first_seconds > 0 && rest > 0) {
      rates.push_back(static_cast<double>(made - 1) / rest);
    }
  }
};

std::vector<EffortTally> efforts_of(std::map<std::string, std::vector<double>> thinking) {
  std::vector<EffortTally> out;
  const auto take = [&](const std::string& effort, const std::vector<double>& tokens) {
    out.push_back({effort, tokens.size(), median(tokens).value_or(0)});
  };
  for (const char* const effort : {"low", "high", "max"}) {
    if (const auto node = thinking.extract(effort)) {
      take(node.key(), node.mapped());
    }
  }
  for (const auto& [effort, tokens] : thinking) {
    take(effort, tokens);
  }
  return out;
}

}  // namespace

Tally tally(std::span<const Question> questions, std::span<const Result<Answer>> answers,
            std::span<const Verdict> verdicts) {
  Tally out;
  out.total.skill = "all";
  Figures figures;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    add(tally_of(out.skills, questions[i].skill), answers[i], verdicts[i]);
    add(out.total, answers[i], verdicts[i]);
    if (answers[i]) {
      figures.add(questions[i], *answers[i]);
    }
  }
  out.efforts = efforts_of(std::move(figures.thinking));
  out.first_seconds = median(std::move(figures.first_seconds));
  out.tokens_per_second = median(std::move(figures.rates));
  out.completion_tokens = figures.tokens;
  return out;
}

std::vector<Verdict> judge_all(std::span<const Question> questions,
                               std::span<const Result<Answer>> answers,
                               const tokenizer::Tokenizer* tokenizer) {
  std::vector<Verdict> out(questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (answers[i]) {
      out[i] = judge(questions[i], *answers[i], tokenizer);
    }
  }
  return out;
}

Result<Minimum> parse_minimum(std::string_view text) {
  const std::size_t sign = text.rfind('=');
  Minimum out;
  if (sign != std::string_view::npos && sign > 0) {
    out.skill = text.substr(0, sign);
    const char* const begin = text.data() + sign + 1;
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(begin, end, out.share);
    if (code == std::errc{} && stop == end && out.share >= 0 && out.share <= 1) {
      return out;
    }
  }
  return Error{
      Errc::kInvalidArgument,
      fmt::format("--min: expected SKILL=SHARE with a share from 0 to 1, found '{}'", text)};
}

Status check_minima(const Tally& tally, std::span<const Minimum> minima) {
  std::string below;
  for (const Minimum& minimum : minima) {
    const auto found = std::ranges::find(tally.skills, minimum.skill, &SkillTally::skill);
    if (found == tally.skills.end()) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("--min: expected a skill that is asked, found '{}'", minimum.skill)};
    }
    const double share = static_cast<double>(found->right) / static_cast<double>(found->asked);
    if (share < minimum.share) {
      below += fmt::format("{}{}: expected a share of {} right, found {:.4g} ({} of {})",
                           below.empty() ? "" : "; ", minimum.skill, minimum.share, share,
                           found->right, found->asked);
    }
  }
  return below.empty() ? ok() : Status(Error{Errc::kCorrupt, std::move(below)});
}

}  // namespace daybreak::exam
