// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tables of the members that the objects inside a request may have: messages, parts, calls, items.
// FieldTable judges the fields of the body itself and those with a verdict of their own; here is
// only what is known, so that nothing else is dropped without a word. Readers judge the values.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/request_fields.h"

namespace daybreak::chat {

// The members of the objects at some places, if those are of one kind. An object may have what all
// rules of its place and kind list. One that no rule speaks of (free-form data, and kinds that are
// refused or shown to the model whole) is not looked at.
struct MemberRule {
  // Paths separated by spaces, such as "messages[].content[]"; [] is any item of an array.
  std::string_view places;
  // "" for every kind; else KEY=VALUE for objects whose member KEY is the string VALUE, and
  // KEY=*END for those where it ends with END.
  std::string_view kind;
  // Separated by spaces: what is read, what answers of this server hold, and what clients are known
  // to send along without a wish.
  std::string_view members;
};

[[nodiscard]] std::span<const MemberRule> chat_members();        // POST /v1/chat/completions
[[nodiscard]] std::span<const MemberRule> completion_members();  // POST /v1/completions
[[nodiscard]] std::span<const MemberRule> responses_members();   // POST /v1/responses
[[nodiscard]] std::span<const MemberRule> anthropic_members();   // POST /v1/messages

// Adds the members of objects below `root` that are not null and that `rules` do not know to
// `ignored`, as PLACE.MEMBER, such as "messages[].content[].foo". `root` is the request body.
void add_unknown_members(const Field& root, std::span<const MemberRule> rules,
                         std::vector<std::string>& ignored);

// Adds a name once, and none beyond kMaxIgnoredFields.
void add_ignored(std::vector<std::string>& ignored, std::string name);

// Returns a path with [] for each index: how ignored fields are spelled, so that a member of a
// hundred messages is one name.
[[nodiscard]] std::string any_item(std::string_view path);

}  // namespace daybreak::chat
