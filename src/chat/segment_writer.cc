// SPDX-License-Identifier: Apache-2.0
#include "chat/segment_writer.h"

#include "chat/markers.h"

namespace daybreak::chat {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t hit = text.find(from); hit != std::string::npos; hit = text.find(from, at)) {
    out.append(text, at, hit - at);
    out += to;
    at = hit + from.size();
  }
  if (at > 0) {
    out.append(text, at);
    text = std::move(out);
  }
}

}  // namespace

void SegmentWriter::open(std::string_view tag, std::initializer_list<Attribute> attributes) {
  special(std::string(kOpenMarker));
  text(std::string(tag));
  for (const auto& [key, value] : attributes) {
    text(" " + std::string(key));
    text("=\"");
    text(escape_attribute(value));
    text("\"");
  }
  special(std::string(kSepMarker));
}

void SegmentWriter::close(std::string_view tag) {
  special(std::string(kCloseMarker));
  text(std::string(tag));
  special(std::string(kSepMarker));
}

void SegmentWriter::close_message() {
  close("message");
  special(std::string(kEndOfMessageMarker));
}

void SegmentWriter::text(std::string text) {
  if (!text.empty()) {
    segments_.push_back({std::move(text), false});
  }
}

void SegmentWriter::special(std::string text) { segments_.push_back({std::move(text), true}); }

std::string escape_attribute(std::string_view value) {
  std::string out(value);
  replace_all(out, "&", "&amp;");
  replace_all(out, "\"", "&quot;");
  return out;
}

std::string unescape_attribute(std::string_view value) {
  std::string out(value);
  replace_all(out, "&quot;", "\"");
  replace_all(out, "&amp;", "&");
  return out;
}

}  // namespace daybreak::chat
