// SPDX-License-Identifier: Apache-2.0
// The command line as a whole: names of commands, their help, and numbers.

#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>
#include <vector>

#include "cli/command_names.h"

namespace daybreak::cli {
namespace {

class CommandLine : public ::testing::Test {
 protected:
  CommandLine() { register_commands({root_, action_}); }

  Result<NamedCommand> find(const std::vector<std::string>& words) {
    return find_command(root_, words);
  }
  // What CLI11 complains about; empty if it accepts.
  std::string complaint(const std::string& line) {
    try {
      root_.parse(line);
    } catch (const CLI::ParseError& e) {
      return e.what();
    }
    return {};
  }

  CLI::App root_{"description", "daybreak"};
  Action action_;
};

TEST_F(CommandLine, AnUnknownCommandIsNamedWithTheOneMeant) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"chatt"}, "unknown command 'chatt'; did you mean 'chat'?"},
      {{"tokenise", "x"}, "unknown command 'tokenise'; did you mean 'tokenize'?"},
      {{"bogus"}, "unknown command 'bogus'; 'daybreak --help' lists them"},
      {{"bench", "decoed"}, "unknown command 'decoed'; did you mean 'decode'?"},
      {{"bench", "zzzzzzzz"}, "unknown command 'zzzzzzzz'; 'daybreak bench --help' lists them"},
  };
  for (const auto& [words, message] : cases) {
    const auto found = find(words);
    ASSERT_FALSE(found) << message;
    EXPECT_EQ(found.error().code, Errc::kInvalidArgument);
    EXPECT_EQ(found.error().message, message);
  }
  EXPECT_FALSE(find({std::string(1'000'000, 'x')}));
}

TEST_F(CommandLine, ArgumentsOfACommandAreNotCommands) {
  EXPECT_EQ(find({})->name, "daybreak");
  EXPECT_EQ(find({"--version", "bogus"})->name, "daybreak");
  EXPECT_EQ(find({"tokenize", "some/model"})->name, "daybreak tokenize");
  EXPECT_EQ(find({"bench", "decode", "model"})->name, "daybreak bench decode");
}

TEST_F(CommandLine, HelpIsThatOfTheCommandAskedForWhateverWasParsed) {
  ASSERT_EQ(complaint("help"), "");
  const std::string root = command_help(root_, "daybreak");
  EXPECT_NE(root.find("Usage: daybreak [OPTIONS]"), std::string::npos) << root;
  EXPECT_NE(root.find("tokenize"), std::string::npos);
  const auto chat = find({"chat"});
  const std::string text = command_help(*chat->app, chat->name);
  EXPECT_NE(text.find("Usage: daybreak chat [OPTIONS]"), std::string::npos) << text;
}

TEST_F(CommandLine, OptionGroupsAreNoCommands) {
  for (const char* name : {"generate", "tokenize", "detokenize"}) {
    EXPECT_TRUE(named_subcommands(*find({name})->app).empty()) << name;
  }
  EXPECT_EQ(named_subcommands(*find({"bench"})->app).size(), 8U);
}

TEST_F(CommandLine, NoCountTakesANegativeNumber) {
  std::size_t tried = 0;
  const auto try_all = [&](const auto& self, CLI::App& app, const std::string& name) -> void {
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_type_name().starts_with("UINT")) {
        const std::string line = name + " " + option->get_name() + " -1";
        EXPECT_NE(complaint(line), "") << line;
        ++tried;
      }
    }
    for (CLI::App* sub : named_subcommands(app)) {
      self(self, *sub, (name + " " + sub->get_name()).substr(name.empty() ? 1 : 0));
    }
  };
  try_all(try_all, root_, "");
  EXPECT_GT(tried, 10U);
  EXPECT_EQ(complaint("chat --seed -1"), "--seed: expected an integer of at least 0, found '-1'");
  EXPECT_EQ(complaint("chat --max-tokens=-1"),
            "--max-tokens: expected an integer of at least 0, found '-1'");
  EXPECT_EQ(complaint("chat --seed 18446744073709551615 --top-k 0"), "");
  EXPECT_EQ(complaint("chat --presence-penalty -1"), "");
}

}  // namespace
}  // namespace daybreak::cli
