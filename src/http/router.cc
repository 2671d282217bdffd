// SPDX-License-Identifier: Apache-2.0
#include "http/router.h"

#include <charconv>
#include <optional>

namespace daybreak::http {

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size()) {
      const char* begin = text.data() + i + 1;
      if (std::from_chars(begin, begin + 2, value, 16).ptr == begin + 2) {
        out += static_cast<char>(value);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

namespace {

struct Fit {
  std::vector<std::string> parameters;
  std::size_t literal = 0;  // characters of the path that the pattern names
};

std::optional<Fit> fits(std::string_view pattern, std::string_view path) {
  const std::size_t brace = pattern.find('{');
  if (brace == std::string_view::npos) {
    return path == pattern ? std::optional(Fit{.parameters = {}, .literal = path.size()})
                           : std::nullopt;
  }
  const std::string_view before = pattern.substr(0, brace);
  const std::string_view after = pattern.substr(pattern.find('}') + 1);
  const std::size_t literal = before.size() + after.size();
  if (path.size() <= literal || !path.starts_with(before) || !path.ends_with(after)) {
    return std::nullopt;
  }
  return Fit{.parameters = {percent_decoded(path.substr(brace, path.size() - literal))},
             .literal = literal};
}

void list_method(std::string& allow, std::string_view method) {
  allow += allow.empty() ? "" : ", ";
  allow += method;
}

}  // namespace

void Router::add(std::string method, std::string pattern, Handler handler) {
  routes_.push_back({std::move(method), std::move(pattern), std::move(handler)});
}

std::vector<std::string> Router::list() const {
  std::vector<std::string> out;
  for (const Route& route : routes_) {
    out.push_back(route.method + " " + route.pattern);
  }
  return out;
}

void Router::wrap(const WrapFn& wrap) {
  for (Route& route : routes_) {
    route.handler = wrap(route.pattern, std::move(route.handler));
  }
}

Router::Match Router::find(std::string_view method, std::string_view path) const {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  Match match;
  std::size_t literal = 0;
  for (const Route& route : routes_) {
    auto fit = fits(route.pattern, path);
    if (!fit || fit->literal < literal) {
      continue;
    }
    if (fit->literal > literal) {  // "/v1/files/{id}/content" before "/v1/files/{id}"
      match = {};
      literal = fit->literal;
    }
    match.route = route.pattern;
    list_method(match.allow, route.method);
    if (route.method == "GET") {
      list_method(match.allow, "HEAD");
    }
    if (route.method == wanted && match.handler == nullptr) {
      match.handler = &route.handler;
      match.parameters = std::move(fit->parameters);
    }
  }
  if (!match.allow.empty()) {
    list_method(match.allow, "OPTIONS");
  }
  return match;
}

}  // namespace daybreak::http
