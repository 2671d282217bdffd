// SPDX-License-Identifier: Apache-2.0
// `daybreak bench serve` as a user runs it: on the bundled model, on the scripted server, and
// interrupted. What the prompts hold is told by the server's own counts.

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/serve_child.h"
#include "testing/paths.h"
#include "testing/temporary_directory.h"

namespace daybreak::cli {
namespace {

using nlohmann::json;

const std::string kNano = testing::source_path("models/nano").string();

struct Exit {
  int code = 0;
  std::string output;
  std::string errors;
};

Exit ended(Child& child) {
  Exit out;
  for (std::string line; !(line = child.read_line()).empty();) {
    out.output += line + "\n";
  }
  out.errors = child.read_errors();
  out.code = child.wait();
  return out;
}

std::vector<std::string> bench(std::vector<std::string> more) {
  std::vector<std::string> arguments = {binary(), "bench", "serve"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Exit replayed(std::vector<std::string> more) {
  Child child(bench(std::move(more)));
  return ended(child);
}

TEST(BenchServeClient, PromptsHaveTheTracesLengthsAndShareItsBlocks) {
  const testing::TemporaryDirectory directory;
  const std::string trace = directory.path() / "t.jsonl";
  const std::string saved = directory.path() / "requests.jsonl";
  // The second prompt begins with the 1,024 tokens of the first, the third with the first 512.
  std::ofstream(trace) << R"({"timestamp":0,"input_length":1024,"output_length":3,"hash_ids":[1,2]}
{"timestamp":1,"input_length":1400,"output_length":20,"hash_ids":[1,2,3]}
{"timestamp":2,"input_length":600,"output_length":1,"hash_ids":[1,9]}
)";
  const Exit exit = replayed({kNano, "--threads", "1", "--trace", trace, "--endpoint",
                              "completions", "--max-concurrency", "1", "--json", "--save", saved,
                              "--goodput", "e2el:1000000", "ttft:0"});
  ASSERT_EQ(exit.code, 0) << exit.errors;
  const json report = json::parse(exit.output);
  EXPECT_EQ(report["requests"]["completed"], 3);
  EXPECT_EQ(report["requests"]["failed"], 0);
  EXPECT_EQ(report["tokens"]["input"], 1024 + 1400 + 600);  // to the token
  EXPECT_EQ(report["tokens"]["output"], 24);
  EXPECT_EQ(report["tokens"]["per_word"], 1);
  EXPECT_EQ(report["goodput"]["requests"], 0);
  EXPECT_EQ(report["ttft_ms"]["count"], 3);
  EXPECT_EQ(report["tpot_ms"]["count"], 2);
  EXPECT_EQ(report["cache"]["requests"], 3);

  std::ifstream lines(saved);
  std::vector<json> records;
  for (std::string line; std::getline(lines, line);) {
    records.push_back(json::parse(line));
  }
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[1]["input_tokens"], 1400);
  // All of the first prompt: its answer went on from there.
  EXPECT_EQ(records[1]["cached_tokens"], 1024);
  EXPECT_LE(records[2]["cached_tokens"], 512);
}

TEST(BenchServeClient, AgentsTurnsReuseWhatCameBefore) {
  const testing::TemporaryDirectory directory;
  std::ofstream(directory.path() / "a.json") << R"({"block_size":64,"requests":[
    {"t":0,"in":650,"out":4,"hash_ids":[1,2,3,4,5,6,7,8,9,10]},
    {"t":9,"in":830,"out":4,"hash_ids":[1,2,3,4,5,6,7,8,9,10,11,12],"think_time":0.01}]})";
  const Exit exit = replayed({kNano, "--threads", "1", "--trace", directory.path(), "--endpoint",
                              "completions", "--speed", "1000", "--json"});
  ASSERT_EQ(exit.code, 0) << exit.errors;
  const json report = json::parse(exit.output);
  EXPECT_EQ(report["requests"]["completed"], 2);
  EXPECT_EQ(report["tokens"]["input"], 1480);
  EXPECT_EQ(report["cache"]["cached_tokens"], 640);  // all whole blocks of the first prompt
}

