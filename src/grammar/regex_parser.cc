// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"
#include "grammar/regex_ast.h"
#include "grammar/regex_classes.h"
#include "grammar/regex_quantifier.h"

namespace daybreak::grammar {
namespace {

using Kind = RegexNode::Kind;
using Index = std::uint32_t;

bool is_digit(std::uint32_t c) { return c >= '0' && c <= '9'; }
bool is_letter(std::uint32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::optional<std::uint32_t> hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  if (lower >= 'a' && lower <= 'f') {
    return lower - 'a' + 10;
  }
  return std::nullopt;
}

// Recursive descent over the pattern's bytes. Members are read as "at_ is the next byte".
class RegexParser {
 public:
  RegexParser(std::string_view pattern, Budget& budget) : text_(pattern), budget_(budget) {}

  Result<RegexAst> parse() && {
    if (!is_valid_utf8(text_)) {
      return fail(0, "expected UTF-8");
    }
    DAYBREAK_CHECK_OK(budget_.spend(text_.size() + 1, "regular expression"));
    DAYBREAK_TRY(ast_.root, disjunction(0));
    if (at_ < text_.size()) {
      return fail(at_, "expected no ')' without '('");
    }
    if (reference_ > groups_) {
      return fail(reference_at_, "expected a group for backreference \\" +
                                     std::to_string(reference_) + ", found " +
                                     std::to_string(groups_) + " groups");
    }
    if (reference_ > 0) {
      return unsupported(reference_at_, "backreferences such as \\" + std::to_string(reference_));
    }
    return std::move(ast_);
  }

 private:
  // A member of a class: one code point (nothing for a lone surrogate), or a set.
  struct ClassAtom {
    std::optional<std::uint32_t> code = std::nullopt;
    CharSet set = {};
  };

  static Error fail(std::size_t at, std::string_view what) { return regex_fault(at, what); }
  static Error unsupported(std::size_t at, std::string_view what) {
    return Error{Errc::kUnsupported, "regular expression: at byte " + std::to_string(at) +
                                         ": not supported: " + std::string(what)};
  }

  static ClassAtom predefined(const CharSet& set, bool negative) {
    return {.set = negative ? set.complement() : set};
  }

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] bool sees(std::string_view what) const {
    return text_.substr(at_).starts_with(what);
  }
  bool take(std::string_view what) {
    const bool found = sees(what);
    at_ += found ? what.size() : 0;
    return found;
  }

  Index add(RegexNode node) {
    ast_.nodes.push_back(std::move(node));
    return static_cast<Index>(ast_.nodes.size() - 1);
  }
  Index add_set(CharSet set) {
    ast_.sets.push_back(std::move(set));
    return add({.kind = Kind::kChars, .set = static_cast<std::uint32_t>(ast_.sets.size() - 1)});
  }
  // One code point; the same set for each occurrence.
  Index add_char(std::uint32_t code) {
    const auto [at, fresh] = chars_.try_emplace(code, static_cast<std::uint32_t>(ast_.sets.size()));
    if (fresh) {
      ast_.sets.push_back(CharSet::of(code));
    }
    return add({.kind = Kind::kChars, .set = at->second});
  }
  Index add_look(bool negative, Index body) {
    return add({.kind = Kind::kLook, .negative = negative, .items = {body}});
  }

  Result<Index> disjunction(std::size_t depth) {
    std::vector<Index> items;
    do {
      DAYBREAK_TRY(const Index item, alternative(depth));
      items.push_back(item);
    } while (take("|"));
    return items.size() == 1 ? items[0] : add({.kind = Kind::kChoice, .items = items});
  }

  Result<Index> alternative(std::size_t depth) {
    std::vector<Index> items;
    while (!done() && !sees("|") && !sees(")")) {
      DAYBREAK_TRY(const Index item, term(depth));
      items.push_back(item);
    }
    return items.size() == 1 ? items[0] : add({.kind = Kind::kSequence, .items = items});
  }

