// SPDX-License-Identifier: Apache-2.0
// The fields of Anthropic's Messages API.

#include <array>

#include "chat/effort_name.h"
#include "chat/field_schemas.h"
#include "chat/field_table.h"

namespace daybreak::chat {
namespace {

constexpr FieldApi kApi = FieldApi::kAnthropic;
using enum FieldVerdict;
constexpr FieldVerdict kYes = FieldVerdict::kHonoured;

constexpr auto kRules = std::to_array<FieldRule>({
    {"model", kApi, kYes, kSomeText,
     "required; a suffix `[1m]` is removed. Replies carry the first served name"},
    {"messages", kApi, kYes,
     R"({"type":"array","minItems":1,"items":{"type":"object","required":["role","content"],)"
     R"("properties":{"role":{"enum":["user","assistant","system"]},)"
     R"("content":{"type":["string","array"],"items":{"type":"object"}}}}})",
     "required: the conversation"},
    {"max_tokens", kApi, kYes, kAnswerLength,
     "required except for counting; reasoning counts too. Prompt plus `max_tokens` beyond the "
     "context is 400"},
    {"system", kApi, kYes, R"({"type":["string","array"],"items":{"type":"object"}})",
     "a string or text blocks, joined without a separator. A block that begins with "
     "`x-anthropic-billing-header:` is left out: Claude Code puts a different one into every "
     "request, and no prompt would be found in the prefix cache again"},
    {"tools", kApi, kYes, kObjects,
     "`name`, `description`, `input_schema`, `strict` (`false` leaves only the shape of the call "
     "enforced; otherwise calls match their schema); `type` absent or `custom`. Names: 1 to "
     "256 of `[A-Za-z0-9_./:-]`"},
    {"tool_choice", kApi, kYes, kObject,
     "`auto`, `any`, `tool`, `none`, with `disable_parallel_tool_use`; enforced while decoding, "
     "thinking or not"},
    {"thinking", kApi, kYes, kObject,
     "`enabled` and `adaptive`: on; `disabled`: off; absent: on, as the model is. `display` "
     "`omitted` leaves thinking blocks empty"},
    {"output_config", kApi, kYes, kObject, "an object of the next two"},
    {"output_config.effort", kApi, kYes, kEffortNames,
     "the model knows three: `minimal` and `low` are low, `medium` and `high` are high, `xhigh` "
     "and `max` are max. Absent: by `thinking.budget_tokens` (below 8,192 low, below 24,576 high, "
     "else max), or "
     "max"},
    {"output_config.format", kApi, kYes, kObject,
     "`json_schema`, enforced; beside a forced call it stays in the prompt alone"},
    {"output_format", kApi, kYes, kObject, "the older name of `output_config.format`"},
    {"stop_sequences", kApi, kYes, kTextList, "searched in text only, up to 16"},
    {"temperature", kApi, kYes, kTemperature, "0 (greedy) to 2, default 1"},
    {"top_p", kApi, kYes, kAboveZero, "above 0, to 1"},
    {"top_k", kApi, kYes, R"({"type":"integer","minimum":0,"maximum":2147483647})", "0: off"},
    {"stream", kApi, kYes, kBoolean, "true: events"},
    {"metadata", kApi, kYes, kObject, "an object of the next one"},
    {"metadata.user_id", kApi, kYes, kText, "kept with the request; no part of the answer"},

    {"cache_control", kApi, kIgnored, "", "every prompt is cached that can be"},
    {"context_management", kApi, kIgnored, "", "nothing of the history is cleared"},
    {"betas", kApi, kIgnored, "", "what this server has of them is always on"},
    {"service_tier", kApi, kIgnored, "", "there is one tier"},

    {"container", kApi, kRefused, "", "there are no containers here: this server runs no code"},
    {"thread", kApi, kRefused, "", "this server keeps no conversations: send all messages"},
    {"compaction", kApi, kRefused, "{}", "this server writes no summaries: ask for one"},
    {"mcp_servers", kApi, kRefused, "[]",
     "this server connects to no MCP servers: declare their tools in `tools`"},
});

}  // namespace

const FieldTable& anthropic_fields() {
  static const FieldTable table(kRules);
  return table;
}

}  // namespace daybreak::chat
