// SPDX-License-Identifier: Apache-2.0
// `daybreak exam`: asks a model, or an endpoint, questions with known answers (docs/exam.md).

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "cli/chat_printer.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/endpoint_options.h"
#include "cli/model_path.h"
#include "cli/progress.h"
#include "exam/report.h"
#include "exam/run.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {
namespace {

using exam::Question;

constexpr std::size_t kMaxTimeout = 86'400;
constexpr const char* kServedName = "exam";

struct Options {
  EndpointOptions endpoint;
  std::string questions;
  std::vector<std::string> skills;
  std::vector<std::string> minima;
  std::string save;
  std::string compare;
  std::size_t limit = exam::kMaxQuestions;
  std::size_t concurrency = 4;
  std::size_t max_tokens = 1'024;
  std::size_t timeout = 300;
  std::size_t show = 0;
  bool json = false;
};

// What is read before anything is asked, so that a mistake costs nothing.
struct Prepared {
  std::filesystem::path model;  // empty: an endpoint of which no tokenizer is known
  std::string questions_path;
  std::vector<Question> questions;
  std::vector<exam::Minimum> minima;
  std::optional<exam::SavedAnswers> before;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  std::string api_key;
};

// The file named, the one beside the model, or the bundled one.
Result<std::string> questions_path(const Options& options, const std::filesystem::path& model) {
  if (!options.questions.empty()) {
    return options.questions;
  }
  std::error_code error;
  if (!model.empty() && std::filesystem::exists(model / "exam.jsonl", error)) {
    return (model / "exam.jsonl").string();
  }
  DAYBREAK_TRY(const auto bundled, resolve_model(""));
  return (bundled / "exam.jsonl").string();
}

// Those of the skills named, `limit` of each. Errors: kInvalidArgument for a skill there is not.
Result<std::vector<Question>> chosen(std::vector<Question> all, const Options& options) {
  std::string known;
  std::map<std::string, std::size_t> counts;
  for (const Question& question : all) {
    if (counts[question.skill]++ == 0) {
      known += known.empty() ? "" : ", ";
      known += question.skill;
    }
  }
  for (const std::string& skill : options.skills) {
    if (!counts.contains(skill)) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("--skill: expected one of {}, found '{}'", known, skill)};
    }
  }
  counts.clear();
  std::erase_if(all, [&](const Question& question) {
    const bool wanted = options.skills.empty() ||
                        std::ranges::find(options.skills, question.skill) != options.skills.end();
    return !wanted || counts[question.skill]++ >= options.limit;
  });
  return all;
}

Result<Prepared> prepare(const Options& options) {
  DAYBREAK_CHECK_OK(check_endpoint(options.endpoint));
  Prepared out;
  if (options.endpoint.url.empty() || !options.endpoint.runner.model.empty()) {
    DAYBREAK_TRY(out.model, resolve_model(options.endpoint.runner.model));
    DAYBREAK_TRY(out.tokenizer, tokenizer::Tokenizer::load(out.model));
  }
  DAYBREAK_TRY(out.questions_path, questions_path(options, out.model));
  DAYBREAK_TRY(auto all, exam::read_questions(out.questions_path));
  DAYBREAK_TRY(out.questions, chosen(std::move(all), options));
  for (const std::string& text : options.minima) {
    DAYBREAK_TRY(exam::Minimum minimum, exam::parse_minimum(text));
    if (std::ranges::find(out.questions, minimum.skill, &Question::skill) == out.questions.end()) {
      return Error{Errc::kInvalidArgument,
                   "--min: expected a skill that is asked, found '" + minimum.skill + "'"};
    }
    out.minima.push_back(std::move(minimum));
  }
  if (!options.compare.empty()) {
    DAYBREAK_TRY(const std::string text, read_whole_file(options.compare, exam::kMaxSavedBytes));
    DAYBREAK_TRY(out.before, exam::parse_saved(text, options.compare));
  }
  DAYBREAK_TRY(out.api_key, read_api_key(options.endpoint));
  return out;
}

Result<exam::ExamRun> ask(const Options& options, const Prepared& prepared) {
  std::unique_ptr<ChildServer> server;
  std::string base = options.endpoint.url;
  if (base.empty()) {
    DAYBREAK_TRY(server, start_server(options.endpoint, prepared.model, kServedName));
    base = server->url();
  }
  exam::RunOptions run;
  DAYBREAK_TRY(run.endpoint.url, exam::chat_url(std::move(base)));
  run.endpoint.model = options.endpoint.url.empty() ? kServedName : options.endpoint.model_name;
  run.endpoint.api_key = prepared.api_key;
  run.endpoint.ca_file = options.endpoint.ca_file;
  run.endpoint.max_tokens = options.max_tokens;
  run.endpoint.timeout = std::chrono::seconds(options.timeout);
  run.endpoint.on_wait = [told = std::make_shared<std::atomic<bool>>(false)](auto wait) {
    if (!told->exchange(true)) {
      fmt::print(stderr, "the endpoint asks to wait (429), now for {} s: going on at its rate\n",
                 std::chrono::ceil<std::chrono::seconds>(wait).count());
    }
  };
  run.endpoint.ask_for_ids = prepared.tokenizer != nullptr;
  run.concurrency = options.concurrency;
  Progress progress("exam");
  run.on_done = [&](std::size_t done) { progress.show(done, prepared.questions.size()); };
  return exam::run_exam(prepared.questions, run);
}