  Result<Index> term(std::size_t depth) {
    const std::size_t begin = at_;
    DAYBREAK_TRY(const Index item, atom(depth));
    const Kind kind = ast_.nodes[item].kind;
    const bool assertion =
        !group_ && (kind == Kind::kBegin || kind == Kind::kLook || kind == Kind::kBoundary);
    const std::size_t at = at_;
    DAYBREAK_TRY(const std::optional<RegexQuantifier> quantifier, take_quantifier());
    if (!quantifier) {
      return item;
    }
    if (assertion) {
      return fail(at, "expected no quantifier after an assertion");
    }
    if (quantifier->min > quantifier->max) {
      return fail(begin, "expected a quantifier with its bounds in order");
    }
    take("?");  // lazy: the same language
    return add(
        {.kind = Kind::kRepeat, .min = quantifier->min, .max = quantifier->max, .items = {item}});
  }

  // Takes a quantifier if one is next.
  Result<std::optional<RegexQuantifier>> take_quantifier() {
    DAYBREAK_TRY(const auto quantifier, read_quantifier(text_, at_));
    at_ += quantifier ? quantifier->length : 0;
    return quantifier;
  }

  Result<Index> atom(std::size_t depth) {
    group_ = false;
    const std::size_t begin = at_;
    switch (text_[at_]) {
      case '^':
        ++at_;
        ast_.has_begin = true;
        return add({.kind = Kind::kBegin});
      case '$':
        ++at_;
        return add_look(true, add_set(CharSet::all()));
      case '.':
        ++at_;
        return add_set(dot_class());
      case '(':
        return group(depth);
      case '[':
        return char_class();
      case '\\':
        return escape();
      default:
        break;
    }
    DAYBREAK_TRY(const std::optional<RegexQuantifier> quantifier, take_quantifier());
    if (quantifier) {
      return fail(begin, "expected something to repeat before a quantifier");
    }
    const CodePoint code = valid_code_point(text_, at_);
    at_ += code.length;
    return add_char(code.value);
  }

  Result<Index> group(std::size_t depth) {
    const std::size_t begin = at_;
    if (depth >= kMaxRegexDepth) {
      return fail(begin,
                  "expected groups nested at most " + std::to_string(kMaxRegexDepth) + " deep");
    }
    ++at_;
    std::optional<bool> negative_look;
    if (take("?=")) {
      negative_look = false;
    } else if (take("?!")) {
      negative_look = true;
    } else if (sees("?<=") || sees("?<!")) {
      return unsupported(begin, "lookbehind (?<=...) and (?<!...)");
    } else if (sees("?<")) {
      at_ += 2;
      ++groups_;
      DAYBREAK_CHECK_OK(group_name());
    } else if (sees("?") && !take("?:")) {
      return unknown_group(begin);
    } else if (text_[at_ - 1] == '(') {
      ++groups_;
    }
    DAYBREAK_TRY(const Index body, disjunction(depth + 1));
    if (!take(")")) {
      return fail(begin, "expected a ')' for the group");
    }
    group_ = !negative_look.has_value();
    return negative_look ? add_look(*negative_look, body) : body;
  }

