// SPDX-License-Identifier: Apache-2.0
#include "grammar/rule_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "base/utf8.h"
#include "grammar/ebnf.h"
#include "grammar/message_rules.h"
#include "grammar/test_recognizer.h"

namespace daybreak::grammar {
namespace {

RuleGraph graph_of(ExpressionPtr start) {
  Budget budget(10'000'000);
  RuleSet rules;
  rules.start = std::move(start);
  auto graph = build_rule_graph(rules, budget);
  EXPECT_TRUE(graph);
  return graph ? *std::move(graph) : RuleGraph{};
}

// Whether a graph without calls reads `bytes`.
bool reads(const RuleGraph& graph, std::string_view bytes) {
  std::vector<RuleGraph::NodeId> now{graph.start};
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    std::vector<RuleGraph::NodeId> next;
    for (const RuleGraph::NodeId node : now) {
      for (std::uint32_t i = graph.nodes[node].first; i < graph.nodes[node].last; ++i) {
        const RuleGraph::Edge& edge = graph.edges[i];
        if (edge.kind == RuleGraph::EdgeKind::kByte && edge.low <= byte && byte <= edge.high) {
          next.push_back(edge.target);
        }
      }
    }
    now = std::move(next);
  }
  return std::ranges::any_of(now, [&](auto node) { return graph.nodes[node].final; });
}

std::string utf8(std::uint32_t code_point) {
  std::string text;
  append_utf8(code_point, text);
  return text;
}

bool surrogate(std::uint32_t code_point) { return code_point >= 0xD800 && code_point <= 0xDFFF; }

// Holds the graph of a set to the set at every code point given.
void expect_reads_set(const CharSet& set, const std::vector<std::uint32_t>& code_points) {
  const RuleGraph graph = graph_of(chars(set));
  std::size_t wrong = 0;
  for (const std::uint32_t code_point : code_points) {
    if (!surrogate(code_point) && reads(graph, utf8(code_point)) != set.contains(code_point) &&
        wrong++ == 0) {
      ADD_FAILURE() << std::hex << code_point << " is " << (set.contains(code_point) ? "" : "not ")
                    << "in the set that begins with " << set.ranges().front().low << "-"
                    << set.ranges().front().high;
    }
  }
  EXPECT_EQ(wrong, 0U);
}

const std::vector<std::uint32_t>& all_code_points() {
  static const std::vector<std::uint32_t> all = [] {
    std::vector<std::uint32_t> points;
    for (std::uint32_t point = 0; point <= kMaxCodePoint; ++point) {
      points.push_back(point);
    }
    return points;
  }();
  return all;
}

TEST(RuleGraph, ReadsEveryCodePointOfASet) {
  for (const CharSet& set :
       {CharSet({{0, 0x1F}, {'"', '"'}, {'\\', '\\'}, {0x7FE, 0x801}, {0xFFFD, 0x10002}})
            .complement(),
        CharSet({{0x7F, 0x80},
                 {0x0F3A, 0x1234},
                 {0x2345, 0x2345},
                 {0x1F600, 0x1F64F},
                 {0x3FFFF, 0x100001}})}) {
    expect_reads_set(set, all_code_points());
  }
}

// Where UTF-8 forms and their blocks begin and end.
std::uint32_t border(Rng& rng) {
  static constexpr std::array<std::uint32_t, 16> kBorders{
      0,      0x40,   0x80,    0xC0,    0x800,   0x840,   0xFC0,    0x1000,
      0xD800, 0xE000, 0x10000, 0x10040, 0x11000, 0x40000, 0x100000, 0x110000};
  const std::uint32_t near = kBorders[rng.below(kBorders.size())] + rng.below(5);
  const std::uint32_t any = rng.below(kMaxCodePoint + 1);
  return std::min(rng.below(3) == 0 ? any : near < 2 ? 0 : near - 2, kMaxCodePoint);
}

TEST(RuleGraph, ReadsRandomSetsExactlyAtTheirBorders) {
  Rng rng(11);
  for (int round = 0; round < 400; ++round) {
    std::vector<CharRange> ranges;
    std::vector<std::uint32_t> points;
    for (std::uint32_t i = 0; i <= rng.below(4); ++i) {
      const std::uint32_t a = border(rng);
      const std::uint32_t b = border(rng);
      ranges.push_back({std::min(a, b), std::max(a, b)});
      for (const std::uint32_t end : {a, b, border(rng)}) {
        for (std::uint32_t around = 0; around < 140; ++around) {
          const std::uint32_t point = end + around;
          if (point >= 70 && point - 70 <= kMaxCodePoint) {
            points.push_back(point - 70);
          }
        }
      }
    }
    const CharSet set(ranges);
    if (!set.empty()) {
      expect_reads_set(set, points);
    }
  }
}

TEST(RuleGraph, ReadsNothingThatIsNotUtf8) {
  const RuleGraph graph = graph_of(repeat(chars(CharSet::all()), 0, Expression::kNoMax));
  EXPECT_TRUE(reads(graph, ""));
  EXPECT_TRUE(reads(graph, "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  for (const std::string_view bytes :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80",
        "\xED\xBF\xBF", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xFF", "\xC3", "\xE2\x82", "a\xC3",
        "\xC3"
        "a"}) {
    EXPECT_FALSE(reads(graph, bytes));
  }
}

TEST(RuleGraph, RepeatsCountExactly) {
  for (std::uint32_t min = 0; min < 5; ++min) {
    for (std::uint32_t max = min; max < 7; ++max) {
      const std::uint32_t limit = max == 6 ? Expression::kNoMax : max;
      const RuleGraph graph = graph_of(repeat(bytes("ab"), min, limit));
      std::string text;
      for (std::uint32_t count = 0; count < 9; ++count, text += "ab") {
        EXPECT_EQ(reads(graph, text), count >= min && count <= limit) << min << " " << max;
        EXPECT_FALSE(reads(graph, text + "a"));
      }
    }
  }
}

TEST(RuleGraph, EveryEdgeReadsOrCalls) {
  const RuleGraph graph =
      graph_of(sequence({optional(bytes("a")), repeat(optional(bytes("b")), 2, 3), marker(5),
                         choice({bytes(""), bytes("c")})}));
  EXPECT_TRUE(std::ranges::all_of(graph.nodes, [&](const RuleGraph::Node& node) {
    return node.last <= graph.edges.size() && node.first <= node.last;
  }));
  EXPECT_TRUE(std::ranges::all_of(
      graph.edges, [&](const RuleGraph::Edge& edge) { return edge.target < graph.nodes.size(); }));
  EXPECT_FALSE(graph.nodes[graph.start].final);
  EXPECT_GT(graph.bytes(), 0U);
}

TEST(RuleGraph, HasABudget) {
  Budget budget(1000);
  RuleSet rules;
  rules.start = repeat(repeat(bytes("abcdefgh"), 100, 100), 100, 100);
  const auto graph = build_rule_graph(rules, budget);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, Errc::kTooLarge);
}

