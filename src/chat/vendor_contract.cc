// SPDX-License-Identifier: Apache-2.0
#include "chat/vendor_contract.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/python_json.h"

namespace daybreak::chat {
namespace {

constexpr std::size_t kMaxStopStrings = 5;
constexpr std::size_t kMaxStopBytes = 32;

struct FixedOption {
  std::string_view key;
  std::span<const double> allowed;
  std::string_view allowed_text;
};

constexpr std::array kTemperatures = {0.0, 0.6, 1.0};
constexpr std::array kTopP = {0.95};
constexpr std::array kOne = {1.0};
constexpr std::array kZero = {0.0};
constexpr std::array<FixedOption, 5> kFixed = {{
    {"temperature", kTemperatures, "0, 0.6 or 1"},
    {"top_p", kTopP, "0.95"},
    {"n", kOne, "1"},
    {"presence_penalty", kZero, "0"},
    {"frequency_penalty", kZero, "0"},
}};

// The vendor's own wording, except that it names every value that is allowed: clients have been
// told "only 1" by a server that meant another value.
Status check_fixed(const Field& root, const FixedOption& option) {
  const auto field = root.find(option.key);
  if (!field) {
    return ok();
  }
  const bool allowed =
      field->is(JsonNode::Kind::kNumber) &&
      std::ranges::find(option.allowed, number_value(field->node().raw)) != option.allowed.end();
  return allowed
             ? ok()
             : Status(field->wrong("invalid " + std::string(option.key) + ": only " +
                                   std::string(option.allowed_text) +
                                   " is allowed for this model, found " + describe(field->node())));
}

// The vendor knows the model's own efforts; here "none" too, by which its verifier turns thinking
// off. What other APIs call efforts is refused rather than mapped.
Status check_efforts(const Field& root) {
  static constexpr std::array<std::string_view, 4> kOwn = {"none", "low", "high", "max"};
  const auto kwargs = root.find("chat_template_kwargs");
  for (const auto& field : {root.find("reasoning_effort"),
                            kwargs ? kwargs->find("reasoning_effort") : std::optional<Field>()}) {
    if (field && std::ranges::find(kOwn, std::string_view(field->node().text)) == kOwn.end()) {
      return field->expected("\"none\", \"low\", \"high\" or \"max\"");
    }
  }
  return ok();
}

// Other types than strings are left to the reader of the field.
Status check_stop(const Field& root, std::string_view key) {
  const auto stop = root.find(key);
  if (!stop) {
    return ok();
  }
  const JsonNode& node = stop->node();
  if (node.items.size() > kMaxStopStrings) {
    return stop->wrong("expected at most " + std::to_string(kMaxStopStrings) + " strings, found " +
                       std::to_string(node.items.size()));
  }
  std::vector<Field> items{*stop};
  if (stop->is(JsonNode::Kind::kArray)) {
    DAYBREAK_TRY(items, stop->array(kMaxStopStrings));
  }
  for (const Field& item : items) {
    if (item.node().text.size() > kMaxStopBytes) {
      return item.wrong("expected at most " + std::to_string(kMaxStopBytes) + " bytes, found " +
                        std::to_string(item.node().text.size()));
    }
  }
  return ok();
}

}  // namespace

Status check_vendor_contract(const Field& root, Contract contract) {
  if (contract == Contract::kOpen) {
    return ok();
  }
  for (const FixedOption& option : kFixed) {
    DAYBREAK_CHECK_OK(check_fixed(root, option));
  }
  DAYBREAK_CHECK_OK(check_efforts(root));
  DAYBREAK_CHECK_OK(check_stop(root, "stop"));
  return check_stop(root, "stop_sequences");
}

}  // namespace daybreak::chat
