// SPDX-License-Identifier: Apache-2.0
#include "cli/reload.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http/tls_test_certificate.h"

namespace daybreak::cli {
namespace {

struct World {
  explicit World(const std::string& yaml) {
    sources.file = directory.write("config.yaml", yaml);
    auto read = effective_config(sources);
    EXPECT_TRUE(read);
    reloader = std::make_unique<Reloader>(sources, *read, log, metrics);
    for (const char* name : {"a", "b"}) {
      reloader->on_reload([this, name](const ServerConfig& next) -> Result<Reloader::Commit> {
        if (refuses == name) {
          return Error{Errc::kInvalidArgument, std::string(name) + " refuses"};
        }
        seen = next;
        return Reloader::Commit([this, name] { committed += name; });
      });
    }
  }

  testing::TemporaryDirectory directory;
  ConfigSources sources;
  std::vector<std::string> lines;
  Log log{{.sink = [this](std::string_view line) { lines.emplace_back(line); }}};
  Metrics metrics;
  std::string refuses;
  std::string committed;
  ServerConfig seen;
  std::unique_ptr<Reloader> reloader;
};

TEST(Reload, TakesOverWhatCanChangeAndNamesTheRest) {
  World world("max_connections: 10\nport: 1\n");
  world.directory.write("config.yaml", "max_connections: 20\nport: 2\nlog_level: debug\n");
  world.reloader->reload("SIGHUP");
  EXPECT_EQ(world.committed, "ab");
  EXPECT_EQ(world.seen.max_connections, 20U);
  EXPECT_EQ(world.seen.port, 1U);
  EXPECT_EQ(world.reloader->running().max_connections, 20U);
  EXPECT_EQ(world.reloader->running().port, 1U);
  EXPECT_EQ(world.lines,
            std::vector<std::string>{"reloaded cause=SIGHUP changed=max_connections,log_level "
                                     "needs_restart=port"});
}

TEST(Reload, FailureOfAnyPartChangesNothing) {
  World world("max_connections: 10\n");
  for (const char* one : {"a", "b"}) {
    world.refuses = one;
    world.directory.write("config.yaml", "max_connections: 20\n");
    world.reloader->reload("SIGHUP");
    EXPECT_NE(world.lines.back().find(std::string(one) + " refuses"), std::string::npos);
  }
  world.refuses.clear();
  for (const char* bad : {"max_connections: 0\n", "no_such: 1\n", "[", "log_level: loud\n"}) {
    world.directory.write("config.yaml", bad);
    world.reloader->reload("SIGHUP");
    EXPECT_NE(world.lines.back().find("reload failed, nothing changed cause=SIGHUP error="),
              std::string::npos)
        << world.lines.back();
    EXPECT_NE(world.lines.back().find("config.yaml:1"), std::string::npos) << world.lines.back();
  }
  EXPECT_EQ(world.committed, "");
  EXPECT_EQ(world.reloader->running().max_connections, 10U);
  EXPECT_NE(world.metrics.text().find("daybreak_config_reloads_total{result=\"failed\"} 6"),
            std::string::npos);
}

TEST(Reload, PollNoticesEachChangeOnce) {
  World world("max_connections: 10\n");
  world.reloader->poll();
  EXPECT_TRUE(world.lines.empty());
  const std::string certificate = world.directory.write("c.pem", "one");
  world.directory.write("config.yaml", "tls_certificate: " + certificate + "\n");
  world.reloader->poll();
  world.reloader->poll();
  EXPECT_EQ(world.lines.size(), 1U);
  EXPECT_NE(world.lines.back().find("cause=file changed="), std::string::npos);
  // The new file is watched from now on, and so is one that goes away.
  world.directory.write("c.pem", "two");
  world.reloader->poll();
  world.reloader->poll();
  EXPECT_EQ(world.lines.size(), 2U);
  std::filesystem::remove(world.directory.file("config.yaml"));
  world.reloader->poll();
  world.reloader->poll();
  EXPECT_EQ(world.lines.size(), 3U);
  EXPECT_NE(world.lines.back().find("failed"), std::string::npos);
}

TEST(Reload, NamesTheKeyOfAFileThatAloneChanged) {
  World world("max_connections: 10\n");
  const std::string certificate = world.directory.write("c.pem", "one");
  const std::string prices = world.directory.write("prices.yaml", "one");
  const auto poll = [&] {
    world.reloader->poll();
    world.reloader->poll();
    return world.lines.empty() ? "" : world.lines.back();
  };
  world.directory.write("config.yaml",
                        "tls_certificate: " + certificate + "\nprices: " + prices + "\n");
  // Named once, though both the key and what it names are new.
  EXPECT_NE(poll().find("changed=prices,max_connections,tls_certificate needs"), std::string::npos)
      << world.lines.back();
  world.directory.write("prices.yaml", "two!");
  EXPECT_NE(poll().find("reloaded cause=file changed=prices needs"), std::string::npos)
      << world.lines.back();
  // One that could not be taken over is new still when another is.
  world.refuses = "a";
  world.directory.write("prices.yaml", "three");
  EXPECT_NE(poll().find("failed"), std::string::npos);
  world.refuses.clear();
  world.directory.write("c.pem", "two!");
  EXPECT_NE(poll().find("changed=tls_certificate,prices needs"), std::string::npos)
      << world.lines.back();
  world.reloader->reload("SIGHUP");
  EXPECT_NE(world.lines.back().find("changed=\"\""), std::string::npos) << world.lines.back();
}

// A file that is written in place is empty for a moment, which is valid YAML.
TEST(Reload, PollWaitsUntilAFileHasBeenWritten) {
  World world("max_connections: 10\nlog_level: debug\n");
  world.directory.write("config.yaml", "");
  world.reloader->poll();
  world.directory.write("config.yaml", "max_connections: 20\n");
  world.reloader->poll();
  EXPECT_TRUE(world.lines.empty());
  world.directory.write("config.yaml", "max_connections: 20\nlog_level: debug\n");
  for (int i = 0; i < 3; ++i) {
    world.reloader->poll();
  }
  EXPECT_EQ(world.lines, std::vector<std::string>{
                             "reloaded cause=file changed=max_connections needs_restart=\"\""});
}

// Such as a certificate that the configuration names before it is there.
TEST(Reload, PollNoticesTheFilesOfAConfigurationThatFailed) {
  World world("max_connections: 10\n");
  const std::string certificate = world.directory.file("c.pem");
  world.directory.write("config.yaml", "tls_certificate: " + certificate + "\n");
  world.refuses = "a";
  world.reloader->reload("SIGHUP");
  EXPECT_NE(world.lines.back().find("failed"), std::string::npos);
  world.directory.write("c.pem", "one");
  world.refuses.clear();
  world.reloader->poll();
  world.reloader->poll();
  EXPECT_NE(world.lines.back().find("reloaded cause=file"), std::string::npos);
  EXPECT_EQ(world.reloader->running().tls_certificate, certificate);
}

}  // namespace
}  // namespace daybreak::cli
