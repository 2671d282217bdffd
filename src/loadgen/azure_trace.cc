// SPDX-License-Identifier: Apache-2.0
#include "loadgen/azure_trace.h"

#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "base/json_document.h"
#include "loadgen/trace_file.h"

namespace daybreak::loadgen {
namespace {

constexpr std::string_view kHeading = "TIMESTAMP,ContextTokens,GeneratedTokens";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kExpected =
    "expected YYYY-MM-DD HH:MM:SS[.FRACTION],TOKENS,TOKENS, found ";

// Takes a whole number of `digits` digits from the front.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) {
    return std::nullopt;
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
  if (error != std::errc{} || end != text.data() + digits || text.front() == '-') {
    return std::nullopt;
  }
  text.remove_prefix(digits);
  return value;
}

// Takes what is between two numbers of a time.
bool take(std::string_view& text, char c) {
  const bool there = text.starts_with(c);
  text.remove_prefix(there ? 1 : 0);
  return there;
}

// Takes ".9799600", if there.
std::optional<double> take_fraction(std::string_view& text) {
  double value = 0;
  if (text.starts_with('.')) {
    const std::size_t end = text.find_first_not_of("0123456789", 1);
    const std::string_view digits = text.substr(0, end);
    if (digits.size() < 2 ||
        std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc{}) {
      return std::nullopt;
    }
    text.remove_prefix(digits.size());
  }
  return value;
}

// Seconds since 1970-01-01; all of a file have one zone, so that "+00:00" at the end says nothing.
std::optional<double> parse_time(std::string_view text) {
  constexpr std::array<std::size_t, 6> kDigits = {4, 2, 2, 2, 2, 2};
  constexpr std::string_view kBetween = "-- ::";
  std::array<int, 6> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::optional<int> part = take_digits(text, kDigits[i]);
    if (!part || (i < kBetween.size() && !take(text, kBetween[i]))) {
      return std::nullopt;
    }
    parts[i] = *part;
  }
  const std::optional<double> fraction = take_fraction(text);
  const std::chrono::year_month_day date{std::chrono::year(parts[0]),
                                         std::chrono::month(static_cast<unsigned>(parts[1])),
                                         std::chrono::day(static_cast<unsigned>(parts[2]))};
  constexpr int kHours = 24;
  constexpr int kSixty = 60;
  if (!fraction || !(text.empty() || text == "+00:00" || text == "Z") || !date.ok() ||
      parts[3] >= kHours || parts[4] >= kSixty || parts[5] > kSixty) {
    return std::nullopt;
  }
  const std::chrono::seconds day = std::chrono::sys_days(date).time_since_epoch();
  return static_cast<double>(day.count() + (parts[3] * kSixty + parts[4]) * kSixty + parts[5]) +
         *fraction;
}

std::optional<std::size_t> parse_tokens(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value <= kMaxTraceTokens
             ? std::optional(value)
             : std::nullopt;
}

class AzureTrace final : public TraceSource {
 public:
  explicit AzureTrace(std::unique_ptr<TraceFile> file) : file_(std::move(file)) {}

  Result<std::optional<Conversation>> next() override {
    for (;;) {
      DAYBREAK_TRY(const std::optional<std::string> line, file_->next());
      if (!line) {
        return std::optional<Conversation>();
      }
      if (file_->number() == 1) {
        DAYBREAK_CHECK_OK(check_heading(*line));
        continue;
      }
      if (line->empty()) {
        continue;
      }
      DAYBREAK_TRY(Turn turn, parse_azure_line(*line, file_->where()));
      began_ = began_.value_or(turn.at_seconds);
      turn.at_seconds = std::max(0.0, turn.at_seconds - *began_);
      Conversation out{.name = std::to_string(file_->number()), .turns = {}};
      out.turns.push_back(std::move(turn));
      return std::optional(std::move(out));
    }
  }

 private:
  [[nodiscard]] Status check_heading(std::string_view line) const {
    line.remove_prefix(line.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
    return line == kHeading
               ? ok()
               : Status(Error{Errc::kInvalidArgument, file_->where() + ": expected \"" +
                                                          std::string(kHeading) + "\", found \"" +
                                                          printable(line) + "\""});
  }

  std::unique_ptr<TraceFile> file_;
  std::optional<double> began_;
};

}  // namespace

Result<Turn> parse_azure_line(std::string_view line, std::string_view where) {
  const std::size_t first = line.find(',');
  const std::size_t second = first == line.npos ? first : line.find(',', first + 1);
  if (second != line.npos) {
    const auto time = parse_time(line.substr(0, first));
    const auto input = parse_tokens(line.substr(first + 1, second - first - 1));
    const auto output = parse_tokens(line.substr(second + 1));
    if (time && input && *input > 0 && output) {
      Turn turn;
      turn.at_seconds = *time;
      turn.input_tokens = *input;
      turn.output_tokens = *output;
      return turn;
    }
  }
  return Error{Errc::kInvalidArgument,
               std::string(where) + ": " + std::string(kExpected) + "\"" + printable(line) + "\""};
}

Result<std::unique_ptr<TraceSource>> open_azure_trace(const std::string& path) {
  DAYBREAK_TRY(auto file, TraceFile::open(path));
  return std::unique_ptr<TraceSource>(std::make_unique<AzureTrace>(std::move(file)));
}

}  // namespace daybreak::loadgen
