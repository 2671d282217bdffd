// SPDX-License-Identifier: Apache-2.0
#pragma once

// ResponsesAnswer: the items of one answer of the Responses API in the making, in the order they
// are generated, and the events that tell a client of it. The whole answer and the stream come from
// the same object, so that they cannot differ.
//
//   created in_progress { added (part_added delta* text.done part.done | delta* arguments.done)
//   item.done }* (completed | incomplete)

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/choice.h"
#include "chat/response_json.h"
#include "chat/responses_json.h"
#include "chat/responses_request.h"

namespace daybreak::api {

// Not thread-safe.
class ResponsesAnswer {
 public:
  enum class Events : std::uint8_t { kOff, kOn };

  // `request` and `random` must outlive it. `random` gives 64 uniform bits a call, for ids.
  ResponsesAnswer(chat::ReplyHead head, const chat::ResponsesRequest& request, Events events,
                  const std::function<std::uint64_t()>& random);

  // Announces the response. Called once, before the first delta, where events are on.
  void begin();
  // REQUIRES: deltas in the order Choice gave them, the one with the finish reason left out.
  void add(const Delta& delta);
  // Ends the answer: json() is its last word, unless the request is changed. `finish_reason` as
  // the chat route has it.
  void end(std::string_view finish_reason, const chat::TokenUsage& usage);
  // Announces that end. Called once, after end(), where events are on.
  void announce_end();
  // Ends an answer that cannot go on: what came stays, marked incomplete.
  void fail(const Error& error);

  // Returns the events since the last call.
  [[nodiscard]] std::string take_events() { return std::exchange(events_, {}); }

  [[nodiscard]] const std::vector<chat::ResponsesOutput>& output() const { return output_; }
  // Returns the response object as it stands.
  [[nodiscard]] std::string json() const;

 private:
  using Kind = chat::ResponsesOutput::Kind;

  chat::ResponsesOutput& open(Kind kind);
  void open_call(const Delta& delta);
  void close(chat::ResponsesStatus status);
  void add_text(Kind kind, const Delta& delta);
  void announce_part(std::string_view type, chat::ItemForm form);
  void announce_text_done();
  void announce_response(std::string_view type);
  // Appends the event `type` with `members`, which start with a comma or are empty.
  void announce(std::string_view type, std::string_view members);
  // ,"item_id":...,"output_index":N of the last item.
  [[nodiscard]] std::string place() const;

  chat::ReplyHead head_;
  const chat::ResponsesRequest& request_;
  bool tells_;
  const std::function<std::uint64_t()>& random_;
  std::vector<chat::ResponsesOutput> output_;
  bool is_open_ = false;  // the last item
  chat::ResponsesStatus status_ = chat::ResponsesStatus::kInProgress;
  std::optional<chat::TokenUsage> usage_;
  std::optional<Error> error_;
  std::uint64_t sequence_number_ = 0;
  std::string events_;
};

// Returns `prefix` and 24 random characters, such as "resp_...".
[[nodiscard]] std::string make_response_id(std::string_view prefix,
                                           const std::function<std::uint64_t()>& random);

}  // namespace daybreak::api
