// SPDX-License-Identifier: Apache-2.0
// A regular expression is determinised by subsets. A member of a subset is a node of the graph
// together with what lookaheads still demand of the rest of the string: states of their own
// automata, all of which must end up accepting. The automaton of (?=B) is that of B followed by
// anything, the one of (?!B) its complement; so they may stand anywhere, inside repeats too.
#include "grammar/regex.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "grammar/dfa_builder.h"
#include "grammar/regex_alphabet.h"
#include "grammar/regex_ast.h"
#include "grammar/regex_classes.h"
#include "grammar/regex_nfa.h"

namespace daybreak::grammar {
namespace {

using Index = RegexNfa::Index;
using NfaKind = RegexNfaNode::Kind;
using AstKind = RegexNode::Kind;

constexpr std::string_view kWhat = "regular expression";

// What stands before a position, as far as ^ and \b ask.
enum class Before : std::uint8_t { kNothing, kWord, kOther };

struct VectorHash {
  std::size_t operator()(const std::vector<std::uint64_t>& values) const {
    std::uint64_t hash = values.size();
    for (const std::uint64_t value : values) {
      hash = mix64(hash ^ value);
    }
    return hash;
  }
};

// The demands of lookaheads on the rest of the string: sets of (automaton, state), numbered.
class Demands {
 public:
  using Set = std::uint32_t;
  static constexpr Set kNone = 0;  // nothing is demanded
  static constexpr Set kImpossible = 0xFFFFFFFF;

  Demands() { find({}); }

  // Returns the demand that the rest is in `language`.
  Set add(Dfa language) {
    if (language.empty()) {
      return kImpossible;
    }
    const std::uint64_t number = number_of(std::move(language));
    return universal(number, Dfa::kStart) ? kNone : find({number << 32});
  }

  // Returns the demand after one code point.
  Set step(Set set, std::uint32_t code_point) {
    std::vector<std::uint64_t> out;
    for (const std::uint64_t demand : sets_[set]) {
      const Dfa& language = languages_[demand >> 32];
      const Dfa::State next = language.next(static_cast<Dfa::State>(demand), code_point);
      if (next == Dfa::kDead) {
        return kImpossible;
      }
      if (!universal(demand >> 32, next)) {
        out.push_back((demand >> 32 << 32) | next);
      }
    }
    std::ranges::sort(out);
    out.erase(std::ranges::unique(out).begin(), out.end());
    return find(std::move(out));
  }

  Set unite(Set a, Set b) {
    if (a == b || b == kNone) {
      return a;
    }
    if (a == kNone) {
      return b;
    }
    std::vector<std::uint64_t> out;
    std::ranges::set_union(sets_[a], sets_[b], std::back_inserter(out));
    return find(std::move(out));
  }

  // Returns whether the string may end here.
  [[nodiscard]] bool met(Set set) const {
    return std::ranges::all_of(sets_[set], [this](std::uint64_t demand) {
      return languages_[demand >> 32].accepts(static_cast<Dfa::State>(demand));
    });
  }

  [[nodiscard]] std::size_t size(Set set) const { return sets_[set].size(); }

 private:
  // Whether every rest is accepted from a state.
  [[nodiscard]] bool universal(std::uint64_t number, Dfa::State state) const {
    const Dfa& language = languages_[number];
    const auto edges = language.edges(state);
    return language.accepts(state) && edges.size() == 2 && edges[0].target == state &&
           edges[1].target == state && edges[0].low == 0 && edges[0].high == 0xD7FF &&
           edges[1].low == 0xE000 && edges[1].high == kMaxCodePoint;
  }

  // Equal languages get one number, so that equal demands are equal.
  std::uint64_t number_of(Dfa language) {
    std::vector<std::uint64_t>& alike = by_hash_[language.hash()];
    for (const std::uint64_t number : alike) {
      if (languages_[number] == language) {
        return number;
      }
    }
    alike.push_back(languages_.size());
    languages_.push_back(std::move(language));
    return alike.back();
  }

  Set find(std::vector<std::uint64_t> set) {
    const auto [at, fresh] = numbers_.try_emplace(std::move(set), static_cast<Set>(sets_.size()));
    if (fresh) {
      sets_.push_back(at->first);
    }
    return at->second;
  }

  std::vector<Dfa> languages_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> by_hash_;
  std::vector<std::vector<std::uint64_t>> sets_;  // number << 32 | state, sorted
  std::unordered_map<std::vector<std::uint64_t>, Set, VectorHash> numbers_;
};

// A node that reads or ends, and a set of demands: node << 32 | set.
using Member = std::uint64_t;
using Subset = std::vector<Member>;  // sorted

Index node_of(Member member) { return static_cast<Index>(member >> 32); }
Demands::Set demands_of(Member member) { return static_cast<Demands::Set>(member); }
Member member(Index node, Demands::Set set) { return std::uint64_t{node} << 32 | set; }

// What all automata of one pattern share.
class RegexCompiler {
 public:
  RegexCompiler(const RegexAst& ast, const RegexAlphabet& alphabet, std::uint32_t any,
                Budget& budget)
      : ast_(ast), alphabet_(alphabet), any_(any), budget_(budget), nfa_(ast) {
    accept_ = nfa_.add({.kind = NfaKind::kAccept});
    tail_ = nfa_.add({.kind = NfaKind::kTail});
    for (std::uint32_t cls = 0; cls < alphabet.classes(); ++cls) {
      after_.push_back(
          known(word_class().contains(alphabet.example(cls)) ? Before::kWord : Before::kOther));
    }
  }

