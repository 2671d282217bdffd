// SPDX-License-Identifier: Apache-2.0
#pragma once

// SharedBound: an amount of something, such as memory, that requests hold while they need it. What
// they hold together is bounded, and so is what one owner holds, whose slow clients could otherwise
// keep everybody else out. "", the owner on a server without keys, may be all of it: nobody else
// is.

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace daybreak::api {

// Thread-safe. Owners are forgotten when they hold nothing.
class SharedBound {
 public:
  SharedBound(std::size_t max, std::size_t max_of_owner)
      : max_(max), max_of_owner_(max_of_owner), state_(std::make_shared<State>()) {}

  // Takes `amount` for `owner` and returns what gives it back when it goes, which may be after the
  // bound itself; null if that would pass a bound.
  [[nodiscard]] std::shared_ptr<void> take(const std::string& owner, std::size_t amount);

  // What `owner` may hold at most, if others hold nothing.
  [[nodiscard]] std::size_t max_of(std::string_view owner) const {
    return owner.empty() ? max_ : max_of_owner_;
  }

 private:
  struct State {
    std::mutex mutex;  // guards the two below
    std::size_t held = 0;
    std::map<std::string, std::size_t> by_owner;
  };
  std::size_t max_;
  std::size_t max_of_owner_;
  std::shared_ptr<State> state_;
};

}  // namespace daybreak::api
