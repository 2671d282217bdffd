// SPDX-License-Identifier: Apache-2.0
#include "chat/render.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "chat/image_tokens.h"
#include "chat/markers.h"
#include "chat/render_tools.h"
#include "chat/segment_writer.h"

namespace daybreak::chat {
namespace {

constexpr std::string_view kStaticTools =
    "# Tools\nHere are the available tools, described in JSONSchema.\n\n```json\n";
constexpr std::string_view kDynamicTools =
    "## New Tools Available\nThe system dynamically extends the toolset via lazy-loading.\n"
    "You have access to all existing and extended tools.\n"
    "Here are the specs for the extended tools.\n\n```json\n";
constexpr std::string_view kEffort =
    "`thinking_effort` guides on how much to think in your thinking channel (not including the "
    "response channel), supported values include `low`, `medium`, `high`, and `max`.\n"
    "Now the system is invoked with `thinking_effort=";
constexpr std::string_view kRequired =
    "The system is invoked with `tool_choice=required`.\n"
    "You MUST call tools in the next message.";
constexpr std::string_view kNone =
    "The system is invoked with `tool_choice=none`.\n"
    "You MUST NOT call any tools in the next message.";

std::string_view effort_name(Effort effort) {
  switch (effort) {
    case Effort::kLow:
      return "low";
    case Effort::kHigh:
      return "high";
    case Effort::kMax:
      return "max";
  }
  __builtin_unreachable();
}

std::string_view role_name(Role role) {
  switch (role) {
    case Role::kSystem:
      return "system";
    case Role::kUser:
      return "user";
    case Role::kAssistant:
      return "assistant";
    case Role::kTool:
      return "tool";
  }
  __builtin_unreachable();
}

std::string media_block(ImageSize size) {
  std::string block(kMediaBeginMarker);
  block += "image " + std::to_string(size.width) + "x" + std::to_string(size.height);
  block += kMediaContentMarker;
  for (std::size_t pads = image_pad_tokens(size); pads > 0; --pads) {
    block += kMediaPadMarker;
  }
  return block + std::string(kMediaEndMarker);
}

class PromptWriter {
 public:
  PromptWriter(const ChatRequest& request, const RenderOptions& options)
      : request_(request), options_(options) {}

  Result<Prompt> write() {
    if (!request_.tools.empty()) {
      declare_tools(kStaticTools, request_.tools);
    }
    const Thinking& thinking = request_.thinking;
    if (thinking.enabled && thinking.effort) {
      internal("thinking-effort",
               std::string(kEffort) + std::string(effort_name(*thinking.effort)) + "`.");
    }
    DAYBREAK_CHECK_OK(conversation());
    tool_choice();
    response_format();
    DAYBREAK_CHECK_OK(tail());
    prompt_.segments = writer_.take();
    return std::move(prompt_);
  }

 private:
  const Message* partial() const {
    return !request_.messages.empty() && request_.messages.back().partial
               ? &request_.messages.back()
               : nullptr;
  }

  void internal(std::string_view type, std::string text) {
    writer_.open("message", {{"role", "system"}, {"type", type}});
    writer_.text(std::move(text));
    writer_.close_message();
  }

  void declare_tools(std::string_view head, const std::vector<Tool>& tools) {
    std::string text(head);
    for (std::size_t i = 0; i < tools.size(); ++i) {
      text += (i == 0 ? "[" : ",") + tools[i].json;
    }
    internal("tool-declare", text + "]\n```");
  }

  void open_message(const Message& message) {
    const std::string_view role = role_name(message.role);
    if (message.name.empty()) {
      writer_.open("message", {{"role", role}});
    } else {
      writer_.open("message", {{"role", role}, {"name", message.name}});
    }
  }

  // Text parts are joined, since a client may cut its text anywhere; an image is a segment of its
  // own.
  Status content(const Message& message, std::size_t position) {
    std::string text;
    for (std::size_t i = 0; i < message.content.size(); ++i) {
      const ContentPart& part = message.content[i];
      if (part.kind == ContentPart::Kind::kText) {
        text += part.text;
        continue;
      }
      if (!part.size) {
        return Error{Errc::kInvalidArgument,
                     "messages[" + std::to_string(position) + "].content[" + std::to_string(i) +
                         "]: image input needs the vision tower, which this version lacks"};
      }
      writer_.text(std::exchange(text, {}));
      writer_.special(media_block(*part.size));
    }
    writer_.text(std::move(text));
    return ok();
  }

  Status conversation() {
    const std::span<const Message> messages(request_.messages);
    const std::size_t end = messages.size() - (partial() == nullptr ? 0 : 1);
    for (std::size_t i = 0; i < end;) {
      if (messages[i].role == Role::kTool) {
        std::size_t last = i + 1;
        while (last < end && messages[last].role == Role::kTool) {
          ++last;
        }
        DAYBREAK_CHECK_OK(tool_results(messages.subspan(i, last - i), i));
        i = last;
        continue;
      }
      if (messages[i].role == Role::kAssistant) {
        calls_.add(messages[i].tool_calls);
      }
      DAYBREAK_CHECK_OK(message(messages[i], i));
      ++i;
    }
    return ok();
  }

