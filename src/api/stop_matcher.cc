// SPDX-License-Identifier: Apache-2.0
#include "api/stop_matcher.h"

#include <algorithm>

namespace daybreak::api {

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase(stops_, "");
}

// Returns the length of the longest stop string that ends at `end`, or 0.
std::size_t StopMatcher::match_ending_at(std::size_t end) const {
  const std::string_view seen = std::string_view(text_).substr(0, end);
  std::size_t longest = 0;
  for (const std::string& stop : stops_) {
    if (seen.ends_with(stop)) {
      longest = std::max(longest, stop.size());
    }
  }
  return longest;
}

// Returns the length of the longest suffix of the text that begins a stop string.
std::size_t StopMatcher::held_suffix() const {
  std::size_t held = 0;
  for (const std::string& stop : stops_) {
    const std::string_view begin = stop;
    for (std::size_t size = std::min(stop.size() - 1, text_.size()); size > held; --size) {
      if (text_.ends_with(begin.substr(0, size))) {
        held = size;
      }
    }
  }
  return held;
}

void StopMatcher::push(std::string_view text, std::string& out) {
  if (matched()) {
    return;
  }
  const std::size_t seen = text_.size();  // no stop string ends before here
  text_ += text;
  for (std::size_t end = seen + 1; end <= text_.size() && !stops_.empty(); ++end) {
    if (const std::size_t size = match_ending_at(end); size > 0) {
      out.append(text_, 0, end - size);
      match_ = text_.substr(end - size, size);
      text_.clear();
      return;
    }
  }
  const std::size_t ready = text_.size() - held_suffix();
  out.append(text_, 0, ready);
  text_.erase(0, ready);
}

void StopMatcher::flush(std::string& out) {
  out += text_;
  text_.clear();
}

}  // namespace daybreak::api
