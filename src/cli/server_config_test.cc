// SPDX-License-Identifier: Apache-2.0
#include "cli/server_config.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/server_config_sources.h"
#include "testing/paths.h"

namespace daybreak::cli {
namespace {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(::testing::TempDir() + "daybreak_config_" + std::to_string(::getpid()) + ".yaml") {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string fault_of(const std::string& yaml) {
  const auto parsed = parse_config_text(yaml, "f");
  return parsed ? "" : parsed.error().message;
}

TEST(ServerConfig, FlagBeatsEnvironmentBeatsFileBeatsDefault) {
  const TemporaryFile file("port: 1\nmax_queue: 1\nhost: a\n");
  ConfigSources sources;
  sources.file = file.path();
  sources.environment = [](const std::string& name) -> const char* {
    return name == "DAYBREAK_PORT" || name == "DAYBREAK_MAX_QUEUE" ? "2" : nullptr;
  };
  sources.flags["port"] = "3";
  const auto config = effective_config(sources);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->values.port, 3U);
  EXPECT_EQ(config->values.max_queue, 2U);
  EXPECT_EQ(config->values.host, "a");
  EXPECT_EQ(config->values.workers, ServerConfig{}.workers);
  EXPECT_EQ(config->origins.at("port"), "--port");
  EXPECT_EQ(config->origins.at("max_queue"), "DAYBREAK_MAX_QUEUE");
  EXPECT_EQ(config->origins.at("host"), file.path() + ":3");
  EXPECT_EQ(config->origins.at("workers"), "default");
}

TEST(ServerConfig, FaultsInAFileNameLineAndKey) {
  EXPECT_EQ(fault_of("port: 1\nmax_conections: 2\n"),
            "f:2: unknown key 'max_conections', did you mean 'max_connections'?");
  EXPECT_EQ(fault_of("port: 1\n\nport: 2\n"), "f:3: key 'port' is given twice");
  EXPECT_EQ(fault_of("port: [1, 2]\n"), "f:1: port: expected one value");
  EXPECT_EQ(fault_of("- port\n"), "f:1: expected a mapping of keys to values");
  EXPECT_TRUE(fault_of("a: [\n").starts_with("f:2: not valid YAML: ")) << fault_of("a: [\n");
  EXPECT_EQ(fault_of("? [a]\n: b\n"), "f:1: unknown key '?'; 'daybreak config' lists them all");
  EXPECT_EQ(fault_of("bogus: 1\n"), "f:1: unknown key 'bogus'; 'daybreak config' lists them all");
  EXPECT_NE(fault_of(std::string(100'000, '[')), "");
  EXPECT_EQ(fault_of(""), "");
  EXPECT_EQ(fault_of("# nothing\n"), "");
}

TEST(ServerConfig, ListsAreSequencesOrCommas) {
  for (const char* yaml : {"served_model_name: [a, b/c]\n", "served_model_name: a,b/c\n"}) {
    const TemporaryFile file(yaml);
    ConfigSources sources;
    sources.file = file.path();
    const auto config = effective_config(sources);
    ASSERT_TRUE(config);
    EXPECT_EQ(config->values.served_model_name, (std::vector<std::string>{"a", "b/c"}));
  }
  EXPECT_EQ(fault_of("served_model_name: ['a,b']\n"),
            "f:1: served_model_name: expected plain names");
}

TEST(ServerConfig, RangesHoldAtTheirEndsAndOnePast) {
  for (const ServerKey& key : server_keys()) {
    const auto* field = std::get_if<CountField>(&key.field);
    if (field == nullptr) {
      continue;
    }
    SCOPED_TRACE(key.name);
    ServerConfig config;
    EXPECT_TRUE(key.set(config, std::to_string(field->min)));
    EXPECT_TRUE(key.set(config, std::to_string(field->max)));
    EXPECT_EQ(config.*field->member, field->max);
    for (const std::string& bad :
         {std::to_string(field->max + 1), std::string("-1"), std::string(""), std::string("1x"),
          std::string("1.5"), std::string("99999999999999999999999")}) {
      EXPECT_FALSE(key.set(config, bad)) << bad;
    }
    if (field->min > 0) {
      EXPECT_FALSE(key.set(config, std::to_string(field->min - 1)));
    }
  }
}

TEST(ServerConfig, FaultsOfFlagsAndEnvironmentNameThem) {
  ConfigSources sources;
  // What container platforms set for a service that is called "daybreak".
  sources.environment = [](const std::string& name) -> const char* {
    return name == "DAYBREAK_PORT" ? "tcp://10.0.0.1:80" : nullptr;
  };
  EXPECT_EQ(effective_config(sources).error().message,
            "DAYBREAK_PORT: expected a whole number from 0 to 65535, found 'tcp://10.0.0.1:80'");
  sources.environment = nullptr;
  sources.flags["log_level"] = "loud";
  EXPECT_EQ(effective_config(sources).error().message,
            "--log-level: expected debug or info or warning or error or off, found 'loud'");
  sources.flags.clear();
  sources.file = "/no/such.yaml";
  EXPECT_EQ(effective_config(sources).error().code, Errc::kNotFound);
  const TemporaryFile file("port: x\n");
  sources.file = file.path();
  EXPECT_EQ(effective_config(sources).error().message,
            file.path() + ":1: port: expected a whole number from 0 to 65535, found 'x'");
}

TEST(ServerConfig, FileSizeIsBounded) {
  for (const std::size_t size : {kMaxConfigFileBytes, kMaxConfigFileBytes + 1}) {
    const TemporaryFile file("#" + std::string(size - 1, 'x'));
    ConfigSources sources;
    sources.file = file.path();
    const auto config = effective_config(sources);
    EXPECT_EQ(config.has_value(), size == kMaxConfigFileBytes);
    if (!config) {
      EXPECT_EQ(config.error().code, Errc::kTooLarge);
    }
  }
}

TEST(ServerConfig, PrintedConfigurationReadsBackTheSame) {
  ConfigSources sources;
  sources.flags = {{"port", "81"},
                   {"served_model_name", "a,b"},
                   {"cors_origin", "*"},
                   {"model", "/a dir/with \"quotes\": # and more"}};
  const auto config = effective_config(sources);
  ASSERT_TRUE(config);
  const TemporaryFile file(to_yaml(*config));
  ConfigSources again;
  again.file = file.path();
  const auto reread = effective_config(again);
  ASSERT_TRUE(reread) << reread.error().message;
  for (const ServerKey& key : server_keys()) {
    EXPECT_EQ(key.value(reread->values), key.value(config->values)) << key.name;
  }
  const auto json = nlohmann::json::parse(to_json(*config));
  EXPECT_EQ(json["port"]["value"], 81);
  EXPECT_EQ(json["port"]["origin"], "--port");
  EXPECT_EQ(json["served_model_name"]["value"], (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(json.size(), server_keys().size());
}

TEST(ServerConfig, DocumentationHoldsTheTableOfKeys) {
  const std::string doc = testing::read_file(testing::source_path("docs/configuration.md"));
  EXPECT_NE(doc.find(server_keys_markdown()), std::string::npos)
      << "docs/configuration.md must contain the output of `daybreak config --markdown`:\n"
      << server_keys_markdown();
}

TEST(ServerConfig, ExampleFileIsValidAndSaysTheDefaults) {
  ConfigSources sources;
  sources.file = testing::source_path("deploy/daybreak.yaml").string();
  const auto config = effective_config(sources);
  ASSERT_TRUE(config) << config.error().message;
  for (const ServerKey& key : server_keys()) {
    EXPECT_EQ(key.value(config->values), key.value(ServerConfig{})) << key.name;
    EXPECT_NE(config->origins.at(std::string(key.name)), "default") << key.name;
  }
}

}  // namespace
}  // namespace daybreak::cli
