// SPDX-License-Identifier: Apache-2.0
#include "api/completion_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace daybreak::api {
namespace {

using chat::append_json_text;

// JSON has no infinities: the lowest value that clients expect stands for one.
void append_number(std::string& out, float value) {
  constexpr float kLowest = -9999.0F;
  std::array<char, 32> buffer{};
  char* const end = buffer.data() + buffer.size();
  const float shown = std::isfinite(value) ? value : kLowest;
  out.append(buffer.data(), std::to_chars(buffer.data(), end, shown).ptr);
}

// Appends [a,b,...], each item written by `write`.
template <class Items, class Write>
void append_array(std::string& out, const Items& items, const Write& write) {
  out += '[';
  bool first = true;
  for (const auto& item : items) {
    out += std::exchange(first, false) ? "" : ",";
    write(item);
  }
  out += ']';
}

void append_ids(std::string& out, std::span<const TokenId> ids) {
  append_array(out, ids, [&](TokenId id) { out += std::to_string(id); });
}

// {"name":logprob,...}: the token itself, which may not be among the alternatives, then these.
// Names are keys, so a second token of the same name gives way to the more probable one.
void append_alternatives(std::string& out, const ScoredToken& token, const TokenNames& names) {
  std::vector<std::pair<std::string, float>> entries;
  const auto add = [&](TokenId id, float logprob) {
    std::string name = names.name(id);
    if (std::ranges::find(entries, name, &std::pair<std::string, float>::first) == entries.end()) {
      entries.emplace_back(std::move(name), logprob);
    }
  };
  add(token.id, *token.logprob);
  for (const engine::TokenLogprob& other : token.top) {
    add(other.id, other.logprob);
  }
  out += '{';
  for (std::size_t i = 0; i < entries.size(); ++i) {
    out += i > 0 ? "," : "";
    append_json_text(out, entries[i].first);
    out += ':';
    append_number(out, entries[i].second);
  }
  out += '}';
}

void append_logprobs(std::string& out, const std::vector<ScoredToken>& tokens,
                     const TokenNames& names) {
  out += "{\"tokens\":";
  append_array(out, tokens,
               [&](const ScoredToken& token) { append_json_text(out, names.name(token.id)); });
  out += ",\"token_logprobs\":";
  append_array(out, tokens, [&](const ScoredToken& token) {
    token.logprob ? append_number(out, *token.logprob) : void(out += "null");
  });
  out += ",\"top_logprobs\":";
  append_array(out, tokens, [&](const ScoredToken& token) {
    token.logprob ? append_alternatives(out, token, names) : void(out += "null");
  });
  out += ",\"text_offset\":";
  append_array(out, tokens, [&](const ScoredToken& token) { out += std::to_string(token.offset); });
  out += '}';
}

void append_rated(std::string& out, TokenId id, float logprob, std::size_t rank,
                  const TokenNames& names) {
  out += '"' + std::to_string(id) + "\":{\"logprob\":";
  append_number(out, logprob);
  out += ",\"rank\":" + std::to_string(rank) + ",\"decoded_token\":";
  append_json_text(out, names.name(id));
  out += '}';
}

// [null,{"ID":{"logprob","rank","decoded_token"},...},...]: the id itself first.
void append_prompt_logprobs(std::string& out, const std::vector<engine::PromptLogprob>& prompt,
                            const TokenNames& names) {
  out += "[null";
  for (const engine::PromptLogprob& one : prompt) {
    out += ",{";
    append_rated(out, one.id, one.logprob, one.rank, names);
    for (std::size_t i = 0; i < one.top.size(); ++i) {
      if (one.top[i].id != one.id) {
        out += ',';
        append_rated(out, one.top[i].id, one.top[i].logprob, i + 1, names);
      }
    }
    out += '}';
  }
  out += ']';
}

// What a choice and a delta have in common, up to and without the closing brace.
std::string open_choice(std::size_t index, std::string_view text,
                        const std::vector<ScoredToken>& logprobs, std::string_view finish_reason,
                        const CompletionRequest& request, const TokenNames& names) {
  std::string out = fmt::format("{{\"index\":{},\"text\":", index);
  append_json_text(out, text);
  out += ",\"logprobs\":";
  if (request.logprobs) {
    append_logprobs(out, logprobs, names);
  } else {
    out += "null";
  }
  out += ",\"finish_reason\":";
  out += finish_reason.empty() ? "null" : fmt::format("\"{}\"", finish_reason);
  return out;
}

void append_token_ids(std::string& out, std::span<const TokenId> prompt,
                      std::span<const TokenId> ids) {
  if (!prompt.empty()) {
    out += ",\"prompt_token_ids\":";
    append_ids(out, prompt);
  }
  out += ",\"token_ids\":";
  append_ids(out, ids);
}

}  // namespace

std::string TokenNames::name(TokenId id) const {
  if (as_ids) {
    return "token_id:" + std::to_string(id);
  }
  const std::string_view bytes = tokenizer.bytes_of(id);
  if (is_valid_utf8(bytes)) {
    return std::string(bytes);
  }
  std::string out = "bytes:";
  for (const char byte : bytes) {
    out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return out;
}

std::string completion_choice_json(std::size_t index, const TextAnswer& answer,
                                   std::span<const TokenId> prompt,
                                   const CompletionRequest& request, const TokenNames& names) {
  std::string out =
      open_choice(index, answer.text, answer.logprobs, answer.finish_reason, request, names);
  if (request.prompt_logprobs) {
    out += ",\"prompt_logprobs\":";
    append_prompt_logprobs(out, answer.prompt_logprobs, names);
  }
  if (request.return_token_ids) {
    append_token_ids(out, prompt, answer.ids);
  }
  return out + "}";
}

std::string completion_delta_json(std::size_t index, const TextDelta& delta,
                                  std::span<const TokenId> prompt, const CompletionRequest& request,
                                  const TokenNames& names) {
  std::string out =
      open_choice(index, delta.text, delta.logprobs, delta.finish_reason, request, names);
  if (request.return_token_ids) {
    append_token_ids(out, prompt, delta.ids);
  }
  return out + "}";
}

std::string completion_json(const chat::ReplyHead& head, std::string_view choices,
                            const chat::TokenUsage* usage) {
  std::string out = "{\"id\":";
  append_json_text(out, head.id);
  out += ",\"object\":\"text_completion\",\"created\":" + std::to_string(head.created);
  out += ",\"model\":";
  append_json_text(out, head.model);
  out += ",\"choices\":[";
  out += choices;
  out += ']';
  if (usage != nullptr) {
    out += ",\"usage\":" + chat::usage_json(*usage);
  }
  return out + "}";
}

}  // namespace daybreak::api
