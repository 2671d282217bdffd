// SPDX-License-Identifier: Apache-2.0
#pragma once

// A chat-completion request, typed and validated: what POST /v1/chat/completions means, free of
// JSON. parse_chat_request() makes one from the wire form; render() turns it into a prompt.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "chat/contract.h"
#include "chat/output_form.h"

namespace daybreak::chat {

enum class Role : std::uint8_t { kSystem, kUser, kAssistant, kTool };

// Size in pixels as decoded, before any resizing.
struct ImageSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

struct ContentPart {
  enum class Kind : std::uint8_t { kText, kImage };
  Kind kind = Kind::kText;
  std::string text;               // kText
  std::string url;                // kImage: as sent; never fetched here
  std::optional<ImageSize> size;  // kImage: set once measured; render() needs it
};

// One call in an assistant message of the history. `arguments` is what the client sent: the text of
// the JSON string, or the exact bytes of the object when a client sent one unquoted.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;
};

// One declared function. `json` is the whole tool object as the prompt spells it (keys sorted,
// compact); `parameters` is its schema as the client sent it, empty when omitted.
struct Tool {
  std::string name;
  std::string json;
  std::string parameters;
  std::optional<bool> strict;
};

struct Message {
  Role role = Role::kUser;
  std::string name;
  std::vector<ContentPart> content;
  std::string reasoning;  // assistant: reasoning_content, else reasoning
  std::vector<ToolCall> tool_calls;
  std::string tool_call_id;  // tool: the call it answers
  std::string tool;          // tool: explicit name of the tool, may be empty
  std::vector<Tool> tools;   // system: tools added from here on
  bool partial = false;      // last assistant message: continue it
};

enum class Effort : std::uint8_t { kLow, kHigh, kMax };
struct Thinking {
  bool enabled = true;
  std::optional<Effort> effort = Effort::kMax;
};

enum class ToolChoiceKind : std::uint8_t { kAuto, kNone, kRequired, kNamed };
struct ToolChoice {
  ToolChoiceKind kind = ToolChoiceKind::kAuto;
  std::string name;  // kNamed
};

enum class ResponseFormatKind : std::uint8_t { kText, kJsonObject, kJsonSchema };

// response_format as the prompt states it to the model. What decoding is held to: OutputForm.
struct ResponseFormat {
  ResponseFormatKind kind = ResponseFormatKind::kText;
  std::string name;
  std::string schema;  // kJsonSchema: as the prompt spells it
  bool strict = true;  // false: decoding is held to any JSON object
};

// Decoding options as the API names them; absent means the server's default.
struct SamplingOptions {
  double temperature = 1.0;
  double top_p = 0.95;
  std::uint32_t top_k = 0;  // 0: off
  double min_p = 0.0;
  double typical_p = 1.0;
  double repetition_penalty = 1.0;
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;
  std::vector<std::pair<TokenId, float>> logit_bias;
  std::optional<std::uint64_t> seed;
  bool logprobs = false;
  std::uint32_t top_logprobs = 0;
  std::optional<std::uint64_t> max_tokens;  // completion ids, reasoning included
  // The field that gave `max_tokens`, so that errors name what the client wrote.
  std::string_view max_tokens_field = "max_completion_tokens";
  std::uint64_t min_tokens = 0;
  std::vector<std::string> stop;  // matched on content only
  std::vector<TokenId> stop_token_ids;
  bool ignore_eos = false;
  std::vector<TokenId> allowed_token_ids;  // nothing else is drawn; empty: all
  std::vector<std::string> bad_words;      // as sent: never generated, see bad_word_ids()
};

inline constexpr int kMaxDeferral = 9;

struct ChatRequest {
  std::string model;
  std::vector<Message> messages;
  std::vector<Tool> tools;
  Thinking thinking;
  ToolChoice tool_choice;
  bool parallel_tool_calls = true;
  ResponseFormat response_format;
  OutputForm output;
  SamplingOptions sampling;
  std::uint32_t n = 1;
  bool stream = false;
  bool include_usage = true;              // stream_options.include_usage
  bool include_internal_content = false;  // stream_options.include_internal_content: token ids
  bool add_generation_prompt = true;
  std::string user;
  std::string safety_identifier;
  std::string prompt_cache_key;
  std::string cache_salt;  // requests with different ones must not share cached prompts
  int deferral = 0;        // levels of priority below the caller's own, to kMaxDeferral
  std::vector<std::string> ignored_fields;  // paths of those without effect (field_table.h)

  // Whether the reply may call tools: some are declared and tool_choice is not none.
  [[nodiscard]] bool tools_allowed() const;
};

// What a request may be. Sizes in bytes of JSON or of text.
struct ChatLimits {
  Contract contract = Contract::kOpen;
  std::size_t max_depth = 64;        // nesting of arrays and objects
  std::size_t max_values = 250'000;  // JSON values in all
  std::size_t max_messages = 10'000;
  std::size_t max_parts = 1'000;       // content parts of one message
  std::size_t max_tools = 1'000;       // declared in all
  std::size_t max_tool_calls = 1'000;  // of one message
  std::size_t max_name_bytes = 256;    // user, tool and model names
  std::size_t max_stop_strings = 16;
  std::size_t max_stop_bytes = 256;  // of one stop string
  std::size_t max_logit_bias = 1'024;
  std::size_t max_stop_token_ids = 60;  // the engine takes 64, the model's own included
  std::size_t max_allowed_token_ids = 200'000;
  std::size_t max_bad_words = 100;
  std::size_t max_bad_word_bytes = 256;     // of one
  std::size_t max_output_choices = 10'000;  // strings the answer is chosen from
  std::size_t max_id_bytes = 1'024;         // tool_call_id, user, prompt_cache_key and their like
  std::uint32_t max_image_side = 65'536;    // pixels
  std::uint32_t max_choices = 8;
  std::uint64_t vocab_size = 0;  // 0: token ids in the request are not checked
  // Take the size of an image part from its "width" and "height" instead of from its pixels. For
  // rendering without a server only: a client could claim any size.
  bool measured_images = false;
};

// Parses and validates the JSON body of a chat completion.
// Unknown fields are listed in `ignored_fields`; a key given twice in an object whose fields have
// meaning here is refused, in free-form data (schemas, arguments) the last one wins.
// Errors: kInvalidArgument, message "PATH: expected ..., found ..." with a path such as
// messages[3].tool_call_id.
Result<ChatRequest> parse_chat_request(std::string_view json, const ChatLimits& limits = {});

}  // namespace daybreak::chat
