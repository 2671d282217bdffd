// SPDX-License-Identifier: Apache-2.0
#include "cli/stream_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "cli/scripted_server.h"

namespace daybreak::cli {
namespace {

constexpr std::size_t kShown = 200;  // bytes of a wrong answer in the fault

}  // namespace

std::size_t StreamReader::take(std::string_view bytes) {
  const std::size_t before = received_;
  raw_ += bytes;
  if (!in_body_ && !take_head()) {
    return 0;
  }
  while (!ended() && take_chunk()) {
  }
  return received_ - before;
}

std::string StreamReader::fault() const {
  if (!fault_.empty()) {
    return fault_;
  }
  if (received_ != tokens_) {
    return fmt::format("stream {}: expected {} tokens, found {}", seed_, tokens_, received_);
  }
  if (!finish_seen_ || !done_seen_ || !ended_) {
    return fmt::format("stream {}: expected a finish_reason, [DONE] and the last chunk at its end",
                       seed_);
  }
  return {};
}

void StreamReader::fail(std::string why) { fault_ = fmt::format("stream {}: {}", seed_, why); }

bool StreamReader::take_head() {
  const std::size_t end = raw_.find("\r\n\r\n");
  if (end == std::string::npos) {
    return false;
  }
  if (!raw_.starts_with("HTTP/1.1 200 ")) {
    fail("expected status 200, found: " + raw_.substr(0, kShown));
    return false;
  }
  raw_.erase(0, end + 4);
  in_body_ = true;
  return true;
}

bool StreamReader::take_chunk() {
  const std::size_t line = raw_.find("\r\n");
  if (line == std::string::npos) {
    return false;
  }
  std::size_t size = 0;
  const auto [rest, error] = std::from_chars(raw_.data(), raw_.data() + line, size, 16);
  if (error != std::errc{} || rest != raw_.data() + line) {
    fail("expected the size of a chunk, found: " + raw_.substr(0, kShown));
    return false;
  }
  if (raw_.size() < line + 2 + size + 2) {
    return false;
  }
  events_.append(raw_, line + 2, size);
  raw_.erase(0, line + 2 + size + 2);
  take_events();
  ended_ = size == 0;
  return true;
}

void StreamReader::take_events() {
  std::size_t at = 0;
  for (std::size_t end = 0; (end = events_.find("\n\n", at)) != std::string::npos; at = end + 2) {
    const std::string_view event = std::string_view(events_).substr(at, end - at);
    if (!event.starts_with("data: ")) {
      return fail("expected an event, found: " + std::string(event.substr(0, kShown)));
    }
    take_event(event.substr(6));
  }
  events_.erase(0, at);
}

void StreamReader::take_event(std::string_view data) {
  // Letters need no escapes, so that content can be cut out of the JSON as it stands.
  constexpr std::string_view kContent = R"("content":")";
  if (data == "[DONE]") {
    done_seen_ = true;
  } else if (const std::size_t at = data.find(kContent); at != std::string_view::npos) {
    const std::string_view rest = data.substr(at + kContent.size());
    take_letters(rest.substr(0, rest.find('"')));
  } else if (data.find(R"("error":)") != std::string_view::npos) {
    fail("found an error: " + std::string(data.substr(0, kShown)));
  }
  finish_seen_ = finish_seen_ || data.find(R"("finish_reason":"stop")") != std::string_view::npos;
}

void StreamReader::take_letters(std::string_view letters) {
  for (const char letter : letters) {
    if (received_ == tokens_ || letter != scripted_letter(seed_, received_)) {
      return fail(fmt::format("wrong text at token {}: '{}'", received_, letter));
    }
    ++received_;
  }
}

}  // namespace daybreak::cli