TEST(BenchServeClient, AsksAnyServerOverBothProtocols) {
  Child server({binary(), "bench", "server", kNano, "--port", "0"});
  const std::string line = server.read_line();
  const std::string url = "http://127.0.0.1:" + std::to_string(port_of(line));
  for (const char* const endpoint : {"chat", "completions"}) {
    const Exit exit =
        replayed({kNano,    "--url",         url,      "--model",        "scripted", "--synthetic",
                  "random", "--limit",       "40",     "--input-len",    "200",      "--output-len",
                  "9",      "--range-ratio", "0.5",    "--request-rate", "2000",     "--burstiness",
                  "0.5",    "--endpoint",    endpoint, "--json",         "--seed",   "5"});
    ASSERT_EQ(exit.code, 0) << exit.errors;
    const json report = json::parse(exit.output);
    EXPECT_EQ(report["requests"]["completed"], 40);
    EXPECT_EQ(report["tokens"]["input"], report["tokens"]["asked_input"]);
    EXPECT_EQ(report["tokens"]["output"], report["tokens"]["asked_output"]);
    EXPECT_EQ(report["tokens"]["around_a_prompt"].get<double>() > 0,
              std::string(endpoint) == "chat");
  }
}

TEST(BenchServeClient, AnInterruptGivesTheReportSoFar) {
  const testing::TemporaryDirectory directory;
  const std::string trace = directory.path() / "t.jsonl";
  const std::string saved = directory.path() / "requests.jsonl";
  std::ofstream(trace) << R"({"timestamp":0,"input_length":300,"output_length":1}
{"timestamp":1000000000,"input_length":10,"output_length":1}
)";
  Child child(bench({kNano, "--threads", "1", "--trace", trace, "--json", "--save", saved}));
  constexpr int kLooks = 60'000;  // a millisecond apart: bounds hanging only
  for (int i = 0; i < kLooks && !std::filesystem::exists(saved); ++i) {
    ::usleep(1'000);
  }
  child.signal(SIGINT);
  const Exit exit = ended(child);
  EXPECT_EQ(exit.code, 0) << exit.errors;
  const json report = json::parse(exit.output);
  EXPECT_GE(report["requests"]["unsent"], 1);
  EXPECT_EQ(report["requests"]["failed"], 0);
}

TEST(BenchServeClient, MistakesAreToldBeforeAnythingIsAsked) {
  const auto refused = [](std::vector<std::string> more, const std::string& message) {
    const Exit exit = replayed(std::move(more));
    EXPECT_EQ(exit.code, 2) << message;
    EXPECT_NE(exit.errors.find(message), std::string::npos) << exit.errors;
  };
  refused({}, "--trace");
  refused({"--synthetic", "poem"},
          "--synthetic: expected random, shared-prefix or sonnet, found 'poem'");
  refused({"--synthetic", "random", "--speed", "0"}, "--speed: expected a number above 0");
  refused({"--synthetic", "random", "--request-rate", "x"},
          "--request-rate: expected a number above 0 or inf, found 'x'");
  refused({"--synthetic", "random", "--goodput", "itl:5"}, "--goodput: expected ttft:MS");
  refused({"--synthetic", "random", "--range-ratio", "1"},
          "--range-ratio: expected a number below");
  refused({"--synthetic", "random", "--url", "http://h"}, "--url URL and --model NAME together");
  refused({"--synthetic", "random", "--endpoint", "x"}, "--endpoint: expected chat or completions");
  refused({"--trace", "nowhere.jsonl"}, "found none at nowhere.jsonl");
  refused({"--trace", "x", "--trace-format", "y"}, "--trace-format: expected auto");
}

TEST(BenchServeClient, AServerThatIsNotThereIsSaid) {
  const Exit exit =
      replayed({"--url", "http://127.0.0.1:1", "--model", "m", "--synthetic", "random"});
  EXPECT_EQ(exit.code, 1);
  EXPECT_NE(exit.errors.find("the request before the run failed"), std::string::npos)
      << exit.errors;
}

}  // namespace
}  // namespace daybreak::cli
