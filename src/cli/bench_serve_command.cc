// SPDX-License-Identifier: Apache-2.0
// `daybreak bench serve`: replays a trace, or a synthetic workload, against a server and reports
// latencies, throughput and goodput (docs/bench-serve.md).

#include <fmt/format.h>
#include <signal.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench_serve_options.h"
#include "cli/chat_printer.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/endpoint_options.h"
#include "cli/model_path.h"
#include "cli/number_option.h"
#include "cli/progress.h"
#include "cli/serve_reload.h"
#include "cli/terminal.h"
#include "loadgen/replay.h"
#include "loadgen/report.h"
#include "loadgen/words.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {
namespace {

constexpr const char* kServedName = "bench";

// What is read before anything is asked, so that a mistake costs nothing.
struct Prepared {
  std::filesystem::path model;  // empty: an endpoint of which no tokenizer is known
  loadgen::TraceSize size;
  loadgen::Words words;
  loadgen::ReplayOptions replay;  // but for the URL of a server that is started here
  double scale = 1;
};

Result<std::unique_ptr<loadgen::TraceSource>> open_source(const BenchServeOptions& options) {
  std::unique_ptr<loadgen::TraceSource> source;
  if (!options.trace.empty()) {
    DAYBREAK_TRY(const loadgen::TraceFormat format, trace_format(options));
    DAYBREAK_TRY(source, loadgen::open_trace(options.trace, format));
  } else {
    DAYBREAK_TRY(const loadgen::SyntheticOptions synthetic, synthetic_options(options));
    DAYBREAK_TRY(source, loadgen::synthetic_trace(synthetic));
  }
  return options.limit == 0 ? std::move(source)
                            : loadgen::limited(std::move(source), options.limit);
}

Result<Prepared> prepare(const BenchServeOptions& options) {
  DAYBREAK_CHECK_OK(check_endpoint(options.endpoint));
  Prepared out;
  DAYBREAK_TRY(out.scale, positive_number("--scale-length", options.scale_length));
  DAYBREAK_TRY(out.replay, replay_options(options));
  DAYBREAK_TRY(const auto source, open_source(options));
  DAYBREAK_TRY(out.size, loadgen::measure(*source));
  if (out.size.requests == 0) {
    return Error{Errc::kInvalidArgument, options.trace + ": expected requests, found none"};
  }
  out.words = loadgen::common_words();
  if (options.endpoint.starts_server() || !options.endpoint.runner.model.empty()) {
    DAYBREAK_TRY(out.model, resolve_model(options.endpoint.runner.model));
    DAYBREAK_TRY(const auto tokenizer, tokenizer::Tokenizer::load(out.model));
    DAYBREAK_TRY(out.words, loadgen::words_of(*tokenizer));
  }
  return out;
}

// A file of records, if one is wanted.
class RecordFile {
 public:
  static Result<std::unique_ptr<RecordFile>> open(const std::string& path) {
    std::FILE* const file = path.empty() ? nullptr : std::fopen(path.c_str(), "we");
    if (!path.empty() && file == nullptr) {
      return Error{Errc::kIo, "--save: cannot write " + path};
    }
    if (file != nullptr) {
      std::setvbuf(file, nullptr, _IOLBF, BUFSIZ);  // for whoever follows it
    }
    return std::unique_ptr<RecordFile>(new RecordFile(path, file));  // NOLINT: private
  }
  ~RecordFile() {
    if (file_ != nullptr) {
      std::fclose(file_);
    }
  }
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  Status write(const loadgen::RequestRecord& record) {
    const bool written =
        file_ == nullptr || std::fputs((record_json(record) + "\n").c_str(), file_) >= 0;
    return written ? ok() : failed();
  }
  Status flush() { return file_ == nullptr || std::fflush(file_) == 0 ? ok() : failed(); }

 private:
  RecordFile(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  [[nodiscard]] Status failed() const { return Error{Errc::kIo, "--save: cannot write " + path_}; }

  const std::string path_;
  std::FILE* const file_;
};

Result<loadgen::Report> measure(const BenchServeOptions& options, Prepared prepared,
                                Interrupts& interrupts) {
  std::unique_ptr<ChildServer> server;
  loadgen::ReplayOptions& replay = prepared.replay;
  std::string base = options.endpoint.url;
  if (base.empty()) {
    DAYBREAK_TRY(server, start_server(options.endpoint, prepared.model, kServedName));
    base = server->url();
  }
  replay.target.model =
      options.endpoint.starts_server() ? kServedName : options.endpoint.model_name;
  replay.target.ignore_eos = options.endpoint.starts_server() || options.ignore_eos;
  DAYBREAK_TRY(replay.target.url, loadgen::route_url(base, replay.target.protocol));
  bool stopped = false;
  replay.interrupted = [&] { return stopped = stopped || interrupts.take(); };
  const loadgen::PromptWriter writer(std::move(prepared.words), options.seed, prepared.scale);
  DAYBREAK_TRY(replay.ratio, loadgen::learn_ratio(replay.target, writer, replay.interrupted));
  DAYBREAK_TRY(const auto source, open_source(options));
  DAYBREAK_TRY(const auto records, RecordFile::open(options.save));
  replay.on_record = [&records](const auto& record) { return records->write(record); };
  Progress progress("requests");
  replay.on_progress = [&](std::size_t ended) { progress.show(ended, prepared.size.requests); };
  DAYBREAK_TRY(loadgen::Tally tally, loadgen::replay(*source, writer, replay));
  DAYBREAK_CHECK_OK(records->flush());
  return loadgen::Report{
      .workload = workload_name(options),
      .endpoint = options.endpoint.starts_server() ? prepared.model.string() : options.endpoint.url,
      .requests = prepared.size.requests,
      .ratio = replay.ratio,
      .tally = std::move(tally)};
}

Status run(const BenchServeOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);
  DAYBREAK_TRY(Prepared prepared, prepare(options));
  constexpr std::size_t kSpareDescriptors = 64;
  Log log({.level = LogLevel::kWarning});
  raise_descriptor_limit(options.max_concurrency + kSpareDescriptors, log);
  DAYBREAK_TRY(Interrupts interrupts, Interrupts::install());
  DAYBREAK_TRY(const loadgen::Report report, measure(options, std::move(prepared), interrupts));
  if (options.json) {
    fmt::print("{}\n", loadgen::report_json(report));
  } else {
    fmt::print("{}", without_controls(loadgen::report_text(report)));
  }
  std::fflush(stdout);
  if (report.tally.completed() > 0 || report.tally.failed() == 0) {
    return ok();
  }
  return Error{Errc::kUnavailable,
               "no request was answered: " + report.tally.errors().begin()->second.first};
}

}  // namespace

void register_bench_serve(Command bench) {
  const auto options = std::make_shared<BenchServeOptions>();
  const Command sub = bench.add_subcommand(
      "serve", "replay a trace against a model or a server: latencies, throughput, goodput");
  add_bench_serve_options(sub, *options);
  sub.runs([options] { return run(*options); });
}

}  // namespace daybreak::cli