// Returns why the exam as a whole failed, if it did.
Status outcome(const exam::Report& report, const Prepared& prepared) {
  const exam::SkillTally& total = report.tally.total;
  DAYBREAK_CHECK_OK(exam::check_minima(report.tally, prepared.minima));
  return total.answered > 0
             ? ok()
             : Status(Error{Errc::kUnavailable, "no question was answered: " + total.first_error});
}

// Replaces the file, but not by a run that nobody answered: it may be the only copy of the answers
// that later runs are to be compared with.
Status save_answers(const std::string& path, std::span<const exam::Question> questions,
                    std::span<const Result<exam::Answer>> answers,
                    std::span<const exam::Verdict> verdicts) {
  if (std::ranges::none_of(answers, &Result<exam::Answer>::has_value)) {
    fmt::print(stderr, "{}: not written, since no question was answered\n", path);
    return ok();
  }
  return write_file_atomically(path, exam::saved_text(questions, answers, verdicts));
}

Status run(const Options& options) {
  ::signal(SIGPIPE, SIG_IGN);
  DAYBREAK_TRY(const Prepared prepared, prepare(options));
  DAYBREAK_TRY(const exam::ExamRun asked, ask(options, prepared));
  const auto verdicts =
      exam::judge_all(prepared.questions, asked.answers, prepared.tokenizer.get());
  if (!options.save.empty()) {
    DAYBREAK_CHECK_OK(save_answers(options.save, prepared.questions, asked.answers, verdicts));
  }
  if (!asked.status) {
    return asked.status.error();
  }
  exam::Report report{
      .questions = prepared.questions_path,
      .endpoint = options.endpoint.url.empty() ? prepared.model.string() : options.endpoint.url,
      .seconds = asked.seconds,
      .tally = exam::tally(prepared.questions, asked.answers, verdicts),
      .comparison = {},
      .wrong = exam::wrong_answers(prepared.questions, asked.answers, verdicts, options.show)};
  if (prepared.before) {
    report.comparison =
        exam::compare(prepared.questions, asked.answers, verdicts, *prepared.before);
  }
  if (options.json) {
    fmt::print("{}\n", exam::report_json(report));
  } else {
    const auto bars = ::isatty(STDOUT_FILENO) == 1 ? exam::Bars::kOn : exam::Bars::kOff;
    fmt::print("{}", without_controls(exam::report_text(report, bars)));
  }
  std::fflush(stdout);
  return outcome(report, prepared);
}

void add_asking_options(Command command, Options& options) {
  command.add_option("--concurrency", options.concurrency, "questions asked at the same time")
      .in_range(1, exam::kMaxConcurrency)
      .show_default();
  command.add_option("--max-tokens", options.max_tokens, "tokens of an answer, thinking included")
      .in_range(1, std::size_t{1} << 20U)
      .show_default();
  command.add_option("--timeout", options.timeout, "seconds to wait for an answer")
      .in_range(1, kMaxTimeout)
      .show_default();
}

}  // namespace

void register_exam(Command root) {
  const auto options = std::make_shared<Options>();
  const Command sub =
      root.add_subcommand("exam", "ask a model or a server what it must know (docs/exam.md)");
  add_endpoint_options(sub, options->endpoint);
  add_asking_options(sub, *options);
  sub.add_option("--questions", options->questions,
                 "questions, one JSON object per line; default: exam.jsonl of the model, else the "
                 "bundled one");
  sub.add_option("--skill", options->skills, "ask this skill only; may be given again")
      .repeatable();
  sub.add_option("--limit", options->limit, "questions of each skill; default: all")
      .in_range(1, exam::kMaxQuestions);
  sub.add_option("--min", options->minima,
                 "SKILL=SHARE: exit with 1 if a smaller share is right; may be given again")
      .repeatable();
  sub.add_option("--show", options->show, "wrong answers to print of each skill")
      .in_range(0, exam::kMaxQuestions)
      .show_default();
  sub.add_option("--save", options->save, "file for the answers, one JSON object per line");
  sub.add_option("--compare", options->compare, "file of --save from another run to compare with");
  sub.add_flag("--json", options->json, "print one JSON object");
  sub.runs([options] { return run(*options); });
}

}  // namespace daybreak::cli
