// SPDX-License-Identifier: Apache-2.0
#include "loadgen/trace.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "loadgen/agent_trace.h"
#include "loadgen/azure_trace.h"
#include "loadgen/mooncake_trace.h"
#include "testing/temporary_directory.h"

namespace daybreak::loadgen {
namespace {

using testing::TemporaryDirectory;

void write(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<Conversation> read_all(TraceSource& source) {
  std::vector<Conversation> out;
  for (;;) {
    auto next = source.next();
    EXPECT_TRUE(next);
    if (!next || !*next) {
      return out;
    }
    out.push_back(**std::move(next));
  }
}

TEST(MooncakeTrace, IsAConversationALine) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "t.jsonl";
  write(path, R"({"timestamp": 1500, "input_length": 700, "output_length": 5, "hash_ids": [4, 9]})"
              "\r\n\n"
              R"({"timestamp": 27482.5, "input_length": 1, "output_length": 0, "hash_ids": []})");
  const auto source = open_trace(path, TraceFormat::kMooncake);
  ASSERT_TRUE(source);
  const auto all = read_all(**source);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "1");
  EXPECT_EQ(all[0].block_tokens, 512U);
  ASSERT_EQ(all[0].turns.size(), 1U);
  EXPECT_EQ(all[0].turns[0].at_seconds, 1.5);
  EXPECT_EQ(all[0].turns[0].input_tokens, 700U);
  EXPECT_EQ(all[0].turns[0].output_tokens, 5U);
  EXPECT_EQ(all[0].turns[0].blocks, (std::vector<std::uint64_t>{4, 9}));
  EXPECT_EQ(all[1].name, "3");  // the line of the file
  EXPECT_EQ(all[1].turns[0].at_seconds, 27.4825);
}

TEST(AzureTrace, CountsSecondsFromItsFirstLine) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "t.csv";
  write(path,
        "\xEF\xBB\xBFTIMESTAMP,ContextTokens,GeneratedTokens\r\n"
        "2023-11-16 23:59:59.5,4808,10\r\n"
        "2023-11-17 00:00:01.2500000,3180,8\r\n");
  const auto source = open_trace(path, TraceFormat::kAzure);
  ASSERT_TRUE(source);
  const auto all = read_all(**source);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].turns[0].at_seconds, 0);
  EXPECT_EQ(all[0].turns[0].input_tokens, 4808U);
  EXPECT_EQ(all[0].turns[0].output_tokens, 10U);
  EXPECT_TRUE(all[0].turns[0].blocks.empty());
  EXPECT_EQ(all[1].turns[0].at_seconds, 1.75);
}

TEST(AzureTrace, ReadsTheDateAsACalendarDoes) {
  EXPECT_EQ(parse_azure_line("1970-01-02 01:02:03,1,0", "f")->at_seconds, 86'400 + 3'723);
  EXPECT_EQ(parse_azure_line("2024-03-01 00:00:00+00:00,1,0", "f")->at_seconds -
                parse_azure_line("2024-02-28 00:00:00Z,1,0", "f")->at_seconds,
            2 * 86'400);
}

constexpr std::string_view kAgent = R"({"id": "x", "block_size": 64, "hash_id_scope": "local",
  "requests": [{"t": 0.0, "in": 130, "out": 7, "hash_ids": [1, 2]},
               {"t": 9.5, "in": 200, "out": 8, "hash_ids": [1, 2, 3], "think_time": 2.5},
               {"t": 20, "in": 128, "out": 9, "hash_ids": [1, 4], "think_time": null}]})";

TEST(AgentTrace, KeepsOfATurnWhatTheOneBeforeHadNot) {
  const auto trace = parse_agent_trace(kAgent, "f");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->block_tokens, 64U);
  ASSERT_EQ(trace->turns.size(), 3U);
  EXPECT_EQ(trace->turns[0].kept_blocks, 0U);
  EXPECT_EQ(trace->turns[0].blocks, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(trace->turns[1].kept_blocks, 2U);
  EXPECT_EQ(trace->turns[1].blocks, (std::vector<std::uint64_t>{3}));
  EXPECT_EQ(trace->turns[1].think_seconds, 2.5);
  EXPECT_EQ(trace->turns[2].kept_blocks, 1U);
  EXPECT_EQ(trace->turns[2].blocks, (std::vector<std::uint64_t>{4}));
  EXPECT_EQ(trace->turns[2].output_tokens, 9U);
  EXPECT_EQ(trace->turns[2].think_seconds, 0);
}

TEST(AgentTrace, ScopesAreOfTheFileOrOfAll) {
  EXPECT_EQ(parse_agent_trace(kAgent, "f")->scope, parse_agent_trace(kAgent, "f")->scope);
  EXPECT_NE(parse_agent_trace(kAgent, "f")->scope, parse_agent_trace(kAgent, "g")->scope);
  std::string global(kAgent);
  global.replace(global.find("local"), 5, "global");
  EXPECT_EQ(parse_agent_trace(global, "f")->scope, parse_agent_trace(global, "g")->scope);
}

TEST(AgentTrace, ADirectoryIsReadInTheOrderOfItsNames) {
  const TemporaryDirectory directory;
  write(directory.path() / "b.json", kAgent);
  write(directory.path() / "a.json", kAgent);
  write(directory.path() / "notes.txt", "no trace");
  const auto source = open_trace(directory.path(), TraceFormat::kAgent);
  ASSERT_TRUE(source);
  const auto all = read_all(**source);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[1].name, "b");
  EXPECT_NE(all[0].scope, all[1].scope);
}

TEST(Trace, IsCutAfterANumberOfRequests) {
  const TemporaryDirectory directory;
  write(directory.path() / "a.json", kAgent);
  write(directory.path() / "b.json", kAgent);
  const auto size = [&](std::size_t requests) {
    auto source = open_trace(directory.path(), TraceFormat::kAgent);
    return measure(*limited(*std::move(source), requests));
  };
  EXPECT_EQ(size(4)->conversations, 2U);
  EXPECT_EQ(size(4)->requests, 4U);
  EXPECT_EQ(size(3)->conversations, 1U);
  EXPECT_EQ(size(2)->seconds, 9.5);
  EXPECT_EQ(size(100)->requests, 6U);
}

TEST(Trace, FormatsAreToldByTheName) {
  const TemporaryDirectory directory;
  for (const char* const name : {"a.json", "a.jsonl", "a.csv", "a.txt"}) {
    write(directory.path() / name, "");
  }
  EXPECT_EQ(*format_of(directory.path()), TraceFormat::kAgent);
  EXPECT_EQ(*format_of(directory.path() / "a.json"), TraceFormat::kAgent);
  EXPECT_EQ(*format_of(directory.path() / "a.jsonl"), TraceFormat::kMooncake);
  EXPECT_EQ(*format_of(directory.path() / "a.csv"), TraceFormat::kAzure);
  EXPECT_EQ(format_of(directory.path() / "a.txt").error().code, Errc::kInvalidArgument);
  EXPECT_EQ(format_of(directory.path() / "none").error().code, Errc::kNotFound);
}

}  // namespace
}  // namespace daybreak::loadgen
