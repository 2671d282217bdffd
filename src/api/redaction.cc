// SPDX-License-Identifier: Apache-2.0
#include "api/redaction.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/json_tree.h"
#include "base/result.h"
#include "chat/response_json.h"

namespace daybreak::api {
namespace {

constexpr std::size_t kMaxLocalPart = 64;  // RFC 5321
constexpr std::size_t kMaxDomain = 255;
constexpr std::size_t kMinCard = 13;
constexpr std::size_t kMaxCard = 19;
constexpr std::size_t kMinPhone = 8;
constexpr std::size_t kMaxPhone = 15;  // E.164
constexpr int kMaxJsonInStrings = 4;   // JSON in a string in JSON ...
// What a server has accepted is not refused here.
constexpr JsonTreeLimits kLimits = {.max_depth = 256, .max_values = 16'000'000};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_high(char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; }
bool is_token(char c) { return is_word(c) || c == '-'; }
bool is_bearer(char c) { return is_token(c) || std::string_view("._~+/=").find(c) < 6; }
bool is_local(char c) {
  return is_word(c) || is_high(c) ||
         std::string_view(".!#$%&'*+-/=?^`{|}~").find(c) != std::string_view::npos;
}
bool is_domain(char c) { return is_digit(c) || is_letter(c) || is_high(c) || c == '-'; }

struct Found {
  std::size_t size;  // bytes from where it was looked for
  std::string_view as;
};

template <class Is>
std::size_t run_length(std::string_view text, Is is) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is) - text.begin());
}

// How issuers begin their secrets, and how much must follow.
struct SecretForm {
  std::string_view start;
  std::size_t least;
};
constexpr std::array kSecretForms = {
    SecretForm{"sk-", 16},    SecretForm{"pk-", 16},   SecretForm{"rk-", 16},
    SecretForm{"sk_", 16},    SecretForm{"pk_", 16},   SecretForm{"rk_", 16},
    SecretForm{"ghp_", 20},   SecretForm{"gho_", 20},  SecretForm{"ghu_", 20},
    SecretForm{"ghs_", 20},   SecretForm{"ghr_", 20},  SecretForm{"github_pat_", 20},
    SecretForm{"glpat-", 16}, SecretForm{"hf_", 20},   SecretForm{"AKIA", 16},
    SecretForm{"ASIA", 16},   SecretForm{"AIza", 30},  SecretForm{"xoxa-", 10},
    SecretForm{"xoxb-", 10},  SecretForm{"xoxp-", 10}, SecretForm{"xoxr-", 10},
    SecretForm{"xoxs-", 10},  SecretForm{"npm_", 20},  SecretForm{"pypi-", 16}};

