// SPDX-License-Identifier: Apache-2.0
#include "api/file_expiry.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "base/json_document.h"
#include "chat/required_field.h"

namespace daybreak::api {
namespace {

constexpr std::string_view kAnchor = "created_at";

Error wrong_part(std::string_view name, std::string_view expected,
                 std::optional<std::string_view> found) {
  return {Errc::kInvalidArgument,
          fmt::format("expires_after[{}]: expected {}, found {}", name, expected,
                      found ? "'" + printable(*found, 64) + "'" : "nothing")};
}

}  // namespace

Result<std::int64_t> read_form_expiry(std::optional<std::string_view> anchor,
                                      std::optional<std::string_view> seconds) {
  if (!anchor && !seconds) {
    return 0;
  }
  if (anchor != kAnchor) {
    return wrong_part("anchor", "\"created_at\"", anchor);
  }
  std::int64_t value = 0;
  const std::string_view text = seconds.value_or("");
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || value < kMinFileSeconds ||
      value > kMaxFileSeconds) {
    return wrong_part("seconds", fmt::format("{} to {}", kMinFileSeconds, kMaxFileSeconds),
                      seconds);
  }
  return value;
}

Result<std::int64_t> read_json_expiry(const chat::Field& root, std::string_view key) {
  const auto expiry = root.find(key);
  if (!expiry) {
    return 0;
  }
  DAYBREAK_CHECK_OK(expiry->object_of({"anchor", "seconds"}));
  DAYBREAK_TRY(const chat::Field anchor, chat::required_field(*expiry, "anchor", "\"created_at\""));
  if (!anchor.is(JsonNode::Kind::kString) || anchor.node().text != kAnchor) {
    return anchor.expected("\"created_at\"");
  }
  DAYBREAK_TRY(const chat::Field seconds, chat::required_field(*expiry, "seconds", "a number"));
  DAYBREAK_TRY(const std::uint64_t value, seconds.integer(kMinFileSeconds, kMaxFileSeconds));
  return static_cast<std::int64_t>(value);
}

}  // namespace daybreak::api
