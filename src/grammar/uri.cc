// SPDX-License-Identifier: Apache-2.0
#include "grammar/uri.h"

#include <algorithm>
#include <cstddef>

#include "base/utf8.h"

namespace daybreak::grammar {
namespace {

bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_scheme(std::string_view text) {
  return !text.empty() && is_alpha(text[0]) && std::ranges::all_of(text, [](char c) {
    return is_alpha(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
  });
}

int hex_value(char c) {
  if (is_digit(c)) {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// RFC 3986, 5.2.4: takes "." and ".." out of a path.
std::string remove_dot_segments(std::string_view in) {
  std::string out;
  const auto drop_last = [&out] {
    const std::size_t slash = out.rfind('/');
    out.erase(slash == std::string::npos ? 0 : slash);
  };
  while (!in.empty()) {
    if (in.starts_with("../")) {
      in.remove_prefix(3);
    } else if (in.starts_with("./")) {
      in.remove_prefix(2);
    } else if (in.starts_with("/./")) {
      in.remove_prefix(2);
    } else if (in == "/.") {
      in = "/";
    } else if (in.starts_with("/../")) {
      in.remove_prefix(3);
      drop_last();
    } else if (in == "/..") {
      in = "/";
      drop_last();
    } else if (in == "." || in == "..") {
      in = {};
    } else {
      const std::size_t next = std::min(in.find('/', 1), in.size());
      out += in.substr(0, next);
      in.remove_prefix(next);
    }
  }
  return out;
}

// RFC 3986, 5.2.3: where a relative path starts.
std::string merge_paths(const Uri& base, std::string_view path) {
  if (base.authority && base.path.empty()) {
    return "/" + std::string(path);
  }
  const std::size_t slash = base.path.rfind('/');
  const std::string_view folder =
      slash == std::string_view::npos ? std::string_view() : base.path.substr(0, slash + 1);
  return std::string(folder) + std::string(path);
}

}  // namespace

Uri split_uri(std::string_view text) {
  Uri uri;
  if (const std::size_t hash = text.find('#'); hash != std::string_view::npos) {
    uri.fragment = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
    uri.query = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  if (const std::size_t colon = text.find(':');
      colon != std::string_view::npos && is_scheme(text.substr(0, colon))) {
    uri.scheme = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const std::size_t end = std::min(text.find('/'), text.size());
    uri.authority = text.substr(0, end);
    text.remove_prefix(end);
  }
  uri.path = text;
  return uri;
}

std::string resolve_uri(std::string_view base_text, std::string_view reference) {
  const Uri base = split_uri(base_text);
  Uri target = split_uri(reference);
  std::string path;
  if (target.scheme || target.authority) {
    path = remove_dot_segments(target.path);
    target.scheme = target.scheme ? target.scheme : base.scheme;
  } else {
    target.scheme = base.scheme;
    target.authority = base.authority;
    if (target.path.empty()) {
      path = std::string(base.path);
      target.query = target.query ? target.query : base.query;
    } else {
      path = remove_dot_segments(target.path.starts_with('/') ? std::string(target.path)
                                                              : merge_paths(base, target.path));
    }
  }
  std::string out;
  if (target.scheme) {
    out += std::string(*target.scheme) + ":";
  }
  if (target.authority) {
    out += "//" + std::string(*target.authority);
  }
  out += path;
  if (target.query) {
    out += "?" + std::string(*target.query);
  }
  return out;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return std::nullopt;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return is_valid_utf8(out) ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace daybreak::grammar