std::optional<Found> find_private_key(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kEnd = "-----END ";
  if (!text.starts_with(kBegin)) {
    return std::nullopt;
  }
  const std::string_view title = text.substr(0, std::min<std::size_t>(text.size(), 64));
  if (title.find("PRIVATE KEY-----") == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t end = text.find(kEnd, kBegin.size());
  if (end == std::string_view::npos) {
    return Found{text.size(), "[secret]"};  // cut, but still a key
  }
  const std::size_t close = text.find("-----", end + kEnd.size());
  return Found{close == std::string_view::npos ? text.size() : close + 5, "[secret]"};
}

// A JSON web token: three runs of base64url, the first a JSON object.
std::optional<Found> find_web_token(std::string_view text) {
  if (!text.starts_with("eyJ")) {
    return std::nullopt;
  }
  std::size_t at = 0;
  for (int part = 0; part < 3; ++part) {
    const std::size_t size = run_length(text.substr(at), is_token);
    at += size;
    if (size < (part == 2 ? 1 : 4)) {
      return std::nullopt;
    }
    if (part < 2 && (at >= text.size() || text[at++] != '.')) {
      return std::nullopt;
    }
  }
  return Found{at, "[secret]"};
}

std::optional<Found> find_secret(std::string_view text) {
  if (auto key = find_private_key(text)) {
    return key;
  }
  for (const SecretForm& form : kSecretForms) {
    if (text.starts_with(form.start)) {
      const std::size_t more = run_length(text.substr(form.start.size()), is_token);
      if (more >= form.least) {
        return Found{form.start.size() + more, "[secret]"};
      }
    }
  }
  constexpr std::string_view kBearer = "Bearer ";
  constexpr std::string_view kLower = "bearer ";  // as the names of schemes may be written
  if (text.starts_with(kBearer) || text.starts_with(kLower)) {
    std::size_t more = run_length(text.substr(kBearer.size()), is_bearer);
    while (more > 0 && text[kBearer.size() + more - 1] == '.') {
      --more;  // the end of a sentence
    }
    if (more >= 16) {
      return Found{kBearer.size() + more, "[secret]"};
    }
  }
  return std::nullopt;
}

// The bytes of the space or hyphen, of ASCII or one that texts are set with, at the start; or 0.
std::size_t gap_length(std::string_view text) {
  if (text.starts_with(' ') || text.starts_with('-')) {
    return 1;
  }
  if (text.starts_with("\xC2\xA0")) {  // U+00A0
    return 2;
  }
  if (text.size() < 3 || !text.starts_with("\xE2\x80")) {
    return 0;
  }
  const auto last = static_cast<unsigned char>(text[2]);
  const bool space = last <= 0x8A || last == 0xAF;   // U+2000 to U+200A, U+202F
  const bool hyphen = last >= 0x90 && last <= 0x93;  // U+2010 to U+2013
  return space || hyphen ? 3 : 0;
}

// The bytes of at most `most` gaps or `others` at the start.
std::size_t separator_length(std::string_view text, std::string_view others, std::size_t most) {
  std::size_t size = 0;
  for (; most > 0 && size < text.size(); --most) {
    const bool other = others.find(text[size]) != std::string_view::npos;
    const std::size_t one = other ? 1 : gap_length(text.substr(size));
    if (one == 0) {
      break;
    }
    size += one;
  }
  return size;
}

struct Group {
  std::size_t begin;  // offsets
  std::size_t end;
};

// Groups of digits with 1 to `most_between` gaps or `others` between them, from text[0] on.
std::vector<Group> digit_groups(std::string_view text, std::string_view others,
                                std::size_t most_between) {
  std::vector<Group> groups;
  // More groups than a card has digits are never looked at.
  for (std::size_t at = 0; groups.size() < 2 * kMaxCard;) {
    const std::size_t size = run_length(text.substr(at), is_digit);
    if (size == 0) {
      break;
    }
    groups.push_back({at, at + size});
    at += size;
    const std::size_t between = separator_length(text.substr(at), others, most_between);
    if (between == 0) {
      break;
    }
    at += between;
  }
  return groups;
}

bool luhn(std::string_view digits) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto digit = static_cast<unsigned>(digits[digits.size() - 1 - i] - '0');
    const unsigned twice = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += i % 2 == 1 ? twice : digit;
  }
  return sum % 10 == 0;
}

// The longest card that begins here.
std::optional<Found> find_card(std::string_view text) {
  std::optional<Found> card;
  std::string digits;
  for (const Group& group : digit_groups(text, "", 1)) {
    digits += text.substr(group.begin, group.end - group.begin);
    if (digits.size() > kMaxCard) {
      break;
    }
    if (digits.size() >= kMinCard && luhn(digits) &&
        digits.find_first_not_of('0') != std::string::npos) {
      card = Found{group.end, "[card]"};
    }
  }
  return card;
}

std::optional<Found> find_phone(std::string_view text) {
  constexpr std::string_view kBetween = ".()/";
  if (text.starts_with('+')) {
    // As many groups as a number can have digits: what follows is something else.
    const std::size_t start = 1 + separator_length(text.substr(1), kBetween, 3);
    std::size_t digits = 0;
    std::size_t end = 0;
    for (const Group& group : digit_groups(text.substr(start), kBetween, 3)) {
      if (digits + group.end - group.begin > kMaxPhone) {
        break;
      }
      digits += group.end - group.begin;
      end = start + group.end;
    }
    return digits >= kMinPhone ? std::optional(Found{end, "[phone]"}) : std::nullopt;
  }
  const std::size_t open = text.starts_with('(') ? 1 : 0;
  const std::vector<Group> groups = digit_groups(text.substr(open), open > 0 ? ")." : ".", 2);
  constexpr std::array<std::size_t, 3> kSizes = {3, 3, 4};
  if (groups.size() < kSizes.size()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    if (groups[i].end - groups[i].begin != kSizes[i]) {
      return std::nullopt;
    }
  }
  return Found{open + groups[2].end, "[phone]"};
}

// The length of what follows an @ if that can be a domain, else 0.
std::size_t domain_length(std::string_view text) {
  std::size_t end = 0;
  std::size_t labels = 0;
  for (std::size_t at = 0; at < std::min(text.size(), kMaxDomain);) {
    const std::size_t size = run_length(text.substr(at), is_domain);
    if (size == 0) {
      break;
    }
    ++labels;
    end = at + size;
    if (end >= text.size() || text[end] != '.') {
      break;
    }
    at = end + 1;
  }
  return labels >= 2 ? end : 0;
}

