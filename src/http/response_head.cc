// SPDX-License-Identifier: Apache-2.0
#include "http/response_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>

#include "http/message.h"

namespace daybreak::http {
namespace {

bool is_id_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

}  // namespace

std::string status_line(int status) {
  return fmt::format("HTTP/1.1 {} {}\r\n", status, reason(status));
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  out += "\r\n";
}

std::string request_id(std::string_view proposed) {
  if (!proposed.empty() && proposed.size() <= kMaxRequestIdBytes &&
      std::ranges::all_of(proposed, is_id_char)) {
    return std::string(proposed);
  }
  static const std::uint64_t process =
      (std::uint64_t{std::random_device{}()} << 32U) | std::random_device{}();
  static std::atomic<std::uint64_t> count{0};
  return fmt::format("req-{:016x}-{}", process, ++count);
}

std::string http_date(std::chrono::system_clock::time_point when) {
  namespace chrono = std::chrono;
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                     "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = chrono::floor<chrono::days>(when);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss time(chrono::floor<chrono::seconds>(when - day));
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
                     kDays[chrono::weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
                     kMonths[static_cast<unsigned>(date.month()) - 1],
                     static_cast<int>(date.year()), time.hours().count(), time.minutes().count(),
                     time.seconds().count());
}

std::string chunk_head(std::size_t bytes) { return fmt::format("{:x}\r\n", bytes); }

std::string_view known_method(std::string_view method) {
  constexpr std::array<std::string_view, 7> kMethods = {"GET", "HEAD",  "POST",  "OPTIONS",
                                                        "PUT", "PATCH", "DELETE"};
  const auto* const found = std::ranges::find(kMethods, method);
  return found == kMethods.end() ? "other" : *found;
}

}  // namespace daybreak::http
