// SPDX-License-Identifier: Apache-2.0
#pragma once

// Items of the Responses API: what a conversation is made of. They are kept as JSON, since they
// are given back to clients as they came; only a request that builds on them reads them.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace daybreak::chat {

struct ResponsesItem {
  std::string id;     // "msg_...", "rs_...", "fc_..."; empty: none yet
  std::string body;   // an object on one line, without its "id"
  bool ours = false;  // this server made the id, so nobody can guess it

  // Returns the item with its id as the first member. REQUIRES: an id.
  [[nodiscard]] std::string json() const;
};

using ResponsesItemPtr = std::shared_ptr<const ResponsesItem>;

// How a request reaches what earlier responses left. Either function may be called on any thread.
struct ResponsesHistory {
  // The items of the whole conversation up to and with the response `id`. Errors: kNotFound.
  std::function<Result<std::vector<ResponsesItemPtr>>(std::string_view id)> conversation;
  // The item of that id in an earlier response. Errors: kNotFound.
  std::function<Result<ResponsesItemPtr>(std::string_view id)> item;
};

// What `encrypted_content` of our reasoning items starts with; the reasoning follows as it is. The
// field lets a client that keeps nothing else carry the reasoning to its next request. Nothing is
// hidden from the client, which has the same text in `content`.
inline constexpr std::string_view kReasoningSeal = "daybreak-reasoning-1:";

// Appends the JSON text `raw` without white space between tokens. REQUIRES: `raw` is valid JSON.
void append_minified(std::string& out, std::string_view raw);

}  // namespace daybreak::chat
