// SPDX-License-Identifier: Apache-2.0
#include "chat/request_sampling.h"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "base/json_document.h"

namespace daybreak::chat {
namespace {

// A real-valued option with its allowed range.
struct RealOption {
  std::string_view key;
  double SamplingOptions::* value;
  double min;
  double max;
};

constexpr double kTiny = std::numeric_limits<double>::min();  // "greater than zero"
constexpr std::array<RealOption, 7> kReals = {{
    {"temperature", &SamplingOptions::temperature, 0, 2},
    {"top_p", &SamplingOptions::top_p, kTiny, 1},
    {"min_p", &SamplingOptions::min_p, 0, 1},
    {"typical_p", &SamplingOptions::typical_p, kTiny, 1},
    {"repetition_penalty", &SamplingOptions::repetition_penalty, 0.01, 10},
    {"presence_penalty", &SamplingOptions::presence_penalty, -2, 2},
    {"frequency_penalty", &SamplingOptions::frequency_penalty, -2, 2},
}};

std::uint64_t max_token_id(const ChatLimits& limits) {
  return limits.vocab_size > 0 ? limits.vocab_size - 1 : std::numeric_limits<TokenId>::max();
}

Status read_reals(const Field& root, SamplingOptions& options) {
  for (const RealOption& option : kReals) {
    if (const auto field = root.find(option.key)) {
      DAYBREAK_TRY(const double value,
                   field->number(option.min == kTiny ? 0 : option.min, option.max));
      if (value < option.min) {
        return field->expected("a number above 0 and at most 1");
      }
      options.*option.value = value;
    }
  }
  return ok();
}

Status read_logit_bias(const Field& field, const ChatLimits& limits, SamplingOptions& options) {
  DAYBREAK_CHECK_OK(field.object());
  const JsonNode& node = field.node();
  if (node.keys.size() > limits.max_logit_bias) {
    return field.wrong("expected at most " + std::to_string(limits.max_logit_bias) +
                       " entries, found " + std::to_string(node.keys.size()));
  }
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& key = node.keys[i];
    std::uint64_t id = 0;
    const auto [end, fault] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (fault != std::errc{} || end != key.data() + key.size() || id > max_token_id(limits)) {
      return field.wrong("expected token ids from 0 to " + std::to_string(max_token_id(limits)) +
                         " as keys, found '" + printable(key) + "'");
    }
    DAYBREAK_TRY(const double bias, Field(node.items[i], field.path_of(key)).number(-100, 100));
    options.logit_bias.emplace_back(static_cast<TokenId>(id), static_cast<float>(bias));
  }
  return ok();
}

Status read_stop(const Field& field, const ChatLimits& limits, SamplingOptions& options) {
  std::vector<Field> items{field};
  if (!field.is(JsonNode::Kind::kString)) {
    if (!field.is(JsonNode::Kind::kArray)) {
      return field.expected("a string or an array of strings");
    }
    DAYBREAK_TRY(items, field.array(limits.max_stop_strings));
  }
  for (const Field& item : items) {
    DAYBREAK_TRY(std::string text, item.string(limits.max_stop_bytes));
    if (text.empty()) {
      return item.expected("a string that is not empty");
    }
    options.stop.push_back(std::move(text));
  }
  return ok();
}

Result<std::vector<TokenId>> read_ids(const Field& field, std::size_t max_ids,
                                      const ChatLimits& limits) {
  DAYBREAK_TRY(const auto items, field.array(max_ids));
  std::vector<TokenId> ids;
  ids.reserve(items.size());
  for (const Field& item : items) {
    DAYBREAK_TRY(const std::uint64_t id, item.integer(0, max_token_id(limits)));
    ids.push_back(static_cast<TokenId>(id));
  }
  return ids;
}

Status read_allowed_ids(const Field& field, const ChatLimits& limits, SamplingOptions& options) {
  DAYBREAK_TRY(options.allowed_token_ids, read_ids(field, limits.max_allowed_token_ids, limits));
  return options.allowed_token_ids.empty()
             ? Status(field.wrong("expected at least one token id, found none"))
             : ok();
}

Status read_bad_words(const Field& field, const ChatLimits& limits, SamplingOptions& options) {
  DAYBREAK_TRY(const auto items, field.array(limits.max_bad_words));
  for (const Field& item : items) {
    DAYBREAK_TRY(std::string word, item.string(limits.max_bad_word_bytes));
    if (word.find_first_not_of(' ') == std::string::npos) {
      return item.expected("a string that is more than spaces");
    }
    options.bad_words.push_back(std::move(word));
  }
  return ok();
}

Status read_logprobs(const Field& root, SamplingOptions& options) {
  if (const auto field = root.find("logprobs")) {
    DAYBREAK_TRY(options.logprobs, field->boolean());
  }
  if (const auto field = root.find("top_logprobs")) {
    DAYBREAK_TRY(const std::uint64_t count, field->integer(0, 20));
    if (!options.logprobs && count > 0) {
      return field->wrong("expected \"logprobs\": true beside it, found it absent or false");
    }
    options.top_logprobs = static_cast<std::uint32_t>(count);
  }
  return ok();
}

Status read_lengths(const Field& root, SamplingOptions& options) {
  static constexpr std::uint64_t kMax = std::uint64_t{1} << 32;
  // The later entry is the newer name and wins.
  for (const std::string_view key : {"max_tokens", "max_completion_tokens"}) {
    if (const auto field = root.find(key)) {
      DAYBREAK_TRY(options.max_tokens, field->integer(1, kMax));
      options.max_tokens_field = key;
    }
  }
  if (const auto field = root.find("min_tokens")) {
    DAYBREAK_TRY(options.min_tokens, field->integer(0, kMax));
    if (options.max_tokens && options.min_tokens > *options.max_tokens) {
      return field->wrong("expected at most the completion limit of " +
                          std::to_string(*options.max_tokens) + ", found " +
                          std::to_string(options.min_tokens));
    }
  }
  return ok();
}

}  // namespace

