// SPDX-License-Identifier: Apache-2.0
#include "exam/format_check.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_document.h"
#include "base/result.h"
#include "chat/markers.h"

namespace daybreak::exam {
namespace {

using Attributes = std::map<std::string, std::string>;

std::string unescaped(std::string text) {
  for (const auto& [escape, meaning] : {std::pair("&quot;", "\""), std::pair("&amp;", "&")}) {
    const std::string_view from = escape;
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; ++at) {
      text.replace(at, from.size(), meaning);
    }
  }
  return text;
}

// Attributes as ` key="value"`, one after the other. Nothing if they are not.
std::optional<Attributes> attributes_of(std::string_view text) {
  Attributes out;
  while (!text.empty()) {
    const std::size_t begin = text.find("=\"");
    const std::size_t end = begin == text.npos ? text.npos : text.find('"', begin + 2);
    if (end == text.npos || begin < 2 || text.front() != ' ') {
      return std::nullopt;
    }
    out[std::string(text.substr(1, begin - 1))] =
        unescaped(std::string(text.substr(begin + 2, end - begin - 2)));
    text.remove_prefix(end + 1);
  }
  return out;
}

bool has_type(const std::string& text, const std::string& type) {
  if (type == "string") {
    return true;
  }
  const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  return (type == "boolean" && value.is_boolean()) || (type == "number" && value.is_number()) ||
         (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
         (type == "null" && value.is_null());
}

// Walks over the ids. Behind their end it goes on along the shortest end of the answer and counts
// the ids of that.
class Walk {
 public:
  Walk(const tokenizer::Tokenizer& tokenizer, const chat::MarkerIds& markers,
       std::span<const TokenId> ids)
      : tokenizer_(tokenizer), markers_(markers), ids_(ids) {}

  Status message(Thinking thinking) {
    if (thinking == Thinking::kOn) {
      text();
      DAYBREAK_CHECK_OK(close("think"));
      DAYBREAK_CHECK_OK(open_plain("response"));
    }
    text();
    DAYBREAK_CHECK_OK(close("response"));
    if (next_is(markers_.open)) {
      DAYBREAK_CHECK_OK(open_plain("tools"));
      DAYBREAK_CHECK_OK(calls());
      DAYBREAK_CHECK_OK(close("tools"));
    }
    DAYBREAK_CHECK_OK(close("message"));
    DAYBREAK_CHECK_OK(mark(markers_.end_of_msg, "the end of the message"));
    return at_ == ids_.size() ? ok() : Status(fault("nothing behind the end"));
  }

  [[nodiscard]] std::size_t missing() const { return missing_; }

 private:
  [[nodiscard]] Error fault(std::string_view expected) const {
    return {Errc::kCorrupt, fmt::format("id {}: expected {}", at_, expected)};
  }
  [[nodiscard]] bool at_end() const { return at_ == ids_.size(); }
  [[nodiscard]] bool next_is(TokenId id) const { return !at_end() && ids_[at_] == id; }

  std::string text() {
    const std::size_t begin = at_;
    while (!at_end() && !tokenizer_.is_special(ids_[at_])) {
      ++at_;
    }
    return tokenizer_.decode_bytes(ids_.subspan(begin, at_ - begin));
  }

  Status mark(TokenId id, std::string_view name) {
    if (at_end()) {
      ++missing_;
      return ok();
    }
    return ids_[at_++] == id ? ok() : Status(fault(name));
  }

  Status close(std::string_view tag) {
    DAYBREAK_CHECK_OK(mark(markers_.close, "a closing marker"));
    DAYBREAK_CHECK_OK(exact(tag));
    return mark(markers_.sep, "a separator");
  }

  Status open_plain(std::string_view tag) {
    DAYBREAK_CHECK_OK(mark(markers_.open, "an opening marker"));
    DAYBREAK_CHECK_OK(exact(tag));
    return mark(markers_.sep, "a separator");
  }

  Status exact(std::string_view tag) {
    if (at_end()) {
      std::vector<TokenId> ids;
      tokenizer_.encode(tag, tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOn, ids);
      missing_ += ids.size();
      return ok();
    }
    const std::string found = text();
    return found == tag ? ok()
                        : Status(fault(fmt::format("{}, found {}", tag, printable(found, 40))));
  }

  Result<Attributes> open(std::string_view tag) {
    DAYBREAK_CHECK_OK(mark(markers_.open, "an opening marker"));
    const std::string head = text();
    DAYBREAK_CHECK_OK(mark(markers_.sep, "a separator"));
    std::optional<Attributes> attributes;
    if (head.starts_with(tag)) {
      attributes = attributes_of(std::string_view(head).substr(tag.size()));
    }
    return attributes ? Result<Attributes>(*std::move(attributes))
                      : fault(fmt::format("{}, found {}", tag, printable(head, 40)));
  }

  Status calls() {
    for (std::size_t number = 1; next_is(markers_.open); ++number) {
      DAYBREAK_TRY(const Attributes head, open("call"));
      if (!head.contains("tool") || !head.contains("index") ||
          head.at("index") != std::to_string(number)) {
        return fault(fmt::format("a tool and index {} of a call", number));
      }
      while (next_is(markers_.open)) {
        DAYBREAK_CHECK_OK(argument());
      }
      DAYBREAK_CHECK_OK(close("call"));
    }
    return ok();
  }

  Status argument() {
    DAYBREAK_TRY(const Attributes head, open("argument"));
    const std::string value = text();
    DAYBREAK_CHECK_OK(close("argument"));
    if (!head.contains("key") || !head.contains("type") || !has_type(value, head.at("type"))) {
      return fault("an argument with a key, and a value of its type");
    }
    return ok();
  }

  const tokenizer::Tokenizer& tokenizer_;
  const chat::MarkerIds& markers_;
  const std::span<const TokenId> ids_;
  std::size_t at_ = 0;
  std::size_t missing_ = 0;
};

}  // namespace

std::string format_fault(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids,
                         std::size_t total, Thinking thinking) {
  const auto markers = chat::MarkerIds::from(tokenizer);
  if (!markers) {
    return markers.error().message;
  }
  for (const TokenId id : ids) {
    if (id >= tokenizer.vocab_size()) {
      return fmt::format("id {}: expected one below {}", id, tokenizer.vocab_size());
    }
  }
  Walk walk(tokenizer, *markers, ids);
  if (const Status status = walk.message(thinking); !status) {
    return status.error().message;
  }
  return ids.size() + walk.missing() == total ? ""
                                              : fmt::format("expected {} ids to the end, found {}",
                                                            ids.size() + walk.missing(), total);
}

}  // namespace daybreak::exam