  Result<Dfa> compile(RegexMatch match) {
    if (match == RegexMatch::kWhole) {
      DAYBREAK_TRY(const Index start, nfa_.build(ast_.root, accept_, budget_));
      return determinise(start, known(Before::kNothing));
    }
    DAYBREAK_TRY(const Index pattern, nfa_.build(ast_.root, tail_, budget_));
    return determinise(nfa_.add_search(any_, pattern), known(Before::kNothing));
  }

 private:
  // Leaves only the distinctions that the pattern makes, so that fewer automata are needed.
  [[nodiscard]] Before known(Before before) const {
    const bool matters = before == Before::kNothing ? ast_.has_begin
                         : before == Before::kWord  ? ast_.has_boundary
                                                    : true;
    return matters ? before : Before::kOther;
  }

  // Returns what the assertion at AST node `number` demands of the rest.
  Result<Demands::Set> demand(std::uint32_t number, Before before) {
    const RegexNode& node = ast_.nodes[number];
    if (node.kind == AstKind::kBegin) {
      return before == Before::kNothing ? Demands::kNone : Demands::kImpossible;
    }
    // \b: a word character follows exactly if none stands before.
    const bool negative =
        node.kind == AstKind::kLook ? node.negative : (before == Before::kWord) != node.negative;
    const auto key = std::tuple(node.items[0], negative, before);
    if (const auto found = looks_.find(key); found != looks_.end()) {
      return found->second;
    }
    DAYBREAK_TRY(const Index start, nfa_.build(node.items[0], tail_, budget_));
    DAYBREAK_TRY(Dfa language, determinise(start, before));
    if (negative) {
      DAYBREAK_TRY(language, language.complement(budget_));
    }
    const Demands::Set set = demands_.add(std::move(language));
    looks_.emplace(key, set);
    return set;
  }

  // Returns the members that `node` leads to without reading.
  Result<const Subset*> closure(Index node, Before before) {
    const std::uint64_t key = std::uint64_t{node} << 2 | static_cast<std::uint64_t>(before);
    if (const auto found = closures_.find(key); found != closures_.end()) {
      return &found->second;
    }
    Subset out;
    std::vector<Member> open = {member(node, Demands::kNone)};
    std::unordered_set<Member> seen(open.begin(), open.end());
    const auto visit = [&](Index next, Demands::Set set) {
      if (seen.insert(member(next, set)).second) {
        open.push_back(member(next, set));
      }
    };
    while (!open.empty()) {
      const Member at = open.back();
      open.pop_back();
      DAYBREAK_CHECK_OK(budget_.spend(2 + demands_.size(demands_of(at)), kWhat));
      const RegexNfaNode current = nfa_[node_of(at)];
      if (current.kind == NfaKind::kSplit) {
        visit(current.other, demands_of(at));
        visit(current.next, demands_of(at));
      } else if (current.kind == NfaKind::kAssert) {
        DAYBREAK_TRY(const Demands::Set more, demand(current.ast, before));
        if (more != Demands::kImpossible) {
          visit(current.next, demands_.unite(demands_of(at), more));
        }
      } else {
        out.push_back(at);
      }
    }
    normalise(out);
    return &closures_.emplace(key, std::move(out)).first->second;
  }

  // Sorts; drops what another member makes superfluous.
  void normalise(Subset& subset) const {
    std::ranges::sort(subset);
    if (std::ranges::binary_search(subset, member(tail_, Demands::kNone))) {
      subset = {member(tail_, Demands::kNone)};  // any rest matches
      return;
    }
    std::size_t kept = 0;
    for (const Member at : subset) {
      // A node without demands is the first of its node.
      if (kept > 0 &&
          (subset[kept - 1] == at || (node_of(subset[kept - 1]) == node_of(at) &&
                                      demands_of(subset[kept - 1]) == Demands::kNone))) {
        continue;
      }
      subset[kept++] = at;
    }
    subset.resize(kept);
  }

  [[nodiscard]] bool accepts(const Subset& subset) const {
    return std::ranges::any_of(subset, [this](Member at) {
      const NfaKind kind = nfa_[node_of(at)].kind;
      return (kind == NfaKind::kAccept || kind == NfaKind::kTail) && demands_.met(demands_of(at));
    });
  }

