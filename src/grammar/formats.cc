// SPDX-License-Identifier: Apache-2.0
// Each format is written as a regular expression made of smaller ones, under the names of the RFC.
#include "grammar/formats.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "grammar/regex.h"

namespace daybreak::grammar {
namespace {

// Alternatives in one group.
template <class... Parts>
std::string one_of(const std::string& first, const Parts&... parts) {
  std::string out = "(?:" + first;
  ((out += "|", out += parts), ...);
  return out + ")";
}

std::string optional(const std::string& part) { return "(?:" + part + ")?"; }
std::string star(const std::string& part) { return "(?:" + part + ")*"; }
std::string times(const std::string& part, int min, int max) {
  return "(?:" + part + "){" + std::to_string(min) + "," + std::to_string(max) + "}";
}

// RFC 3339, 5.6 and 5.7.

// Years divisible by 4, but of the centuries only those divisible by 400.
std::string date() {
  const std::string by_four = "[02468][048]|[13579][26]";
  const std::string leap =
      one_of("[0-9]{2}(?:0[48]|[2468][048]|[13579][26])", "(?:" + by_four + ")00");
  const std::string day_of_month =
      one_of("(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
             "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)", "02-(?:0[1-9]|1[0-9]|2[0-8])");
  return one_of("[0-9]{4}-" + day_of_month, leap + "-02-29");
}

std::string two_digits(int number) {
  return {static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
}

// A leap second is the one after 23:59:59 UTC. For every local hour and minute there is exactly one
// offset to each side with which it is that.
std::string leap_seconds(const std::string& fraction) {
  constexpr int kDay = 24 * 60;
  const auto clock = [](int minutes) {
    return two_digits(minutes / 60) + ":" + two_digits(minutes % 60);
  };
  std::string out = "(?:";
  for (int local = 0; local < kDay; ++local) {
    const int ahead = (local + 1) % kDay;  // local time minus 23:59
    const int behind = kDay - 1 - local;
    out += (local == 0 ? "" : "|") + clock(local) + ":60" + fraction + "(?:\\+" + clock(ahead) +
           "|-" + clock(behind) + (local == kDay - 1 ? "|[Zz])" : ")");
  }
  return out + ")";
}

std::string time() {
  const std::string clock = "(?:[01][0-9]|2[0-3]):[0-5][0-9]";
  const std::string fraction = "(?:\\.[0-9]+)?";
  return one_of(clock + ":[0-5][0-9]" + fraction + one_of("[Zz]", "[+-]" + clock),
                leap_seconds(fraction));
}

std::string date_time() { return date() + "[Tt]" + time(); }

// RFC 3339, appendix A: units may not be skipped.
std::string duration() {
  const std::string second = "[0-9]+S";
  const std::string minute = "[0-9]+M" + optional(second);
  const std::string hour = "[0-9]+H" + optional(minute);
  const std::string clock = "T" + one_of(hour, minute, second);
  const std::string day = "[0-9]+D";
  const std::string month = "[0-9]+M" + optional(day);
  const std::string year = "[0-9]+Y" + optional(month);
  return "P" + one_of(one_of(day, month, year) + optional(clock), clock, "[0-9]+W");
}

// RFC 1123, 2.1.
std::string hostname() {
  const std::string label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
  return label + star("\\." + label);
}

// Numbers from 0 to 255; a leading zero would be read as octal by some.
std::string ipv4() {
  const std::string octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  return octet + times("\\." + octet, 3, 3);
}

// RFC 4291, 2.2: eight groups, of which the last two may be an IPv4 address; :: stands once for at
// least `least` groups of zeros.
std::string ipv6(const std::string& embedded, int least) {
  const std::string group = "[0-9A-Fa-f]{1,4}";
  const auto groups = [&](int count) {
    return count == 0 ? std::string() : group + times(":" + group, count - 1, count - 1);
  };
  std::string out = one_of(groups(8), groups(6) + ":" + embedded);
  for (int left = 0; left <= 8 - least; ++left) {
    const int right = 8 - least - left;  // at most
    std::string ends = "(?:";
    for (int count = 0; count <= right; ++count) {
      ends += (count == 0 ? "" : "|") + groups(count);
      if (count >= 2) {
        ends += "|" + groups(count - 2) + (count > 2 ? ":" : "") + embedded;
      }
    }
    out += "|" + groups(left) + "::" + ends + ")";
  }
  return "(?:" + out + ")";
}

// RFC 5321, 4.1.2 and 4.1.3: Mailbox. Of the general address literals none is registered.
std::string email() {
  const std::string text = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
  const std::string quoted = "\"(?:[ !#-\\[\\]-~]|\\\\[ -~])*\"";
  const std::string label = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
  const std::string octet = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})";
  const std::string quad = octet + times("\\." + octet, 3, 3);
  const std::string literal = "\\[" + one_of(quad, "[Ii][Pp][Vv]6:" + ipv6(quad, 2)) + "\\]";
  return one_of(text + star("\\." + text), quoted) + "@" +
         one_of(label + star("\\." + label), literal);
}

// RFC 3986, appendix A. In a relative reference the first segment has no colon.
std::string uri(bool with_scheme) {
  const std::string escaped = "%[0-9A-Fa-f]{2}";
  const std::string plain = "-A-Za-z0-9._~!$&'()*+,;=";  // unreserved and sub-delims
  const std::string user = star(one_of("[" + plain + ":]", escaped));
  const std::string name = star(one_of("[" + plain + "]", escaped));
  const std::string letter = one_of("[" + plain + ":@]", escaped);  // pchar
  const std::string future = "[Vv][0-9A-Fa-f]+\\.[" + plain + ":]+";
  const std::string host = one_of("\\[" + one_of(ipv6(ipv4(), 1), future) + "\\]", name);
  const std::string authority = optional(user + "@") + host + optional(":[0-9]*");
  const std::string segments = star("/" + letter + "*");
  const std::string first = with_scheme ? letter : one_of("[" + plain + "@]", escaped);
  const std::string rest = star(one_of("[/?]", letter));
  return (with_scheme ? "[A-Za-z][A-Za-z0-9+.-]*:" : "") +
         one_of("//" + authority + segments, "/" + optional(letter + "+" + segments),
                first + "+" + segments, "") +
         optional("\\?" + rest) + optional("#" + rest);
}

std::string uri_reference() { return one_of(uri(true), uri(false)); }

// RFC 6570, 2.
std::string uri_template() {
  const std::string escaped = "%[0-9A-Fa-f]{2}";
  const std::string beyond_ascii =
      "\\u{A0}-\\u{D7FF}\\u{E000}-\\u{FDCF}\\u{FDF0}-\\u{FFEF}\\u{10000}-\\u{1FFFD}"
      "\\u{20000}-\\u{2FFFD}\\u{30000}-\\u{3FFFD}\\u{40000}-\\u{4FFFD}\\u{50000}-\\u{5FFFD}"
      "\\u{60000}-\\u{6FFFD}\\u{70000}-\\u{7FFFD}\\u{80000}-\\u{8FFFD}\\u{90000}-\\u{9FFFD}"
      "\\u{A0000}-\\u{AFFFD}\\u{B0000}-\\u{BFFFD}\\u{C0000}-\\u{CFFFD}\\u{D0000}-\\u{DFFFD}"
      "\\u{E1000}-\\u{EFFFD}\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}";
  const std::string literal = "[!#$&(-;=?-\\[\\]_a-z~" + beyond_ascii + "]";
  const std::string letter = one_of("[A-Za-z0-9_]", escaped);
  const std::string name = letter + star("\\.?" + letter);
  const std::string variable = name + optional(one_of(":[1-9][0-9]{0,3}", "\\*"));
  const std::string expression = "\\{[+#./;?&=,!@|]?" + variable + star("," + variable) + "\\}";
  return star(one_of(literal, escaped, expression));
}

std::string uuid() {
  const std::string hex = "[0-9A-Fa-f]";
  return hex + "{8}" + times("-" + hex + "{4}", 3, 3) + "-" + hex + "{12}";
}

std::string json_pointer() { return star("/(?:[^~/]|~[01])*"); }  // RFC 6901, 3

std::string relative_json_pointer() {  // draft-bhutton-relative-json-pointer-00, 3
  const std::string number = "(?:0|[1-9][0-9]*)";
  return number + one_of("#", optional("[+-]" + number) + json_pointer());
}

struct Format {
  std::string_view name;
  std::string (*pattern)();
  std::once_flag once = {};
  std::unique_ptr<const Dfa> language = nullptr;
};

// The largest, date-time, takes about a million; a test compiles them all.
constexpr std::uint64_t kSteps = 20'000'000;

std::span<Format> formats() {
  static std::array<Format, 14> table = {{
      {"date", date},
      {"time", time},
      {"date-time", date_time},
      {"duration", duration},
      {"email", email},
      {"hostname", hostname},
      {"ipv4", ipv4},
      {"ipv6", [] { return ipv6(ipv4(), 1); }},
      {"uri", [] { return uri(true); }},
      {"uri-reference", uri_reference},
      {"uri-template", uri_template},
      {"uuid", uuid},
      {"json-pointer", json_pointer},
      {"relative-json-pointer", relative_json_pointer},
  }};
  return table;
}

}  // namespace

const Dfa* format_language(std::string_view format) {
  const auto found = std::ranges::find(formats(), format, &Format::name);
  if (found == formats().end()) {
    return nullptr;
  }
  std::call_once(found->once, [&] {
    Budget budget(kSteps);
    found->language =
        std::make_unique<const Dfa>(*compile_regex(found->pattern(), RegexMatch::kWhole, budget));
  });
  return found->language.get();
}

void prepare_formats() {
  for (const auto& format : formats()) {
    static_cast<void>(format_language(format.name));
  }
}

std::optional<std::uint32_t> format_max_chars(std::string_view format) {
  return format == "hostname" ? std::optional(253U) : std::nullopt;
}

}  // namespace daybreak::grammar
