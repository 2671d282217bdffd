// SPDX-License-Identifier: Apache-2.0
#include "chat/call_writer.h"

#include <utility>

#include "base/json_tree.h"
#include "chat/python_json.h"

namespace daybreak::chat {
namespace {

// One level is the arguments' own object.
constexpr std::size_t kMaxValueDepth = JsonTreeLimits{}.max_depth - 1;

}  // namespace

void CallWriter::open_argument(std::string_view key, std::string_view type, std::string& out) {
  close_value(out);
  if (json_block_ || keys_.size() >= limits_.max_arguments || !keys_.emplace(key).second) {
    return open_ignored(out);
  }
  key_ = key;
  if (type.empty() || type == "string") {
    value_ = Value::kString;
    begin_member(out);
    out += '"';
  } else {
    value_ = Value::kOther;
  }
}

void CallWriter::open_ignored(std::string& out) {
  close_value(out);
  ++dropped_;
  value_ = Value::kIgnored;
}

void CallWriter::open_json(std::string& out) {
  close_value(out);
  if (json_block_ || begun_) {
    return open_ignored(out);
  }
  json_block_ = true;
  value_ = Value::kJson;
}

void CallWriter::text(std::string_view piece, std::string& out) {
  switch (value_) {
    case Value::kNone:
    case Value::kIgnored:
      return;
    case Value::kString:
      append_python_escaped(out, piece);
      return;
    case Value::kJson:
      begun_ = begun_ || !piece.empty();
      out += piece;
      return;
    case Value::kOther:
      other_ += piece;
      if (other_.size() > limits_.max_value_bytes) {
        other_as_string(out);
        value_ = Value::kString;
      }
      return;
  }
}

void CallWriter::close_value(std::string& out) {
  if (value_ == Value::kOther) {
    if (parse_json_tree(other_, {.max_depth = kMaxValueDepth})) {
      begin_member(out);
      out += std::exchange(other_, {});
    } else {
      other_as_string(out);
      out += '"';
    }
  } else if (value_ == Value::kString) {
    out += '"';
  }
  value_ = Value::kNone;
}

void CallWriter::close(std::string& out) {
  close_value(out);
  if (!begun_) {
    out += "{}";
  } else if (!json_block_) {
    out += '}';
  }
}

void CallWriter::abandon(std::string& out) {
  if (value_ == Value::kOther) {
    begin_member(out);
    out += std::exchange(other_, {});
  }
  value_ = Value::kNone;
}

void CallWriter::begin_member(std::string& out) {
  out += begun_ ? "," : "{";
  begun_ = true;
  append_python_string(out, key_);
  out += ':';
}

void CallWriter::other_as_string(std::string& out) {
  begin_member(out);
  out += '"';
  append_python_escaped(out, std::exchange(other_, {}));
}

}  // namespace daybreak::chat
