// SPDX-License-Identifier: Apache-2.0
// `daybreak batch`: a file of requests in OpenAI's batch form in, a file of answers out. No server;
// the answers are those that one would give.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "api/batch_run.h"
#include "api/completion_request.h"
#include "api/service.h"
#include "base/log.h"
#include "base/metrics.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/runner_options.h"
#include "engine/engine.h"
#include "grammar/formats.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {
namespace {

using api::BatchOutput;
using api::BatchRun;

struct Options {
  RunnerOptions runner;
  api::BatchPaths paths;
  std::size_t max_in_flight = 8;
  std::size_t max_positions = 65'536;
  std::size_t checkpoints = kDefaultCheckpoints;
  std::size_t max_lines = api::kMaxBatchLines;
  bool resume = false;
  bool json = false;
};

// Choices of one request are submitted one by one: all of them find room, however many it asks for.
const std::size_t kQueuePerRequest = api::kMaxCompletionPrompts * chat::ChatLimits{}.max_choices;

class InputFile {
 public:
  [[nodiscard]] static Result<std::unique_ptr<InputFile>> open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info{};
    if (fd < 0 || ::fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
      const Error error{fd < 0 ? Errc::kNotFound : Errc::kInvalidArgument,
                        path + ": " + (fd < 0 ? std::strerror(errno) : "expected a file")};
      if (fd >= 0) {
        ::close(fd);
      }
      return error;
    }
    return std::unique_ptr<InputFile>(new InputFile(fd, S_ISREG(info.st_mode)));  // NOLINT
  }
  ~InputFile() { ::close(fd_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  // Lines to come; 0 if only reading them can tell.
  [[nodiscard]] std::size_t count_lines() const {
    std::size_t count = 0;
    if (regular_) {
      LineReader lines(fd_);
      while (const auto line = lines.next()) {
        if (!*line && line->error().code == Errc::kIo) {
          break;
        }
        ++count;
      }
      ::lseek(fd_, 0, SEEK_SET);
    }
    return count;
  }

 private:
  InputFile(int fd, bool regular) : fd_(fd), regular_(regular) {}
  int fd_;
  bool regular_;
};

Result<std::unique_ptr<api::Service>> make_service(const LoadedModel& loaded,
                                                   engine::Generator& generator, Metrics& metrics,
                                                   Log& log) {
  DAYBREAK_TRY(auto tokenizer, tokenizer::Tokenizer::load(loaded.path));
  const std::string name = std::filesystem::weakly_canonical(loaded.path).filename().string();
  api::ServiceOptions options;
  options.model_names = {name.empty() ? "model" : name};
  options.model_context = loaded.model->config().max_positions;
  return api::Service::create(std::move(options), std::move(tokenizer), generator, metrics, log);
}

http::Task<void> drive(BatchRun& run, Status& status) { status = co_await run.run(); }

// Runs the batch on this thread.
Status run_here(const Options& options, int input, BatchOutput& output, std::size_t total,
                const BatchRun::Handlers& handlers, std::uint64_t& skipped) {
  boost::asio::io_context loop(1);
  Progress progress("batch");
  api::BatchRunOptions run_options{
      .endpoint = "", .max_in_flight = options.max_in_flight, .max_lines = options.max_lines};
  run_options.on_line = [&] {
    const api::BatchCounts& counts = output.counts();
    progress.show(counts.completed + counts.failed, total);
  };
  BatchRun run(input, output, handlers, std::move(run_options), loop.get_executor());
  Status status = ok();
  boost::asio::co_spawn(loop, drive(run, status), [&](const std::exception_ptr& thrown) {
    if (thrown) {
      status = Error{Errc::kIo, "the batch was ended by an unexpected fault"};
    }
  });
  loop.run();
  skipped = run.skipped();
  return status;
}

void print_summary(const Options& options, const api::BatchCounts& counts, std::uint64_t skipped,
                   double seconds) {
  if (options.json) {
    fmt::print("{{\"completed\":{},\"failed\":{},\"earlier\":{},\"seconds\":{:.3f}}}\n",
               counts.completed, counts.failed, skipped, seconds);
  } else {
    fmt::print("{} completed, {} failed, {} of them by earlier runs, {:.1f} s\n", counts.completed,
               counts.failed, skipped, seconds);
  }
  std::fflush(stdout);
}

Status run(const Options& options) {
  const auto began = std::chrono::steady_clock::now();
  DAYBREAK_TRY(const auto input, InputFile::open(options.paths.input));
  // Before the model, whose loading takes long.
  DAYBREAK_TRY(const auto output,
               BatchOutput::open(options.paths, options.resume ? BatchOutput::Start::kResume
                                                               : BatchOutput::Start::kNew));
  const std::size_t total = ::isatty(STDERR_FILENO) == 1 ? input->count_lines() : 0;
  DAYBREAK_TRY(const LoadedModel loaded, load_model(options.runner));
  DAYBREAK_TRY(auto runner, make_runner(loaded, options.runner,
                                        {.sequences = options.max_in_flight,
                                         .positions = options.max_positions,
                                         .checkpoints = options.checkpoints}));
  const std::size_t queue = std::min(options.max_in_flight * kQueuePerRequest, engine::kMaxQueue);
  DAYBREAK_TRY(const auto engine, engine::Engine::start(std::move(runner), {.max_queue = queue}));
  grammar::prepare_formats();
  Metrics metrics;
  Log log({.level = LogLevel::kWarning});
  DAYBREAK_TRY(const auto service, make_service(loaded, *engine, metrics, log));
  std::uint64_t skipped = 0;
  const Status status =
      run_here(options, input->fd(), *output, total, service->batch_handlers(), skipped);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  print_summary(options, output->counts(), skipped, took.count());
  DAYBREAK_CHECK_OK(status);
  if (const auto failed = output->counts().failed; failed != 0) {
    return Error{Errc::kCorrupt,
                 fmt::format("{} of {} lines failed", failed, failed + output->counts().completed)};
  }
  return ok();
}

}  // namespace

void register_batch(Command root) {
  const auto options = std::make_shared<Options>();
  const Command sub = root.add_subcommand("batch", "answer a file of requests (docs/batches.md)");
  add_runner_options(sub, options->runner);
  sub.add_option("--input", options->paths.input, "requests, one JSON object per line").required();
  sub.add_option("--output", options->paths.output, "file for the answers, one per line")
      .required();
  sub.add_option("--errors", options->paths.errors,
                 "file for what failed; without it, failures go to the output too");
  sub.add_option("--max-in-flight", options->max_in_flight, "requests answered at the same time")
      .in_range(1, 1024)
      .show_default();
  sub.add_option("--max-positions", options->max_positions,
                 "tokens of prompts and answers in memory, all requests together")
      .in_range(1, std::uint64_t{1} << 32U)
      .show_default();
  sub.add_option("--state-checkpoints", options->checkpoints,
                 "copies of a sequence's state that later requests can start from; 0: none")
      .in_range(0, engine::kMaxCheckpoints)
      .show_default();
  sub.add_option("--max-lines", options->max_lines, "lines of the input; more ends the batch")
      .in_range(1, std::uint64_t{1} << 32U)
      .show_default();
  sub.add_flag("--resume", options->resume, "go on where a run that was ended had come to");
  sub.add_flag("--json", options->json, "write the summary as JSON");
  sub.runs([options] { return run(*options); });
}

}  // namespace daybreak::cli
