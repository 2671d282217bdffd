// SPDX-License-Identifier: Apache-2.0
#include "api/redaction.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "api/secret_forms.h"
#include "api/text_scan.h"
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

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_high(char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; }
bool is_local(char c) {
  return is_word(c) || is_high(c) ||
         std::string_view(".!#$%&'*+-/=?^`{|}~").find(c) != std::string_view::npos;
}
bool is_domain(char c) { return is_digit(c) || is_letter(c) || is_high(c) || c == '-'; }

struct Found {
  std::size_t size;  // bytes from where it was looked for
  std::string_view as;
};

std::optional<Found> as_secret(std::optional<std::size_t> size) {
  return size ? std::optional(Found{*size, "[secret]"}) : std::nullopt;
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

// The longest card that begins here, in groups of `least` to `most` digits but for the last.
std::optional<Found> find_card(std::string_view text, std::string_view others, std::size_t least,
                               std::size_t most) {
  std::optional<Found> card;
  std::string digits;
  std::size_t shortest = kMaxCard;  // of the groups before
  for (const Group& group : digit_groups(text, others, 1)) {
    const std::size_t size = group.end - group.begin;
    if (size > most || shortest < least) {
      break;
    }
    shortest = std::min(shortest, size);
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

std::optional<Found> find_card(std::string_view text) {
  if (const auto card = find_card(text, "", 1, kMaxCard)) {
    return card;
  }
  // As decimal points, versions and paths have too: only as cards are printed.
  return find_card(text, "._/", 4, 6);
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
    if (const auto size = c == ':' ? user_info_length(text_.substr(at_)) : std::nullopt) {
      return replace({.size = *size, .as = "://[secret]"});
    }
    // Names of settings end in an underscore: my_key_sk-...
    if (at_ > 0 && text_[at_ - 1] == '_' && is_letter(c)) {
      if (const auto found = as_secret(secret_length(text_.substr(at_)))) {
        return replace(*found);
      }
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
      found = as_secret(secret_length(rest));
      // Only at the start of its first run: else every run would be read from each of its hyphens.
      if (!found && (at_ == 0 || text_[at_ - 1] != '-')) {
        found = as_secret(web_token_length(rest));
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

// `node` is used up.
void append_redacted(std::string& out, JsonNode& node, int in_strings);

using Kind = JsonNode::Kind;

JsonNode* member(JsonNode& node, std::string_view key) {
  const auto found = std::ranges::find(node.keys, key);
  return found == node.keys.end()
             ? nullptr
             : &node.items[static_cast<std::size_t>(found - node.keys.begin())];
}

// Returns the text of a part of a message, if `node` is one: {"type":"text","text":"..."}, or
// input_text and the like, as the protocols name them.
std::string* text_of_part(JsonNode& node) {
  JsonNode* const type = member(node, "type");
  JsonNode* const text = member(node, "text");
  const bool is_part =
      type != nullptr && text != nullptr && text->is(Kind::kString) && type->text.ends_with("text");
  return is_part ? &text->text : nullptr;
}

// Puts text into one part that is spread over several, where that hides something: the model reads
// parts that follow one another as one text.
void join_parts(std::vector<JsonNode>& items) {
  for (std::size_t begin = 0; begin < items.size(); ++begin) {
    std::vector<std::string*> texts;
    std::string joined;
    std::string apart;
    for (; begin < items.size() && text_of_part(items[begin]) != nullptr; ++begin) {
      texts.push_back(text_of_part(items[begin]));
      joined += *texts.back();
      apart += redact(*texts.back());
    }
    if (texts.size() > 1 && redact(joined) != apart) {
      std::ranges::for_each(texts, [](std::string* text) { text->clear(); });
      *texts.front() = std::move(joined);
    }
  }
}

// Token ids are text to whoever has the vocabulary.
void count_ids(JsonNode& prompt) {
  const bool ids =
      prompt.is(Kind::kArray) && !prompt.items.empty() &&
      std::ranges::all_of(prompt.items, [](const JsonNode& id) { return id.is(Kind::kNumber); });
  if (ids) {
    prompt.text = "[" + std::to_string(prompt.items.size()) + " token ids]";
    prompt.kind = Kind::kString;
  } else if (prompt.is(Kind::kArray)) {
    std::ranges::for_each(prompt.items, count_ids);
  }
}

// A string that is JSON itself stays such a string.
void append_string(std::string& out, std::string_view text, int in_strings) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const char first = start == std::string_view::npos ? '\0' : text[start];
  if (in_strings < kMaxJsonInStrings && (first == '{' || first == '[')) {
    if (auto inner = parse_json_tree(text, kLimits)) {
      std::string redacted;
      append_redacted(redacted, *inner, in_strings + 1);
      return chat::append_json_text(out, redacted);
    }
  }
  chat::append_json_text(out, redact(text));
}

void append_redacted(std::string& out, JsonNode& node, int in_strings) {
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
  if (!object) {
    join_parts(node.items);
  }
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

std::string redact_tree(Result<JsonNode> tree, std::size_t bytes) {
  std::string out;
  if (tree) {
    append_redacted(out, *tree, 0);
  } else {
    chat::append_json_text(out, "[unreadable " + std::to_string(bytes) + " bytes]");
  }
  return out;
}

}  // namespace

std::string redact(std::string_view text) { return Redactor(text).run(); }

std::string redact_json(std::string_view json) {
  return redact_tree(parse_json_tree(json, kLimits), json.size());
}

std::string redact_request(std::string_view json) {
  auto tree = parse_json_tree(json, kLimits);
  if (JsonNode* const prompt = tree ? member(*tree, "prompt") : nullptr) {
    count_ids(*prompt);
  }
  return redact_tree(std::move(tree), json.size());
}

}  // namespace daybreak::api
