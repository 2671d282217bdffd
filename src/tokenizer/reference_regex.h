// SPDX-License-Identifier: Apache-2.0
#pragma once

// A small backtracking regular-expression matcher: the pattern of the released tokenizer is given
// to it as text, so that the hand-written scanner can be compared with the pattern itself. It knows
// just the syntax which that pattern uses. Test code only: exponential in the worst case.
// Long because: header-only, so that no test code enters the library; parser and matcher are one.

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybreak::tokenizer::reference {

// A character as the pattern sees it.
struct Symbol {
  std::uint32_t code_point;
  std::string_view category;  // general category, such as "Lu"
  bool han;
  bool white_space;
};

// The pattern of spec k3-frontend.md section 1.3.
inline constexpr std::string_view kK3Pattern =
    R"([\p{Han}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

class Regex {
 public:
  // REQUIRES: `pattern` uses only the syntax of kK3Pattern.
  explicit Regex(std::string_view pattern) : rest_(pattern) {
    compile_alternatives();
    program_.push_back({Op::kMatch, 0, 0});
  }

  // Returns the end of the match that starts at symbols[begin], or npos.
  std::size_t match(const std::vector<Symbol>& symbols, std::size_t begin) const {
    return run(symbols, 0, begin);
  }

  static constexpr std::size_t npos = ~std::size_t{0};

 private:
  enum class Op { kSet, kSplit, kNotAhead, kMatch };
  // kSet: x is an index into sets_. kSplit: x is tried before y. kNotAhead: x..y-1 must not match.
  struct Instruction {
    Op op;
    std::size_t x;
    std::size_t y;
  };
  using Set = std::function<bool(const Symbol&)>;

  std::size_t run(const std::vector<Symbol>& symbols, std::size_t pc, std::size_t at) const {
    for (;;) {
      const Instruction& i = program_[pc];
      switch (i.op) {
        case Op::kMatch:
          return at;
        case Op::kSet:
          if (at == symbols.size() || !sets_[i.x](symbols[at])) {
            return npos;
          }
          ++at;
          ++pc;
          break;
        case Op::kNotAhead:
          if (run(symbols, i.x, at) != npos) {
            return npos;
          }
          pc = i.y;
          break;
        case Op::kSplit:
          if (i.x != i.y) {  // otherwise a jump, which must not be tried twice
            if (const std::size_t end = run(symbols, i.x, at); end != npos) {
              return end;
            }
          }
          pc = i.y;
          break;
      }
    }
  }

  bool take(std::string_view token) {
    const bool found = rest_.starts_with(token);
    rest_.remove_prefix(found ? token.size() : 0);
    return found;
  }

  // a|b|c up to the end or a closing bracket: split, a, jump to the end, b, ...
  void compile_alternatives() {
    std::vector<std::size_t> jumps;
    for (;;) {
      const std::size_t split = program_.size();
      program_.push_back({Op::kSplit, split + 1, split + 1});
      while (!rest_.empty() && rest_.front() != '|' && rest_.front() != ')') {
        compile_repeated();
      }
      if (!take("|")) {
        break;
      }
      jumps.push_back(program_.size());
      program_.push_back({Op::kSplit, 0, 0});
      program_[split].y = program_.size();
    }
    for (const std::size_t jump : jumps) {
      program_[jump] = {Op::kSplit, program_.size(), program_.size()};
    }
  }

  // An atom with ?, *, + or {1,3}, greedy.
  void compile_repeated() {
    const std::string_view atom = rest_;
    const std::size_t begin = program_.size();
    compile_atom();
    const std::vector<Instruction> body(program_.begin() + static_cast<std::ptrdiff_t>(begin),
                                        program_.end());
    if (take("?")) {
      optional(begin, body);
    } else if (take("*")) {
      optional(begin, body);
      program_.push_back({Op::kSplit, begin, begin});
      program_[begin].y = program_.size();
    } else if (take("+")) {
      program_.push_back({Op::kSplit, begin, program_.size() + 1});
    } else if (take("{1,3}")) {
      // x{1,3} is xx?x? here, which matches the same because x is a set of single characters.
      const std::string_view after = rest_;
      for (int i = 0; i < 2; ++i) {
        const std::size_t copy = program_.size();
        rest_ = atom;
        compile_atom();
        const std::vector<Instruction> again(program_.begin() + static_cast<std::ptrdiff_t>(copy),
                                             program_.end());
        optional(copy, again);
      }
      rest_ = after;
    }
  }

  // Rewrites the instructions from `begin` on, which are `body`, as body?.
  void optional(std::size_t begin, const std::vector<Instruction>& body) {
    program_.resize(begin);
    program_.push_back({Op::kSplit, begin + 1, begin + 1 + body.size()});
    for (Instruction moved : body) {
      if (moved.op != Op::kSet) {
        ++moved.x;
        ++moved.y;
      }
      program_.push_back(moved);
    }
  }

  void compile_atom() {
    if (take("(?i:")) {
      ignore_case_ = true;
      compile_alternatives();
      ignore_case_ = false;
      take(")");
    } else if (take("(?!")) {
      const std::size_t begin = program_.size();
      program_.push_back({Op::kNotAhead, begin + 1, 0});
      compile_alternatives();
      take(")");
      program_.push_back({Op::kMatch, 0, 0});
      program_[begin].y = program_.size();
    } else {
      program_.push_back({Op::kSet, sets_.size(), 0});
      sets_.push_back(take("[") ? parse_bracket() : parse_single());
    }
  }

  // After "[": items up to "]", possibly intersected by "&&[...]".
  Set parse_bracket() {
    const bool negated = take("^");
    Set set = [](const Symbol&) { return false; };
    while (!take("]")) {
      if (take("&&[")) {
        set = [a = set, b = parse_bracket()](const Symbol& s) { return a(s) && b(s); };
      } else {
        set = [a = set, b = parse_single()](const Symbol& s) { return a(s) || b(s); };
      }
    }
    return [set, negated](const Symbol& s) { return set(s) != negated; };
  }

  Set parse_single() {
    if (take("\\r")) {
      return [](const Symbol& s) { return s.code_point == '\r'; };
    }
    if (take("\\n")) {
      return [](const Symbol& s) { return s.code_point == '\n'; };
    }
    if (take("\\s")) {
      return [](const Symbol& s) { return s.white_space; };
    }
    if (take("\\S")) {
      return [](const Symbol& s) { return !s.white_space; };
    }
    if (take("\\p{Han}")) {
      return [](const Symbol& s) { return s.han; };
    }
    if (take("\\p{")) {
      const std::string name(rest_.substr(0, rest_.find('}')));
      rest_.remove_prefix(name.size() + 1);
      return [name](const Symbol& s) { return s.category.starts_with(name); };
    }
    const auto literal = static_cast<std::uint32_t>(rest_.front());
    rest_.remove_prefix(1);
    return [literal, fold = ignore_case_](const Symbol& s) {
      const bool upper = s.code_point >= 'A' && s.code_point <= 'Z';
      const std::uint32_t folded =
          s.code_point == 0x17F ? 's' : (upper ? s.code_point + 32 : s.code_point);
      return (fold ? folded : s.code_point) == literal;
    };
  }

  std::string_view rest_;
  bool ignore_case_ = false;
  std::vector<Instruction> program_;
  std::vector<Set> sets_;
};

}  // namespace daybreak::tokenizer::reference
