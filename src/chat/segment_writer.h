// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes K3's elements as segments. The only place that makes special segments, so the only place
// that can make structure.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/segment.h"

namespace daybreak::chat {

class SegmentWriter {
 public:
  using Attribute = std::pair<std::string_view, std::string_view>;

  // open TAG k1="v1" ... sep
  void open(std::string_view tag, std::initializer_list<Attribute> attributes = {});
  // close TAG sep
  void close(std::string_view tag);
  // close message sep end_of_msg
  void close_message();
  // Ordinary text; nothing if empty.
  void text(std::string text);
  // A special segment as it is.
  void special(std::string text);

  [[nodiscard]] std::vector<Segment> take() { return std::move(segments_); }
  [[nodiscard]] std::size_t size() const { return segments_.size(); }

 private:
  std::vector<Segment> segments_;
};

// Returns `value` with & and " replaced by entities, as attribute values spell them.
[[nodiscard]] std::string escape_attribute(std::string_view value);
// The reverse: &quot; first, then &amp;.
[[nodiscard]] std::string unescape_attribute(std::string_view value);

}  // namespace daybreak::chat