std::optional<Found> find_data_url(std::string_view text) {
  constexpr std::string_view kData = "data:";
  if (!text.starts_with(kData)) {
    return std::nullopt;
  }
  const std::size_t comma = text.substr(0, 128).find(";base64,");
  if (comma == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t start = comma + 8;
  return Found{start + run_length(text.substr(start), is_bearer), ""};
}

class Redactor {
 public:
  explicit Redactor(std::string_view text) : text_(text) { out_.reserve(text.size()); }

  std::string run() {
    while (at_ < text_.size()) {
      step();
    }
    return std::move(out_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '@' && email()) {
      return;
    }
    if (at_ == 0 || !is_word(text_[at_ - 1]) || after_escape()) {
      if (const auto found = find(c)) {
        return replace(*found);
      }
    }
    out_ += c;
    ++at_;
  }

  // What begins at this byte, which is no part of a word that began before.
  [[nodiscard]] std::optional<Found> find(char c) const {
    const std::string_view rest = text_.substr(at_);
    std::optional<Found> found;
    if (c == 'd') {
      found = find_data_url(rest);
    } else if (is_letter(c) || c == '-') {
      found = find_secret(rest);
      // Only at the start of its first run: else every run would be read from each of its hyphens.
      if (!found && (at_ == 0 || text_[at_ - 1] != '-')) {
        found = find_web_token(rest);
      }
    } else if (is_digit(c)) {
      found = find_card(rest);
    }
    if (!found && (is_digit(c) || c == '+' || c == '(')) {
      found = find_phone(rest);
    }
    const bool cut = found && found->size < rest.size() && is_word(rest[found->size]) &&
                     is_word(rest[found->size - 1]);
    return cut ? std::nullopt : found;
  }

  // Whether a JSON escape such as \n or \u0020 ends here: its letters are no part of a word.
  [[nodiscard]] bool after_escape() const {
    const std::string_view before = text_.substr(0, at_);
    const auto escape = [&](std::size_t size) {
      return before.substr(before.size() - std::min(before.size(), size));
    };
    const std::string_view one = escape(2);
    const std::string_view code = escape(6);
    return (one.starts_with('\\') && std::string_view("bfnrt").find(one.back()) < 5) ||
           (code.starts_with("\\u") && code.size() == 6 &&
            std::ranges::all_of(code.substr(2), is_hex));
  }

  void replace(const Found& found) {
    out_ += found.as.empty() ? "[data " + std::to_string(found.size) + " bytes]"
                             : std::string(found.as);
    at_ += found.size;
    verbatim_from_ = out_.size();
  }

  // At an @: the local part has been written already and is taken back.
  bool email() {
    const std::size_t domain = domain_length(text_.substr(at_ + 1));
    std::size_t begin = out_.size();
    const std::size_t least =
        std::max(verbatim_from_, out_.size() > kMaxLocalPart ? out_.size() - kMaxLocalPart : 0);
    while (begin > least && is_local(out_[begin - 1])) {
      --begin;
    }
    if (domain == 0 || begin == out_.size()) {
      return false;
    }
    out_.resize(begin);
    replace({.size = 1 + domain, .as = "[email]"});
    return true;
  }

  std::string_view text_;
  std::string out_;
  std::size_t at_ = 0;
  std::size_t verbatim_from_ = 0;  // of out_: what follows has been copied from the text
};

void append_redacted(std::string& out, const JsonNode& node, int in_strings);

// A string that is JSON itself stays such a string.
void append_string(std::string& out, std::string_view text, int in_strings) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const char first = start == std::string_view::npos ? '\0' : text[start];
  if (in_strings < kMaxJsonInStrings && (first == '{' || first == '[')) {
    if (const auto inner = parse_json_tree(text, kLimits)) {
      std::string redacted;
      append_redacted(redacted, *inner, in_strings + 1);
      return chat::append_json_text(out, redacted);
    }
  }
  chat::append_json_text(out, redact(text));
}

void append_redacted(std::string& out, const JsonNode& node, int in_strings) {
  using Kind = JsonNode::Kind;
  if (node.is(Kind::kString)) {
    return append_string(out, node.text, in_strings);
  }
  if (node.is(Kind::kNumber)) {
    const std::string redacted = redact(node.raw);
    return redacted == node.raw ? static_cast<void>(out += redacted)
                                : chat::append_json_text(out, redacted);
  }
  if (!node.is(Kind::kArray) && !node.is(Kind::kObject)) {
    out += node.raw;
    return;
  }
  const bool object = node.is(Kind::kObject);
  out += object ? '{' : '[';
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    out += i > 0 ? "," : "";
    if (object) {
      append_string(out, node.keys[i], in_strings);
      out += ':';
    }
    append_redacted(out, node.items[i], in_strings);
  }
  out += object ? '}' : ']';
}

}  // namespace

std::string redact(std::string_view text) { return Redactor(text).run(); }

std::string redact_json(std::string_view json) {
  std::string out;
  if (const auto tree = parse_json_tree(json, kLimits)) {
    append_redacted(out, *tree, 0);
  } else {
    chat::append_json_text(out, "[unreadable " + std::to_string(json.size()) + " bytes]");
  }
  return out;
}

}  // namespace daybreak::api
