// SPDX-License-Identifier: Apache-2.0
// How fast a request becomes a prompt and ids become a reply. Each is checked before it is timed.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "chat/chat_request.h"
#include "chat/markers.h"
#include "chat/message_builder.h"
#include "chat/output_parser.h"
#include "chat/python_json.h"
#include "chat/render.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::chat {
namespace {

// A long agent session: `turns` of a question, a call and its result.
std::string agent_request(std::size_t turns) {
  std::string text;
  append_python_string(text, std::string(2'000, 'x') + "\n\"quoted\" \\ text\n");
  std::string messages;
  for (std::size_t i = 0; i < turns; ++i) {
    const std::string id = "\"call_" + std::to_string(i) + "\"";
    messages +=
        std::string(i > 0 ? "," : "") + R"({"role":"user","content":)" + text + "}," +
        R"({"role":"assistant","reasoning_content":)" + text +
        R"(,"content":"","tool_calls":[{"id":)" + id +
        R"(,"type":"function","function":{"name":"f","arguments":"{\"a\": [1, 2.5]}"}}]},)" +
        R"({"role":"tool","tool_call_id":)" + id + R"(,"content":)" + text + "}";
  }
  return "{\"messages\":[" + messages + "]}";
}

void request_to_segments(benchmark::State& state) {
  const std::string json = agent_request(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    const auto request = parse_chat_request(json);
    if (!request || !render_segments(*request)) {
      state.SkipWithError("request refused");
      return;
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(json.size()));
}
BENCHMARK(request_to_segments)->Arg(1)->Arg(100);

void ids_to_events(benchmark::State& state) {
  const char* root = std::getenv("DAYBREAK_SOURCE_DIR");
  const auto tokenizer = tokenizer::Tokenizer::load(
      std::filesystem::path(root == nullptr ? "." : root) / "testdata/tokenizer");
  const auto markers = tokenizer ? MarkerIds::from(**tokenizer) : tokenizer.error();
  if (!markers) {
    state.SkipWithError("no vocabulary: run from the checkout or set DAYBREAK_SOURCE_DIR");
    return;
  }
  std::string text =
      "thought<|close|>think<|sep|><|open|>tools<|sep|><|open|>call tool=\"f\"<|sep|>"
      "<|open|>argument key=\"a\"<|sep|>";
  for (int i = 0; i < 1'000; ++i) {
    text += "a line of the \"file\"\n";
  }
  std::vector<TokenId> ids;
  (*tokenizer)
      ->encode(text + "<|end_of_msg|>", tokenizer::AllowSpecial::kYes, tokenizer::Slicing::kOn,
               ids);
  std::vector<OutputEvent> events;
  for (auto _ : state) {
    OutputParser parser(**tokenizer, *markers, {});
    for (const TokenId id : ids) {
      events.clear();
      parser.push(id, events);
    }
    if (parser.completed_calls() != 1) {
      state.SkipWithError("the call was not parsed");
      return;
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(ids.size()));
}
BENCHMARK(ids_to_events);

}  // namespace
}  // namespace daybreak::chat
