// SPDX-License-Identifier: Apache-2.0
#include "cli/otlp_options.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "testing/temporary_directory.h"

namespace daybreak::cli {
namespace {

using Environment = std::map<std::string, std::string>;

Result<std::optional<api::TelemetryOptions>> options(const Environment& environment,
                                                     const ServerConfig& config = {}) {
  return otlp_options(config, "1.2.3", [&](const std::string& name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

std::string resource(const api::TelemetryOptions& options, const std::string& key) {
  for (const auto& one : options.exporter.source.resource) {
    if (one.key == key) {
      return std::get<std::string>(one.value);
    }
  }
  return "";
}

TEST(OtlpOptions, NothingIsExportedWithoutAnEndpoint) {
  EXPECT_FALSE(options({})->has_value());
  EXPECT_FALSE(options({{"OTEL_EXPORTER_OTLP_ENDPOINT", ""}})->has_value());
  EXPECT_FALSE(options({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"}, {"OTEL_SDK_DISABLED", "true"}})
                   ->has_value());
  EXPECT_FALSE(options({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"},
                        {"OTEL_TRACES_EXPORTER", "none"},
                        {"OTEL_METRICS_EXPORTER", "none"}})
                   ->has_value());
  // What is wrong does not matter to who exports nothing.
  EXPECT_TRUE(options({{"OTEL_TRACES_SAMPLER", "zzz"}}));
}

TEST(OtlpOptions, PathsOfTheSignalsAreAddedToTheEndpoint) {
  const auto both = **options({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/"}});
  EXPECT_EQ(both.exporter.traces_url, "http://c:4318/v1/traces");
  EXPECT_EQ(both.exporter.metrics_url, "http://c:4318/v1/metrics");
  ServerConfig config;
  config.otlp_endpoint = "https://mine/base";
  const auto ours = **options({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"},
                               {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/as/it/is"},
                               {"OTEL_METRICS_EXPORTER", "none"}},
                              config);
  EXPECT_EQ(ours.exporter.traces_url, "http://t/as/it/is");
  EXPECT_EQ(ours.exporter.metrics_url, "");
}

TEST(OtlpOptions, ReadsTheStandardVariables) {
  const auto read = **options({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"},
                               {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"},
                               {"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b%2Cc, x = y ,"},
                               {"OTEL_EXPORTER_OTLP_TIMEOUT", "1500"},
                               {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"},
                               {"OTEL_BSP_SCHEDULE_DELAY", "7"},
                               {"OTEL_METRIC_EXPORT_INTERVAL", "8"},
                               {"OTEL_SERVICE_NAME", "k3"},
                               {"OTEL_RESOURCE_ATTRIBUTES", "service.name=other,region=us%2deast"},
                               {"OTEL_TRACES_SAMPLER", "parentbased_traceidratio"},
                               {"OTEL_TRACES_SAMPLER_ARG", "0.25"}});
  ASSERT_EQ(read.exporter.headers.size(), 2U);
  EXPECT_EQ(read.exporter.headers[0].name, "api-key");
  EXPECT_EQ(read.exporter.headers[0].value, "a b,c");
  EXPECT_EQ(read.exporter.headers[1].value, "y");
  EXPECT_EQ(read.exporter.timeout.count(), 1500);
  EXPECT_EQ(read.exporter.schedule_delay.count(), 7);
  EXPECT_EQ(read.exporter.metric_interval.count(), 8);
  EXPECT_EQ(read.exporter.ca_file, "/ca.pem");
  EXPECT_EQ(read.sampler.ratio, 0.25);
  EXPECT_EQ(resource(read, "service.name"), "k3");
  EXPECT_EQ(resource(read, "region"), "us-east");
  EXPECT_EQ(resource(read, "service.version"), "1.2.3");
  EXPECT_EQ(resource(read, "service.instance.id").size(), 32U);
}

TEST(OtlpOptions, TheServiceHasANameAnyhow) {
  EXPECT_EQ(resource(**options({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"}}), "service.name"),
            "daybreak");
  EXPECT_EQ(resource(**options({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"},
                                {"OTEL_RESOURCE_ATTRIBUTES", "service.name=other"}}),
                     "service.name"),
            "other");
}

TEST(OtlpOptions, WhatIsWrongIsNamedAndSecretsAreNotShown) {
  for (const auto& [name, value] :
       Environment{{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
                   {"OTEL_EXPORTER_OTLP_HEADERS", "SECRET"},
                   {"OTEL_EXPORTER_OTLP_TIMEOUT", "0"},
                   {"OTEL_BSP_SCHEDULE_DELAY", "5s"},
                   {"OTEL_RESOURCE_ATTRIBUTES", "a=%zSECRET"},
                   {"OTEL_TRACES_EXPORTER", "zipkin"},
                   {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://u:SECRET@h/"},
                   {"OTEL_TRACES_SAMPLER", "xray"}}) {
    const auto found = options({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"}, {name, value}});
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code, Errc::kInvalidArgument);
    EXPECT_NE(found.error().message.find(name), std::string::npos) << found.error().message;
    EXPECT_EQ(found.error().message.find("SECRET"), std::string::npos) << found.error().message;
  }
  EXPECT_FALSE(options({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:pw@c"}}));
  EXPECT_FALSE(options({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"},
                        {"OTEL_EXPORTER_OTLP_HEADERS", "a=b%0d%0ac: d"}}));
}

TEST(OtlpOptions, AnEndpointIsAUrlWithAHost) {
  for (const char* bad :
       {"collector", "ftp://c", "http://", "http:///v1", "http://:4318", "http://c:", "http://c:0",
        "http://c:65536", "http://c:4318x", "http://[::1", "//c", "http://c:1:2"}) {
    ServerConfig config;
    config.otlp_endpoint = bad;
    const auto found = options({}, config);
    ASSERT_FALSE(found) << bad;
    EXPECT_EQ(found.error().message,
              std::string("otlp_endpoint: expected http://HOST[:PORT] or https://HOST[:PORT], "
                          "found '") +
                  bad + "'");
    EXPECT_TRUE(options({{"OTEL_EXPORTER_OTLP_ENDPOINT", bad}})
                    .error()
                    .message.starts_with("OTEL_EXPORTER_OTLP_ENDPOINT: expected http"));
  }
  for (const char* good :
       {"http://c", "https://c:65535", "http://[::1]:4318/x", "http://[::1]", "http://c?q"}) {
    EXPECT_TRUE(options({{"OTEL_EXPORTER_OTLP_ENDPOINT", good}})) << good;
  }
}

TEST(OtlpOptions, HeadersFromAFile) {
  const testing::TemporaryDirectory directory;
  const auto with = [&](const std::string& text) {
    const auto path = directory / "headers";
    std::ofstream(path) << text;
    ServerConfig config;
    config.otlp_endpoint = "http://c";
    config.otlp_headers_file = path.string();
    return options({{"OTEL_EXPORTER_OTLP_HEADERS", "x=y"}}, config);
  };
  const auto read = **with("# what the vendor wants\n\nAuthorization: Basic a=:b\r\nx:y\n");
  ASSERT_EQ(read.exporter.headers.size(), 2U);
  EXPECT_EQ(read.exporter.headers[0].value, "Basic a=:b");
  EXPECT_EQ(read.exporter.headers[1].name, "x");
  EXPECT_FALSE(with("SECRET\n"));
  EXPECT_FALSE(with("a b: c\n"));
  std::string many;
  for (std::size_t i = 0; i < kMaxOtlpHeaders; ++i) {
    many += "a: b\n";
  }
  EXPECT_TRUE(with(many));
  EXPECT_FALSE(with(many + "a: b\n"));
  EXPECT_TRUE(with("#" + std::string(kMaxOtlpHeadersBytes - 1, 'x')));
  EXPECT_FALSE(with("#" + std::string(kMaxOtlpHeadersBytes, 'x')));
  ServerConfig missing;
  missing.otlp_endpoint = "http://c";
  missing.otlp_headers_file = (directory / "none").string();
  EXPECT_EQ(options({}, missing).error().code, Errc::kIo);
}

}  // namespace
}  // namespace daybreak::cli