Result<SamplingOptions> read_sampling(const Field& root, const ChatLimits& limits) {
  SamplingOptions options;
  DAYBREAK_CHECK_OK(read_reals(root, options));
  DAYBREAK_CHECK_OK(read_logprobs(root, options));
  DAYBREAK_CHECK_OK(read_lengths(root, options));
  if (const auto field = root.find("top_k")) {
    DAYBREAK_TRY(const std::int64_t value, field->signed_integer());
    if (value < -1 || value > std::numeric_limits<std::int32_t>::max()) {
      return field->expected("an integer from -1 to 2147483647");
    }
    options.top_k = value < 0 ? 0 : static_cast<std::uint32_t>(value);  // -1 is "off" elsewhere
  }
  if (const auto field = root.find("seed")) {
    DAYBREAK_TRY(const std::int64_t value, field->signed_integer());
    options.seed = static_cast<std::uint64_t>(value);
  }
  if (const auto field = root.find("ignore_eos")) {
    DAYBREAK_TRY(options.ignore_eos, field->boolean());
  }
  if (const auto field = root.find("logit_bias")) {
    DAYBREAK_CHECK_OK(read_logit_bias(*field, limits, options));
  }
  if (const auto field = root.find("stop")) {
    DAYBREAK_CHECK_OK(read_stop(*field, limits, options));
  }
  if (const auto field = root.find("stop_token_ids")) {
    DAYBREAK_TRY(options.stop_token_ids, read_ids(*field, limits.max_stop_token_ids, limits));
  }
  if (const auto field = root.find("allowed_token_ids")) {
    DAYBREAK_CHECK_OK(read_allowed_ids(*field, limits, options));
  }
  if (const auto field = root.find("bad_words")) {
    DAYBREAK_CHECK_OK(read_bad_words(*field, limits, options));
  }
  return options;
}

}  // namespace daybreak::chat
