// SPDX-License-Identifier: Apache-2.0
// deploy/kubernetes.yaml against the container file and the server's defaults. Its form is checked,
// no cluster is asked.

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>

#include "cli/server_config.h"
#include "testing/paths.h"

namespace daybreak::cli {
namespace {

std::string read(const char* path) {
  std::ifstream file(testing::source_path(path));
  return {std::istreambuf_iterator<char>(file), {}};
}

// What a line of the container file says behind `word`, such as "USER 10001:10001".
std::string said(const std::string& word) {
  static const std::string text = read("deploy/Dockerfile");
  std::smatch match;
  const std::regex line("(?:^|\n)" + word + " ([^\n]*)");
  EXPECT_TRUE(std::regex_search(text, match, line)) << word;
  return match[1];
}

class Kubernetes : public ::testing::Test {
 protected:
  Kubernetes() {
    for (const YAML::Node& one : YAML::LoadAll(read("deploy/kubernetes.yaml"))) {
      objects_[one["kind"].as<std::string>()] = one;
    }
  }
  YAML::Node pod() { return objects_.at("Deployment")["spec"]["template"]["spec"]; }
  YAML::Node container() { return pod()["containers"][0]; }

  std::map<std::string, YAML::Node> objects_;  // by kind
};

TEST_F(Kubernetes, ItsObjectsFindEachOther) {
  ASSERT_EQ(objects_.size(), 4U);
  const std::string app =
      objects_.at("Deployment")["spec"]["template"]["metadata"]["labels"]["app"].as<std::string>();
  EXPECT_EQ(objects_.at("Service")["spec"]["selector"]["app"].as<std::string>(), app);
  for (const char* kind : {"Deployment", "PodDisruptionBudget"}) {
    EXPECT_EQ(objects_.at(kind)["spec"]["selector"]["matchLabels"]["app"].as<std::string>(), app)
        << kind;
  }
  const YAML::Node port = container()["ports"][0];
  EXPECT_EQ(port["containerPort"].as<std::string>(), said("EXPOSE"));
  EXPECT_EQ(port["containerPort"].as<std::size_t>(), ServerConfig{}.port);
  EXPECT_EQ(objects_.at("Service")["spec"]["ports"][0]["targetPort"].as<std::string>(),
            port["name"].as<std::string>());
  std::map<std::string, std::string> claims;
  for (const YAML::Node& volume : pod()["volumes"]) {
    claims[volume["name"].as<std::string>()] =
        volume["persistentVolumeClaim"]["claimName"].as<std::string>();
  }
  EXPECT_EQ(claims.at("state"),
            objects_.at("PersistentVolumeClaim")["metadata"]["name"].as<std::string>());
  for (const YAML::Node& mount : container()["volumeMounts"]) {
    EXPECT_TRUE(claims.contains(mount["name"].as<std::string>()));
  }
}

TEST_F(Kubernetes, ItRunsAsTheContainerFilesUserAndWritesToItsStateAlone) {
  const YAML::Node user = pod()["securityContext"];
  EXPECT_EQ(user["runAsUser"].as<std::string>() + ":" + user["runAsGroup"].as<std::string>(),
            said("USER"));
  EXPECT_EQ(user["fsGroup"].as<std::string>(), user["runAsGroup"].as<std::string>());
  EXPECT_TRUE(user["runAsNonRoot"].as<bool>());
  EXPECT_TRUE(container()["securityContext"]["readOnlyRootFilesystem"].as<bool>());
  EXPECT_FALSE(container()["securityContext"]["allowPrivilegeEscalation"].as<bool>());
  std::string writable;
  for (const YAML::Node& mount : container()["volumeMounts"]) {
    if (!mount["readOnly"].as<bool>(false)) {
      writable += mount["mountPath"].as<std::string>() + ";";
    }
  }
  EXPECT_EQ(writable, said("VOLUME") + ";");
}

TEST_F(Kubernetes, ItIsProbedWhereItAnswersAndStoppedAfterItsDrain) {
  const auto drain = static_cast<long>(ServerConfig{}.drain_seconds);
  EXPECT_GT(pod()["terminationGracePeriodSeconds"].as<long>(), drain);
  for (const auto& [probe, path] :
       std::map<std::string, std::string>{{"startupProbe", "/ready"},
                                          {"readinessProbe", "/ready"},
                                          {"livenessProbe", "/health"}}) {
    EXPECT_EQ(container()[probe]["httpGet"]["path"].as<std::string>(), path);
    EXPECT_EQ(container()[probe]["httpGet"]["port"].as<std::string>(), "http");
  }
  const YAML::Node alive = container()["livenessProbe"];
  EXPECT_GT(alive["periodSeconds"].as<long>() * alive["failureThreshold"].as<long>(), drain);
  const YAML::Node deployment = objects_.at("Deployment")["spec"];
  EXPECT_EQ(deployment["replicas"].as<int>(), 1);
  EXPECT_EQ(deployment["strategy"]["type"].as<std::string>(), "Recreate");
}

// A Service named daybreak would else set DAYBREAK_PORT, which is a setting.
TEST_F(Kubernetes, NoServicePutsSettingsIntoItsEnvironment) {
  EXPECT_FALSE(pod()["enableServiceLinks"].as<bool>());
  EXPECT_EQ(container()["imagePullPolicy"].as<std::string>(), "IfNotPresent");
}

// Every argument behind "serve MODEL" is a setting there is.
TEST_F(Kubernetes, ItsArgumentsAreSettings) {
  const YAML::Node args = container()["args"];
  ASSERT_EQ(args[0].as<std::string>(), "serve");
  for (std::size_t i = 2; i < args.size(); i += 2) {
    std::string name = args[i].as<std::string>().substr(2);
    std::ranges::replace(name, '-', '_');
    EXPECT_NE(find_server_key(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace daybreak::cli