// --------------------------------------------------------------- whole grammars, run by the
// automaton

bool accepts_text(std::string_view grammar, std::string_view text) {
  const auto compiled = compile_text_grammar(grammar);
  EXPECT_TRUE(compiled) << grammar;
  return compiled && accepts(**compiled, text);
}

TEST(RuleGraph, RulesCallThemselves) {
  constexpr std::string_view kBrackets = "root ::= (\"(\" root \")\" | \"[\" root \"]\")*\n";
  for (const std::string_view text : {"", "()", "([])", "()[]", "((()))[[]()]"}) {
    EXPECT_TRUE(accepts_text(kBrackets, text)) << text;
  }
  for (const std::string_view text : {"(", ")", "(]", "([)]", "())", "[[]"}) {
    EXPECT_FALSE(accepts_text(kBrackets, text)) << text;
  }
  // As deep as the text goes.
  EXPECT_TRUE(accepts_text("root ::= \"(\" root? \")\"\n",
                           std::string(20'000, '(') + std::string(20'000, ')')));
  EXPECT_FALSE(accepts_text("root ::= \"(\" root? \")\"\n",
                            std::string(20'000, '(') + std::string(19'999, ')')));
}

TEST(RuleGraph, CallsWithoutReadingGoAsDeepAsTheGrammar) {
  std::string grammar = "root ::= r0\n";
  for (int i = 0; i < 5'000; ++i) {
    grammar += "r" + std::to_string(i) + " ::= r" + std::to_string(i + 1);
    grammar += i % 50 == 0 ? " \"z\"?\n" : "\n";
  }
  grammar += "r5000 ::= \"a\"\n";
  const auto compiled = compile_text_grammar(grammar);
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_TRUE(accepts(**compiled, "a"));
  EXPECT_TRUE(accepts(**compiled, "az"));
  EXPECT_FALSE(accepts(**compiled, "b"));
}

// Calls only rules after `rule`.
std::string random_item(Rng& rng, int depth, std::uint32_t rule) {
  static constexpr std::array<std::string_view, 9> kAtoms{
      "r3", "r2", "r1", "\"a\"", "\"b\"", "\"ab\"", "\"\"", "[ab]", "[^a]"};
  static constexpr std::array<std::string_view, 8> kTimes{"",  "",    "?",     "*",
                                                          "+", "{2}", "{0,2}", "{1,}"};
  const std::uint32_t first = std::min(rule, 3U);  // callable: r3, ..., r(rule + 1)
  const std::uint32_t callable = 3 - first;
  const std::uint32_t at = rng.below(callable + 6);
  std::string item(kAtoms[at < callable ? at : at - callable + 3]);
  if (depth > 0 && rng.below(2) == 0) {
    item = "(" + random_item(rng, depth - 1, rule) + (rng.below(2) == 0 ? " | " : " ") +
           random_item(rng, depth - 1, rule) + ")";
  }
  return item + std::string(kTimes[rng.below(kTimes.size())]);
}

// Repeats of what may be empty or may be read in several ways, rules that are empty: the automaton
// against a recogniser that tries everything.
TEST(RuleGraph, AgreesWithTryingEverything) {
  Rng rng(5);
  std::vector<std::string> texts{""};
  for (std::size_t i = 0; texts[i].size() < 5; ++i) {
    texts.push_back(texts[i] + "a");
    texts.push_back(texts[i] + "b");
  }
  std::size_t grammars = 0;
  std::size_t accepted = 0;
  for (int round = 0; round < 150; ++round) {
    std::string grammar;
    for (std::uint32_t rule = 0; rule < 4; ++rule) {
      grammar += (rule == 0 ? "root" : "r" + std::to_string(rule)) +
                 " ::= " + random_item(rng, 1, rule) + " " + random_item(rng, 1, rule) + " | " +
                 random_item(rng, 1, rule) + "\n";
    }
    Budget budget(1'000'000);
    const auto rules = parse_grammar(grammar, budget);
    const auto compiled = compile_text_grammar(grammar);
    ASSERT_EQ(rules.has_value(), compiled.has_value()) << grammar;
    if (!rules) {
      continue;  // no finite text, or too large without its left recursion
    }
    ++grammars;
    TestRecognizer recognizer(*rules);
    for (const std::string& text : texts) {
      const bool expected = recognizer.matches(text);
      accepted += expected ? 1 : 0;
      ASSERT_EQ(accepts(**compiled, text), expected) << "'" << text << "' of\n" << grammar;
    }
  }
  EXPECT_GT(grammars, 100U);
  EXPECT_GT(accepted, grammars);
}

}  // namespace
}  // namespace daybreak::grammar
