// SPDX-License-Identifier: Apache-2.0
#include "grammar/json_spelling.h"

#include <algorithm>

#include "base/utf8.h"
#include "grammar/random_text.h"

namespace daybreak::grammar {
namespace {

void append_unit(std::string& out, std::uint32_t unit, Rng& rng) {
  constexpr std::string_view kLower = "0123456789abcdef";
  constexpr std::string_view kUpper = "0123456789ABCDEF";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) {
    out += (chance(rng, 50) ? kLower : kUpper)[(unit >> shift) & 0xF];
  }
}

void append_escape(std::string& out, std::uint32_t point, Rng& rng) {
  if (point == '/' && chance(rng, 50)) {
    out += "\\/";
  } else if (point < 0x10000) {
    append_unit(out, point, rng);
  } else {
    append_unit(out, 0xD800 + ((point - 0x10000) >> 10), rng);
    append_unit(out, 0xDC00 + ((point - 0x10000) & 0x3FF), rng);
  }
}

// Writes a tree; without an Rng plainly.
class Writer {
 public:
  Writer(Rng* rng, std::uint32_t percent) : rng_(rng), percent_(percent) {}

  void write(const JsonNode& node) {
    switch (node.kind) {
      case JsonNode::Kind::kNull:
      case JsonNode::Kind::kBoolean:
      case JsonNode::Kind::kNumber:
        out += node.raw;
        break;
      case JsonNode::Kind::kString:
        write(node.text);
        break;
      case JsonNode::Kind::kArray:
        write_items(node, '[', ']');
        break;
      case JsonNode::Kind::kObject:
        write_items(node, '{', '}');
        break;
    }
  }

  std::string out;

 private:
  void write(const std::string& text) {
    if (rng_ == nullptr) {
      out += json_quoted(text);
      return;
    }
    out += '"';
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint point = valid_code_point(text, at);
      if (chance(*rng_, percent_)) {
        append_escape(out, point.value, *rng_);
      } else {
        append_json_escaped(out, std::string_view(text).substr(at, point.length));
      }
      at += point.length;
    }
    out += '"';
  }

  // Recursion is bounded by the depth parse_json_tree allows.
  void write_items(const JsonNode& node, char open, char close) {
    out += open;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      if (i > 0) {
        out += ',';
      }
      if (node.kind == JsonNode::Kind::kObject) {
        write(node.keys[i]);
        out += ':';
      }
      write(node.items[i]);
    }
    out += close;
  }

  Rng* rng_;
  std::uint32_t percent_;
};

}  // namespace

std::string compact_json(const JsonNode& node) {
  Writer writer(nullptr, 0);
  writer.write(node);
  return std::move(writer.out);
}

std::string respell(std::string_view text, Rng& rng, std::uint32_t percent) {
  const auto tree = parse_json_tree(text);
  if (!tree) {
    return std::string(text);
  }
  Writer writer(&rng, percent);
  writer.write(*tree);
  return std::move(writer.out);
}

std::optional<std::vector<TokenId>> random_tokens(std::string_view text, const TokenTrie& trie,
                                                  Rng& rng) {
  struct Step {
    TokenId id;
    std::size_t end;
  };
  // From every place, the tokens after which the rest can be written too.
  std::vector<std::vector<Step>> steps(text.size());
  for (std::size_t begin = text.size(); begin-- > 0;) {
    TokenTrie::Node node = TokenTrie::kRoot;
    for (std::size_t at = begin; at < text.size(); ++at) {
      node = trie.child(node, static_cast<std::uint8_t>(text[at]));
      if (node == TokenTrie::kRoot) {
        break;
      }
      if (at + 1 == text.size() || !steps[at + 1].empty()) {
        for (TokenId id = trie.token(node); id != TokenTrie::kNoToken; id = trie.same_bytes(id)) {
          steps[begin].push_back({id, at + 1});
        }
      }
    }
  }
  std::vector<TokenId> out;
  for (std::size_t at = 0; at < text.size();) {
    if (steps[at].empty()) {
      return std::nullopt;
    }
    const Step& step = chance(rng, 30) ? steps[at].back() : pick(rng, steps[at]);
    out.push_back(step.id);
    at = step.end;
  }
  return out;
}

bool has_duplicate_keys(const JsonNode& node) {
  return node.duplicate != JsonNode::kNoDuplicate ||
         std::ranges::any_of(node.items, has_duplicate_keys);
}

}  // namespace daybreak::grammar
