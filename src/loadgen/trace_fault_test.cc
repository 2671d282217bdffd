// SPDX-License-Identifier: Apache-2.0
// Traces that are none: each fault is told with file, line and field.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "loadgen/agent_trace.h"
#include "loadgen/azure_trace.h"
#include "loadgen/mooncake_trace.h"
#include "loadgen/trace.h"
#include "testing/temporary_directory.h"

namespace daybreak::loadgen {
namespace {

Error mooncake_error(std::string_view line) {
  const auto parsed = parse_mooncake_line(line, "f: line 3");
  EXPECT_FALSE(parsed) << line;
  return parsed ? Error{Errc::kIo, ""} : parsed.error();
}

TEST(MooncakeFaults, NameLineAndField) {
  EXPECT_EQ(mooncake_error(R"({"input_length":1,"output_length":1})").message,
            "f: line 3: timestamp: expected a value, found none");
  for (const auto& [line, field] :
       {std::pair(R"({"timestamp":-1,"input_length":1,"output_length":1})", "timestamp"),
        std::pair(R"({"timestamp":0,"input_length":0,"output_length":1})", "input_length"),
        std::pair(R"({"timestamp":0,"input_length":16777217,"output_length":1})", "input_length"),
        std::pair(R"({"timestamp":0,"input_length":1,"output_length":1.5})", "output_length"),
        std::pair(R"({"timestamp":0,"input_length":1,"output_length":-1})", "output_length"),
        std::pair(R"({"timestamp":0,"input_length":1,"output_length":1,"hash_ids":[-1]})",
                  "hash_ids"),
        std::pair(R"({"timestamp":0,"input_length":1,"output_length":1,"hash_ids":["a"]})",
                  "hash_ids"),
        std::pair(R"({"timestamp":0,"input_length":1,"output_length":1,"hash_ids":7})",
                  "hash_ids")}) {
    const Error error = mooncake_error(line);
    EXPECT_EQ(error.code, Errc::kInvalidArgument);
    EXPECT_TRUE(error.message.starts_with(std::string("f: line 3: ") + field + ": expected "))
        << error.message;
  }
  EXPECT_TRUE(parse_mooncake_line(
      R"({"timestamp":0,"input_length":16777216,"output_length":16777216})", "f"));
}

TEST(MooncakeFaults, AreFoundInTheMiddleOfAFile) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() / "t.jsonl";
  std::ofstream(path) << R"({"timestamp":0,"input_length":1,"output_length":1})" << "\n{";
  auto source = open_trace(path, TraceFormat::kMooncake);
  ASSERT_TRUE(source);
  ASSERT_TRUE((*source)->next());
  const auto broken = (*source)->next();
  ASSERT_FALSE(broken);
  EXPECT_TRUE(broken.error().message.starts_with(path + ": line 2: ")) << broken.error().message;
}

TEST(AzureFaults, NameTheLine) {
  for (const char* const line :
       {"", "2023-11-16 18:17:03,1", "2023-11-16,1,1", "2023-13-16 18:17:03,1,1",
        "2023-02-29 18:17:03,1,1", "2023-11-16 24:17:03,1,1", "2023-11-16 18:60:03,1,1",
        "2023-11-16 18:17:61,1,1", "2023-11-16 18:17:03.,1,1", "2023-11-16 18:17:03 x,1,1",
        "2023-11-16 18:17:03,0,1", "2023-11-16 18:17:03,1,-1", "2023-11-16 18:17:03,1,1,1",
        "2023-11-16 18:17:03,,1", "2023-11-16 18:17:03,16777217,1", "-023-11-16 18:17:03,1,1",
        "2023-11-16T18:17:03,1,1"}) {
    const auto parsed = parse_azure_line(line, "f: line 9");
    ASSERT_FALSE(parsed) << line;
    EXPECT_EQ(parsed.error().code, Errc::kInvalidArgument);
    EXPECT_EQ(parsed.error().message,
              "f: line 9: expected YYYY-MM-DD HH:MM:SS[.FRACTION],TOKENS,TOKENS, found \"" +
                  std::string(line) + "\"");
  }
}

TEST(AzureFaults, OtherColumnsAreRefused) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() / "t.csv";
  std::ofstream(path) << "TIMESTAMP,Tokens\n";
  auto source = open_trace(path, TraceFormat::kAzure);
  ASSERT_TRUE(source);
  const auto first = (*source)->next();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().message,
            path +
                ": line 1: expected \"TIMESTAMP,ContextTokens,GeneratedTokens\", found "
                "\"TIMESTAMP,Tokens\"");
}

TEST(AgentFaults, NameTheField) {
  for (const auto& [text, field] :
       {std::pair(R"({"requests":[]})", "block_size"),
        std::pair(R"({"block_size":0,"requests":[]})", "block_size"),
        std::pair(R"({"block_size":64})", "requests"),
        std::pair(R"({"block_size":64,"requests":[]})", "requests"),
        std::pair(R"({"block_size":64,"hash_id_scope":"x","requests":[{}]})", "hash_id_scope"),
        std::pair(R"({"block_size":64,"requests":[{"in":1,"out":1}]})", "requests[0].t"),
        std::pair(R"({"block_size":64,"requests":[{"t":0,"in":0,"out":1}]})", "requests[0].in"),
        std::pair(R"({"block_size":64,"requests":[{"t":0,"in":1,"out":1},3]})", "requests[1]"),
        std::pair(R"({"block_size":64,"requests":[{"t":0,"in":1,"out":1,"think_time":-1}]})",
                  "requests[0].think_time")}) {
    const auto parsed = parse_agent_trace(text, "f");
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::kInvalidArgument);
    EXPECT_TRUE(parsed.error().message.starts_with(std::string("f: ") + field))
        << parsed.error().message;
  }
}

TEST(AgentFaults, ADirectoryWithoutTracesIsRefused) {
  const testing::TemporaryDirectory directory;
  const auto opened = open_trace(directory.path(), TraceFormat::kAgent);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::kInvalidArgument);
}

TEST(TraceFaults, AFileThatIsNotThereIsNotFound) {
  for (const TraceFormat format :
       {TraceFormat::kMooncake, TraceFormat::kAzure, TraceFormat::kAgent}) {
    const auto opened = open_trace("/nowhere/at/all", format);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Errc::kNotFound);
  }
}

}  // namespace
}  // namespace daybreak::loadgen