  Status message(const Message& message, std::size_t position) {
    if (!message.tools.empty()) {
      declare_tools(kDynamicTools, message.tools);
      if (message.content.empty()) {
        return ok();
      }
    }
    open_message(message);
    if (message.role == Role::kAssistant) {
      DAYBREAK_CHECK_OK(assistant_body(message, position));
    } else {
      DAYBREAK_CHECK_OK(content(message, position));
    }
    writer_.close_message();
    return ok();
  }

  Status assistant_body(const Message& message, std::size_t position) {
    if (request_.thinking.enabled) {
      writer_.open("think");
      writer_.text(is_blank(message.reasoning) ? std::string() : message.reasoning);
      writer_.close("think");
    }
    writer_.open("response");
    DAYBREAK_CHECK_OK(content(message, position));
    writer_.close("response");
    if (!message.tool_calls.empty()) {
      writer_.open("tools");
      for (std::size_t i = 0; i < message.tool_calls.size(); ++i) {
        render_tool_call(writer_, message.tool_calls[i], i + 1, options_.arguments);
      }
      writer_.close("tools");
    }
    return ok();
  }

  Status tool_results(std::span<const Message> run, std::size_t position) {
    DAYBREAK_TRY(const auto results, calls_.name_results(run, position));
    for (const ToolResult& result : results) {
      const std::string index = std::to_string(result.index);
      writer_.open("message", {{"role", "tool"}, {"tool", result.tool}, {"index", index}});
      DAYBREAK_CHECK_OK(content(*result.message, result.position));
      writer_.close_message();
    }
    return ok();
  }

  void tool_choice() {
    switch (request_.tool_choice.kind) {
      case ToolChoiceKind::kAuto:
        return;
      case ToolChoiceKind::kNone:
        internal("tool-choice", std::string(kNone));
        return;
      case ToolChoiceKind::kRequired:
      case ToolChoiceKind::kNamed:  // the prompt has no form that names one
        internal("tool-choice", std::string(kRequired));
        return;
    }
  }

  void response_format() {
    const ResponseFormat& format = request_.response_format;
    if (format.kind == ResponseFormatKind::kText) {
      return;
    }
    const bool schema = format.kind == ResponseFormatKind::kJsonSchema;
    std::string text = "The system is invoked with `response_format=";
    text += schema ? "json_schema" : "json_object";
    text +=
        "`.\nYour response must be raw JSON data without markdown code blocks (```json) or any "
        "additional formatting.";
    if (schema) {
      text +=
          "\nThe JSON data must match the following schema:\n```json\n" + format.schema + "\n```";
    }
    internal("response-format", std::move(text));
  }

  // The open end the model continues.
  Status tail() {
    if (partial() != nullptr) {
      return partial_tail(*partial());
    }
    if (!request_.add_generation_prompt) {
      return ok();
    }
    writer_.open("message", {{"role", "assistant"}});
    const std::size_t before = writer_.size();
    open_channel(request_.thinking.enabled ? Channel::kThink : Channel::kResponse);
    prompt_.stub_segments = writer_.size() - before;
    return ok();
  }

  // Content without reasoning has no think element at all.
  Status partial_tail(const Message& message) {
    open_message(message);
    const bool reasons = request_.thinking.enabled && !is_blank(message.reasoning);
    const bool answers = std::ranges::any_of(message.content, [](const ContentPart& part) {
      return part.kind == ContentPart::Kind::kImage || !part.text.empty();
    });
    if (reasons || (request_.thinking.enabled && !answers)) {
      open_channel(Channel::kThink);
      writer_.text(reasons ? message.reasoning : std::string());
      if (!answers) {
        return ok();
      }
      writer_.close("think");
    }
    open_channel(Channel::kResponse);
    return content(message, request_.messages.size() - 1);
  }

  void open_channel(Channel channel) {
    prompt_.initial = channel;
    writer_.open(channel == Channel::kThink ? "think" : "response");
  }

  const ChatRequest& request_;
  const RenderOptions& options_;
  CallHistory calls_;
  SegmentWriter writer_;
  Prompt prompt_;
};

}  // namespace

Result<Prompt> render_segments(const ChatRequest& request, const RenderOptions& options) {
  return PromptWriter(request, options).write();
}

Result<Prompt> render(const ChatRequest& request, const tokenizer::Tokenizer& tokenizer,
                      const RenderOptions& options) {
  DAYBREAK_TRY(Prompt prompt, render_segments(request, options));
  const std::size_t stub_begin = prompt.segments.size() - prompt.stub_segments;
  for (std::size_t i = 0; i < prompt.segments.size(); ++i) {
    const Segment& segment = prompt.segments[i];
    const std::size_t before = prompt.ids.size();
    // Client text is cut as the released tokenizer cuts it. Our own segments are not: the pads of a
    // large image are one run without white space, and a cut inside a pad would make it text.
    if (segment.allow_special) {
      tokenizer.encode(segment.text, tokenizer::AllowSpecial::kYes, tokenizer::Slicing::kOff,
                       prompt.ids);
    } else {
      tokenizer.encode(segment.text, tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOn,
                       prompt.ids);
    }
    if (i >= stub_begin) {
      prompt.stub_ids += prompt.ids.size() - before;
    }
  }
  return prompt;
}

std::string join_text(const std::vector<Segment>& segments) {
  std::string text;
  for (const Segment& segment : segments) {
    text += segment.text;
  }
  return text;
}

}  // namespace daybreak::chat
