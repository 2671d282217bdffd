// SPDX-License-Identifier: Apache-2.0
// Differential: ids parsed whole and cut in two give the same message.
// Input: a byte of options, a byte that says where to cut, then ids of two bytes each.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/utf8.h"
#include "chat/markers.h"
#include "chat/message_builder.h"
#include "chat/output_parser.h"
#include "tokenizer/tokenizer.h"

namespace {

using daybreak::TokenId;
using daybreak::chat::AssistantMessage;
using daybreak::chat::OutputEvent;

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

const daybreak::tokenizer::Tokenizer& vocabulary() {
  static const auto loaded = [] {
    const char* root = std::getenv("DAYBREAK_SOURCE_DIR");
    auto result = daybreak::tokenizer::Tokenizer::load(
        std::filesystem::path(root == nullptr ? "." : root) / "testdata/tokenizer");
    require(result.has_value());
    return *result;
  }();
  return *loaded;
}

AssistantMessage parse(const std::vector<TokenId>& ids, std::size_t cut, unsigned flags) {
  const auto markers = daybreak::chat::MarkerIds::from(vocabulary());
  require(markers.has_value());
  daybreak::chat::OutputParserOptions options;
  options.initial = static_cast<daybreak::chat::Channel>(flags % 3);
  options.tools_allowed = (flags & 4) == 0;
  options.max_calls = options.max_arguments = 4;
  options.max_header_ids = options.max_value_bytes = 64;
  options.max_repeat_bytes = options.max_rescue_bytes = 128;
  daybreak::chat::OutputParser parser(vocabulary(), *markers, options);
  std::vector<OutputEvent> events;
  const std::span<const TokenId> all(ids);
  parser.push(all.first(cut), events);
  parser.push(all.subspan(cut), events);
  parser.finish(static_cast<daybreak::chat::StopCause>(flags / 8 % 4), events);
  daybreak::chat::MessageBuilder builder;
  for (const OutputEvent& event : events) {
    require(daybreak::is_valid_utf8(event.text));
    builder.add(event);
  }
  return builder.message();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  std::vector<TokenId> ids;
  for (std::size_t i = 2; i + 1 < size; i += 2) {
    const std::uint32_t pair = data[i] + std::uint32_t{256} * data[i + 1];
    ids.push_back(static_cast<TokenId>(pair % vocabulary().vocab_size()));
  }
  const std::size_t cut = ids.empty() ? 0 : data[1] % (ids.size() + 1);
  require(parse(ids, 0, data[0]) == parse(ids, cut, data[0]));
  return 0;
}
