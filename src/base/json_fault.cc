// SPDX-License-Identifier: Apache-2.0
#include "base/json_fault.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/json_document.h"

namespace daybreak {
namespace {

using Json = nlohmann::json;

// Receives parse events and remembers the path to the value being read.
class Tracer : public nlohmann::json_sax<Json> {
 public:
  explicit Tracer(std::size_t max_depth) : max_depth_(max_depth) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t& spelling) override {
    value();
    // An integer beyond 64 bits arrives here; the fast parser refuses it.
    if (spelling.find_first_of(".eE") == string_t::npos) {
      return fail("the integer " + printable(spelling, 40) + " does not fit 64 bits");
    }
    return true;
  }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return open(false); }
  bool start_array(std::size_t) override { return open(true); }
  bool key(string_t& key) override {
    path_.back().key = printable(key);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    if (!path_.empty() && path_.back().is_array) {
      ++path_.back().index;  // the broken value never arrived
    }
    // The library prefixes its own error code in brackets; only the reason helps a user.
    std::string reason = printable(error.what(), 400);
    if (const std::size_t at = reason.find("] "); at != std::string::npos) {
      reason.erase(0, at + 2);
    }
    return fail("not valid JSON (byte " + std::to_string(position) + "): " + reason);
  }

  [[nodiscard]] const std::optional<std::string>& reason() const { return reason_; }

 private:
  struct Level {
    bool is_array = false;
    std::int64_t index = -1;
    std::string key;
  };

  bool value() {
    if (!path_.empty() && path_.back().is_array) {
      ++path_.back().index;
    }
    return true;
  }
  bool open(bool is_array) {
    value();
    path_.push_back({.is_array = is_array, .index = -1, .key = {}});
    if (path_.size() > max_depth_) {
      return fail("nested deeper than " + std::to_string(max_depth_));
    }
    return true;
  }
  bool close() {
    path_.pop_back();
    return true;
  }
  bool fail(const std::string& why) {
    constexpr std::size_t kShownLevels = 8;
    std::string where;
    for (std::size_t i = 0; i < path_.size() && i < kShownLevels; ++i) {
      const Level& level = path_[i];
      if (level.is_array) {
        where += level.index < 0 ? "" : "[" + std::to_string(level.index) + "]";
      } else if (!level.key.empty()) {
        where += (where.empty() ? "" : ".") + level.key;
      }
    }
    reason_ = where.empty() ? why : where + ": " + why;
    return false;
  }

  std::size_t max_depth_;
  std::vector<Level> path_;
  std::optional<std::string> reason_;
};

}  // namespace

Error json_fault(std::string_view text, std::size_t max_depth, std::string_view fallback) {
  Tracer tracer(max_depth);
  Json::sax_parse(text.begin(), text.end(), &tracer);
  return {Errc::kInvalidArgument,
          tracer.reason().value_or("not valid JSON: " + printable(fallback, 400))};
}

}  // namespace daybreak
