// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/inspect_report.h"
#include "cli/inspect_table.h"
#include "model/safetensors_builder.h"
#include "testing/paths.h"

namespace daybreak::cli {
namespace {

using Json = nlohmann::json;
using model::SafetensorsBuilder;
using model::TemporaryDirectory;

std::filesystem::path fixture(const std::string& name) {
  return daybreak::testing::source_path("testdata/model/" + name + ".config.json");
}

// Writes the tiny model's config and the tensors it asks for.
void write_tiny(const TemporaryDirectory& dir, const std::string& leave_out = "") {
  std::filesystem::copy_file(fixture("tiny"), dir.path() / "config.json");
  const auto config = model::load_config(dir.path());
  ASSERT_TRUE(config) << config.error().message;
  SafetensorsBuilder builder;
  model::for_each_tensor(*config, model::TensorNaming(*config, nullptr),
                         [&](const model::TensorSpec& spec) {
                           if (leave_out.empty() || !spec.name.ends_with(leave_out)) {
                             builder.add(spec.name, spec.dtype, spec.shape);
                           }
                         });
  dir.write("model.safetensors", builder.bytes());
}

TEST(Inspect, ABareConfigGivesThePublishedFiguresAsJson) {
  const auto report = inspect(fixture("k3"), {}, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->status());
  const Json json = Json::parse(inspect_json(*report));
  EXPECT_EQ(json["parameters"], 2'779'931'837'184u);
  EXPECT_EQ(json["active_parameters"], 104'189'614'848u);
  EXPECT_EQ(json["bytes"], 1'560'860'324'864u);
  EXPECT_EQ(json["tensors"], 497'220u);
  EXPECT_EQ(json["layers"]["pattern"], "KKKM x23 + M");
  EXPECT_EQ(json["layers"]["each"].size(), 93u);
  EXPECT_EQ(json["layers"]["each"][0]["kind"], "KDA + dense");
  EXPECT_EQ(json["layers"]["each"][3]["tensors"], 5398u);
  EXPECT_EQ(json["memory"]["cache_per_token"], 55'296u);
  EXPECT_EQ(json["memory"]["cache_format"], "f32");
  EXPECT_TRUE(json["checkpoint"].is_null());
}

TEST(Inspect, TextShowsTheSameFiguresGrouped) {
  const auto report = inspect(fixture("k3"), {.context = 1048576, .bf16_cache = true}, {});
  ASSERT_TRUE(report) << report.error().message;
  const std::string text = inspect_text(*report, true, false);
  for (const char* expected :
       {"2.7799 T, 104.19 B active", "2,779,931,837,184", "1,560,860,324,864", "497,220",
        "104,189,614,848", "27,648 per token, bf16", "434,110,464 KDA + 15,261,696 convolution",
        "1 sequence of 1,048,576 positions", "KKKM x23 + M", "no weights here"}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\n" << text;
  }
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(inspect_text(*report, false, true).find("\x1b[1m"), std::string::npos);
}

TEST(Inspect, StateCheckpointsAreALineOfTheirOwn) {
  const auto report = inspect(fixture("k3"), {}, {});
  ASSERT_TRUE(report);
  const Json memory = Json::parse(inspect_json(*report))["memory"];
  EXPECT_EQ(memory["state_checkpoints"], 16);
  EXPECT_EQ(memory["checkpoints"], std::uint64_t{16} * (434'110'464 + 30'523'392));
  const std::string text = inspect_text(*report, false, false);
  EXPECT_NE(text.find("16 of 464,633,856, at most"), std::string::npos) << text;
  const auto none = inspect(fixture("k3"), {.state_checkpoints = 0}, {});
  EXPECT_EQ(none->plan.total, report->plan.total - report->plan.checkpoints);
}

TEST(Inspect, TheMachineIsCompared) {
  auto report = inspect(fixture("k3"), {}, {});
  ASSERT_TRUE(report);
  report->memory_total = report->plan.total;
  EXPECT_NE(inspect_text(*report, false, false).find("  fits into"), std::string::npos);
  report->memory_total = report->plan.total - 7;
  EXPECT_NE(inspect_text(*report, false, false).find("does not fit: 7 B (7 bytes) more than"),
            std::string::npos);
  EXPECT_EQ(Json::parse(inspect_json(*report))["memory"]["short_by"], 7);
  report->memory_total = 1000;
  EXPECT_NE(inspect_text(*report, false, false).find("cache and state alone are too large"),
            std::string::npos);
}

TEST(Inspect, AWholeCheckpointIsCompleteAndVerified) {
  const TemporaryDirectory dir;
  write_tiny(dir);
  std::uint64_t read = 0;
  const auto report = inspect(dir.path(), {.verify = true}, [&](const model::ReadProgress& p) {
    read = p.done_bytes;
    return true;
  });
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->status());
  ASSERT_TRUE(report->checkpoint);
  EXPECT_EQ(read, report->checkpoint->file_bytes);
  EXPECT_EQ(report->size.total.bytes, report->checkpoint->data_bytes);
  const std::string text = inspect_text(*report, false, false);
  EXPECT_NE(text.find("complete: all"), std::string::npos);
  EXPECT_NE(text.find("verified: every byte read"), std::string::npos);
}

TEST(Inspect, AMissingTensorIsReportedAndFailsTheCommand) {
  const TemporaryDirectory dir;
  write_tiny(dir, "layers.2.self_attn.o_proj.weight");
  const auto report = inspect(dir.path(), {}, {});
  ASSERT_TRUE(report) << report.error().message;
  const auto status = report->status();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("layers.2.self_attn.o_proj.weight' is missing"),
            std::string::npos);
  EXPECT_NE(inspect_text(*report, false, false).find("1 problem, the first of them:"),
            std::string::npos);
}

TEST(Inspect, VerifyWithoutWeightsIsWrongUsage) {
  const auto report = inspect(fixture("k3"), {.verify = true}, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Errc::kInvalidArgument);
}

TEST(Inspect, AContextBeyondTheModelIsRefused) {
  EXPECT_TRUE(inspect(fixture("tiny"), {.context = 4096}, {}));
  const auto report = inspect(fixture("tiny"), {.context = 4097}, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "context: expected an integer in [1, 4096], found 4097");
}

TEST(LayerPattern, FindsTheRepeatingPart) {
  const auto pattern = [](const std::string& letters) {
    model::ModelConfig config;
    config.layers = letters.size();
    for (const char c : letters) {
      config.kda_layers.push_back(c == 'K' ? 1 : 0);
    }
    return layer_pattern(config);
  };
  EXPECT_EQ(pattern("KKKMKKKMM"), "KKKM x2 + M");
  EXPECT_EQ(pattern("KKKK"), "K x4");
  EXPECT_EQ(pattern("M"), "M");
  EXPECT_EQ(pattern("KMKM"), "KM x2");
  EXPECT_EQ(pattern("KM"), "KM");
}

TEST(InspectTable, AlignsColumnsWithoutTrailingSpaces) {
  Table table({Table::Align::kLeft, Table::Align::kRight, Table::Align::kLeft});
  table.row({"a", "1", "x"});
  table.row({"long", "22", ""});
  EXPECT_EQ(table.text(), "  a      1  x\n  long  22\n");
}

}  // namespace
}  // namespace daybreak::cli