  // One subset construction; lookaheads make others while it runs.
  struct Run {
    std::unordered_map<Subset, Dfa::State, VectorHash> numbers;
    std::vector<const Subset*> subsets;  // keys of `numbers`, which do not move
    std::vector<Subset> rows;            // [classes]: where the subset at hand leads
    DfaBuilder builder;
  };

  Result<Dfa::State> find(Run& run, Subset subset) {
    const auto number = static_cast<Dfa::State>(run.subsets.size());
    const auto [at, fresh] = run.numbers.try_emplace(std::move(subset), number);
    if (fresh) {
      DAYBREAK_CHECK_OK(budget_.spend(8 + at->first.size(), kWhat));
      run.subsets.push_back(&at->first);
      run.builder.add_state(accepts(at->first));
    }
    return at->second;
  }

  // Adds to rows where one member leads on each class.
  Status advance(Run& run, Member at) {
    const RegexNfaNode node = nfa_[node_of(at)];
    if (node.kind == NfaKind::kAccept) {
      return ok();
    }
    const bool tail = node.kind == NfaKind::kTail;
    for (const std::uint32_t cls : alphabet_.classes_of(tail ? any_ : node.set)) {
      DAYBREAK_CHECK_OK(budget_.spend(1 + demands_.size(demands_of(at)), kWhat));
      const Demands::Set rest = demands_of(at) == Demands::kNone
                                    ? Demands::kNone
                                    : demands_.step(demands_of(at), alphabet_.example(cls));
      if (rest == Demands::kImpossible) {
        continue;
      }
      Subset& row = run.rows[cls];
      if (tail) {
        row.push_back(member(tail_, rest));
        continue;
      }
      DAYBREAK_TRY(const Subset* const next, closure(node.next, after_[cls]));
      for (const Member to : *next) {
        DAYBREAK_CHECK_OK(
            budget_.spend(1 + demands_.size(rest) + demands_.size(demands_of(to)), kWhat));
        row.push_back(member(node_of(to), demands_.unite(rest, demands_of(to))));
      }
    }
    return ok();
  }

  // Adds the edges of one state from rows, and empties them.
  Status connect(Run& run, Dfa::State state) {
    std::vector<Dfa::State> targets(run.rows.size(), Dfa::kDead);
    for (std::size_t cls = 0; cls < run.rows.size(); ++cls) {
      if (!run.rows[cls].empty()) {
        normalise(run.rows[cls]);
        DAYBREAK_TRY(targets[cls], find(run, std::exchange(run.rows[cls], {})));
      }
    }
    DAYBREAK_CHECK_OK(budget_.spend(alphabet_.atoms().size() / 8 + targets.size() / 8, kWhat));
    std::optional<Dfa::Edge> edge;
    const auto flush = [&]() -> Status {
      if (edge && edge->target != Dfa::kDead) {
        run.builder.add_edge(state, edge->low, edge->high, edge->target);
        return budget_.spend(1, kWhat);
      }
      return ok();
    };
    for (const RegexAlphabet::Atom& atom : alphabet_.atoms()) {
      const Dfa::State target = targets[atom.cls];
      if (edge && edge->target == target) {
        edge->high = atom.high;
        continue;
      }
      DAYBREAK_CHECK_OK(flush());
      edge = {atom.low, atom.high, target};
    }
    return flush();
  }

  Result<Dfa> determinise(Index start, Before before) {
    Run run;
    run.rows.resize(alphabet_.classes());
    DAYBREAK_TRY(const Subset* const first, closure(start, before));
    DAYBREAK_TRY(const Dfa::State root, find(run, *first));
    for (Dfa::State state = root; state < run.subsets.size(); ++state) {
      const Subset& subset = *run.subsets[state];
      for (const Member at : subset) {
        DAYBREAK_CHECK_OK(advance(run, at));
      }
      DAYBREAK_CHECK_OK(connect(run, state));
    }
    return std::move(run.builder).build(root, budget_);
  }

  const RegexAst& ast_;
  const RegexAlphabet& alphabet_;
  std::uint32_t any_;  // the set of all code points
  Budget& budget_;
  RegexNfa nfa_;
  Index accept_ = 0, tail_ = 0;
  std::vector<Before> after_;  // [classes]
  Demands demands_;
  std::map<std::tuple<std::uint32_t, bool, Before>, Demands::Set> looks_;
  std::unordered_map<std::uint64_t, Subset> closures_;  // by node and Before
};

}  // namespace

Result<Dfa> compile_regex(std::string_view pattern, RegexMatch match, Budget& budget) {
  DAYBREAK_TRY(RegexAst ast, parse_regex(pattern, budget));
  const auto any = static_cast<std::uint32_t>(ast.sets.size());
  ast.sets.push_back(CharSet::all());
  if (ast.has_boundary) {
    ast.sets.push_back(word_class());
  }
  DAYBREAK_TRY(const RegexAlphabet alphabet, RegexAlphabet::make(ast.sets, budget));
  return RegexCompiler(ast, alphabet, any, budget).compile(match);
}

}  // namespace daybreak::grammar