  [[nodiscard]] Error unknown_group(std::size_t begin) const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && std::string_view("ims-").find(text_[end]) != std::string::npos) {
      ++end;
    }
    if (end > at_ + 1 && end < text_.size() && (text_[end] == ':' || text_[end] == ')')) {
      return unsupported(
          begin, "flags within the pattern " + std::string(text_.substr(begin, end + 1 - begin)));
    }
    return fail(begin, "expected (?:, (?=, (?! or (?<name> after '('");
  }

  // Takes `name>`. Names mean nothing without backreferences and are not compared.
  Status group_name() {
    const std::size_t begin = at_;
    while (!done() && !sees(">")) {
      const CodePoint code = valid_code_point(text_, at_);
      const bool allowed = is_letter(code.value) || code.value == '_' || code.value == '$' ||
                           code.value >= 0x80 || (at_ > begin && is_digit(code.value));
      if (!allowed) {
        return fail(at_, "expected a group name of letters, digits, '_' and '$'");
      }
      at_ += code.length;
    }
    if (at_ == begin || !take(">")) {
      return fail(begin, "expected (?<name>");
    }
    return ok();
  }

  // Takes an escape outside a class.
  Result<Index> escape() {
    const std::size_t begin = at_;
    if (take("\\b") || take("\\B")) {
      ast_.has_boundary = true;
      const bool negative = text_[at_ - 1] == 'B';
      const Index word = add_set(word_class());
      return add({.kind = Kind::kBoundary, .negative = negative, .items = {word}});
    }
    if (at_ + 1 < text_.size() && text_[at_ + 1] >= '1' && text_[at_ + 1] <= '9') {
      take_reference();
      return add({});
    }
    if (sees("\\k<")) {
      return unsupported(begin, "named backreferences \\k<...>");
    }
    DAYBREAK_TRY(ClassAtom member, class_escape());
    return member.code ? add_char(*member.code) : add_set(std::move(member.set));
  }

  // Takes \1 and the like; whether there is such a group is known only at the end.
  void take_reference() {
    const std::size_t begin = at_++;
    std::size_t number = 0;
    for (; !done() && is_digit(static_cast<unsigned char>(text_[at_])); ++at_) {
      number = std::min<std::size_t>(number * 10 + static_cast<std::size_t>(text_[at_] - '0'),
                                     1'000'000'000);
    }
    if (number > reference_) {
      reference_ = number;
      reference_at_ = begin;
    }
  }

  // Takes an escape that stands for a code point or a set, which may stand in a class.
  Result<ClassAtom> class_escape() {
    const std::size_t begin = at_++;
    if (done()) {
      return fail(begin, "expected something after the last '\\'");
    }
    const CodePoint code = valid_code_point(text_, at_);
    at_ += code.length;
    switch (code.value) {
      case 'd':
      case 'D':
        return predefined(digit_class(), code.value == 'D');
      case 'w':
      case 'W':
        return predefined(word_class(), code.value == 'W');
      case 's':
      case 'S':
        return predefined(space_class(), code.value == 'S');
      case 'p':
      case 'P':
        return property(begin, code.value == 'P');
      case 'u':
        return unicode_escape(begin);
      default:
        return other_escape(begin, code.value);
    }
  }

  Result<ClassAtom> other_escape(std::size_t begin, std::uint32_t code) {
    if (code == '0' && (done() || !is_digit(static_cast<unsigned char>(text_[at_])))) {
      return ClassAtom{.code = 0};
    }
    if (code == 'c' && !done() && is_letter(static_cast<unsigned char>(text_[at_]))) {
      return ClassAtom{.code = static_cast<unsigned char>(text_[at_++]) & 31U};
    }
    constexpr std::string_view kControlLetters = "tnvfr";
    constexpr std::string_view kControls = "\t\n\v\f\r";
    if (code < 0x80) {
      const std::size_t control = kControlLetters.find(static_cast<char>(code));
      if (control != std::string_view::npos) {
        return ClassAtom{.code = static_cast<unsigned char>(kControls[control])};
      }
    }
    if (code == 'x') {
      if (const auto value = hex_digits(2)) {
        return ClassAtom{.code = *value};
      }
      return fail(begin, "expected two hexadecimal digits after \\x");
    }
    // ECMA-262 allows the syntax characters and '/'; people escape other punctuation too, and it
    // cannot mean anything else.
    if (code < 0x80 && code >= ' ' && !is_letter(code) && !is_digit(code)) {
      return ClassAtom{.code = code};
    }
    return fail(begin, "expected an escape of ECMA-262, found " +
                           std::string(text_.substr(begin, at_ - begin)));
  }

  // Takes exactly `count` hexadecimal digits, or nothing.
  std::optional<std::uint32_t> hex_digits(std::size_t count) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto digit = at_ + i < text_.size() ? hex_value(text_[at_ + i]) : std::nullopt;
      if (!digit) {
        return std::nullopt;
      }
      value = value * 16 + *digit;
    }
    at_ += count;
    return value;
  }

  // Takes what follows \u. A surrogate without its partner is in no string: the empty set.
  Result<ClassAtom> unicode_escape(std::size_t begin) {
    std::optional<std::uint32_t> code;
    if (take("{")) {
      std::uint32_t value = 0;
      const std::size_t first = at_;
      for (std::optional<std::uint32_t> digit; !done() && (digit = hex_value(text_[at_])); ++at_) {
        value = std::min(value * 16 + *digit, kMaxCodePoint + 1);
      }
      if (at_ == first || value > kMaxCodePoint || !take("}")) {
        return fail(begin, "expected a code point up to 10FFFF in \\u{...}");
      }
      code = value;
    } else {
      code = hex_digits(4);
      if (!code) {
        return fail(begin, "expected \\uHHHH or \\u{...}");
      }
      if (*code >= 0xD800 && *code <= 0xDBFF && sees("\\u")) {
        const std::size_t before = at_;
        at_ += 2;
        const auto low = hex_digits(4);
        if (low && *low >= 0xDC00 && *low <= 0xDFFF) {
          code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
        } else {
          at_ = before;
        }
      }
    }
    return ClassAtom{.code = code};
  }

  Result<ClassAtom> property(std::size_t begin, bool negative) {
    const std::size_t end = text_.find('}', at_);
    if (!take("{") || end == std::string_view::npos) {
      return fail(begin, "expected \\p{...}");
    }
    const std::string_view name = text_.substr(at_, end - at_);
    const CharSet* set = property_class(name);
    if (set == nullptr) {
      return unsupported(begin,
                         "the property " + std::string(text_.substr(begin, end + 1 - begin)));
    }
    DAYBREAK_CHECK_OK(budget_.spend(set->ranges().size(), "regular expression"));
    at_ = end + 1;
    return predefined(*set, negative);
  }

  Result<ClassAtom> class_atom() {
    if (take("\\b")) {
      return ClassAtom{.code = '\b'};
    }
    if (sees("\\")) {
      return class_escape();
    }
    const std::string_view inner = text_.substr(at_, text_.find(']', at_) - at_);
    if (inner.starts_with("[:") && inner.ends_with(':') && inner.size() > 3) {
      return fail(at_, "expected \\d, \\w or \\s; [:digit:] and the like are of another dialect");
    }
    const CodePoint code = valid_code_point(text_, at_);
    at_ += code.length;
    return ClassAtom{.code = code.value};
  }

  Result<Index> char_class() {
    const std::size_t begin = at_++;
    const bool negative = take("^");
    std::vector<CharRange> ranges;
    const auto append = [&ranges](const ClassAtom& member) {
      if (member.code) {
        ranges.push_back({*member.code, *member.code});
      }
      ranges.insert(ranges.end(), member.set.ranges().begin(), member.set.ranges().end());
    };
    while (!take("]")) {
      if (done()) {
        return fail(begin, "expected a ']' for the class");
      }
      const std::size_t at = at_;
      DAYBREAK_TRY(const ClassAtom low, class_atom());
      if (!sees("-") || sees("-]") || at_ + 1 == text_.size()) {
        append(low);
        continue;
      }
      ++at_;
      DAYBREAK_TRY(const ClassAtom high, class_atom());
      if (!low.code || !high.code) {  // [\w-.]: people mean the hyphen
        append(low);
        append({.code = '-'});
        append(high);
      } else if (*low.code > *high.code) {
        return fail(at, "expected a range with its ends in order");
      } else {
        ranges.push_back({*low.code, *high.code});
      }
    }
    const CharSet set(std::move(ranges));
    return add_set(negative ? set.complement() : set);
  }

  std::string_view text_;
  Budget& budget_;
  std::size_t at_ = 0;
  RegexAst ast_;
  std::unordered_map<std::uint32_t, std::uint32_t> chars_;  // code point -> set
  std::size_t groups_ = 0;
  std::size_t reference_ = 0;  // the highest backreference, 0: none
  std::size_t reference_at_ = 0;
  bool group_ =
      false;  // whether the last atom was a group, which may be repeated whatever it holds
};

}  // namespace

Result<RegexAst> parse_regex(std::string_view pattern, Budget& budget) {
  return RegexParser(pattern, budget).parse();
}

}  // namespace daybreak::grammar
