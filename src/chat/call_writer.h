// SPDX-License-Identifier: Apache-2.0
#pragma once

// Turns one call's elements into the JSON object of its arguments, piece by piece: strings as they
// arrive, other values when they are complete (they are checked first).

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace daybreak::chat {

struct CallWriterLimits {
  std::size_t max_arguments = 1'024;
  std::size_t max_value_bytes = 1'048'576;
};

// Not thread-safe. Each function appends to `out` what the client may be told now. Whatever the
// order of calls, the pieces up to close() are an object, unless open_json() passed text through.
class CallWriter {
 public:
  explicit CallWriter(const CallWriterLimits& limits) : limits_(limits) {}

  // Begins an argument; an empty type is a string. The first of equal keys wins: a later one, one
  // past the limit, or one after a json block is left out.
  void open_argument(std::string_view key, std::string_view type, std::string& out);
  // Begins a value that is left out.
  void open_ignored(std::string& out);
  // Begins a block whose text is the whole object. Left out if anything came before it.
  void open_json(std::string& out);
  // More text of the open value. REQUIRES: valid UTF-8.
  void text(std::string_view piece, std::string& out);
  // Ends the open value, if there is one. A value of another type than string that is not JSON, or
  // is longer than the limit, becomes a string.
  void close_value(std::string& out);
  // Ends the object.
  void close(std::string& out);
  // Delivers the text of a value that was cut off, without making it look whole.
  void abandon(std::string& out);

  [[nodiscard]] std::size_t dropped() const { return dropped_; }

 private:
  enum class Value : std::uint8_t { kNone, kString, kOther, kJson, kIgnored };

  void begin_member(std::string& out);
  void other_as_string(std::string& out);

  CallWriterLimits limits_;
  Value value_ = Value::kNone;
  bool json_block_ = false;
  bool begun_ = false;  // something was written
  std::string key_;     // of the open value
  std::string other_;   // text of an open value that is no string
  std::set<std::string, std::less<>> keys_;
  std::size_t dropped_ = 0;
};

}  // namespace daybreak::chat
