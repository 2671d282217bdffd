// SPDX-License-Identifier: Apache-2.0
#pragma once

// Router: method and path to handler. Filled before the server starts and const afterwards, so that
// every connection may share it.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.h"

namespace daybreak::http {

// Undoes %XX. A '%' that starts no escape stays as it is.
[[nodiscard]] std::string percent_decoded(std::string_view text);

class Router {
 public:
  // The answer to a path: a handler, or the methods the path has (empty: no such path).
  struct Match {
    const Handler* handler = nullptr;
    std::string_view route = "none";      // the pattern, a bounded label for metrics
    std::vector<std::string> parameters;  // what the pattern's {name} stood for
    std::string allow;                    // "GET, HEAD, OPTIONS"
  };

  // Adds a route. `pattern` is a path that may have one "{name}", which stands for any non-empty
  // text, slashes included, percent-decoded. Where several patterns fit a path, the one that names
  // most of its characters is meant. GET routes also answer HEAD.
  void add(std::string method, std::string pattern, Handler handler);

  // Returns "METHOD pattern" of every route, in the order they were added.
  [[nodiscard]] std::vector<std::string> list() const;

  // Replaces each handler by what `wrap` makes of it and its pattern.
  using WrapFn = std::function<Handler(std::string_view pattern, Handler handler)>;
  void wrap(const WrapFn& wrap);

  // Finds the handler for a request. The result borrows from the router.
  [[nodiscard]] Match find(std::string_view method, std::string_view path) const;

 private:
  struct Route {
    std::string method;
    std::string pattern;
    Handler handler;
  };
  std::vector<Route> routes_;
};

}  // namespace daybreak::http
