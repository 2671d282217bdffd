// SPDX-License-Identifier: Apache-2.0
#pragma once

// Result<T>: a value or an Error. The error list is closed; HTTP status and exit code are derived
// from it in exactly one function each.

#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace daybreak {

// Every way in which an operation can fail. Comment: HTTP status / process exit code.
enum class Errc : std::uint8_t {
  kInvalidArgument,  // the caller's input is wrong: 400 / 2
  kUnauthenticated,  // no or unknown credentials: 401 / 2
  kPermission,       // known, but not allowed: 403 / 2
  kNotFound,         // a named thing does not exist: 404 / 2
  kTooLarge,         // one input exceeds a bound: 413 / 2
  kResourceLimit,    // a shared bound is reached, try later: 429 / 1
  kCancelled,        // the caller went away: 499 / 1
  kCorrupt,          // bytes on disk or on the wire break their format: 500 / 1
  kUnsupported,      // well-formed, but this build or machine cannot do it: 501 / 2
  kUnavailable,      // shutting down or not ready: 503 / 1
  kDeadline,         // took longer than allowed: 504 / 1
  kIo,               // the operating system said no; message carries errno text: 500 / 1
};

// Returns the name used in logs and JSON, such as "invalid_argument".
[[nodiscard]] std::string_view to_string(Errc code);
[[nodiscard]] int http_status(Errc code);
[[nodiscard]] int exit_code(Errc code);

// What went wrong, in words a user can act on. `message` names the thing, what was expected and
// what was found; it ends without a full stop so that in() can prefix a context.
struct Error {
  Errc code;
  std::string message;
  // A literal, finer than the code, where a protocol has a name for it ("incorrect_api_key_error").
  std::string_view reason = {};

  // Returns the same error prefixed with where it happened ("shard 3: ...").
  [[nodiscard]] Error in(std::string_view context) && {
    message.insert(0, std::string(context) + ": ");
    return std::move(*this);
  }

  friend bool operator==(const Error&, const Error&) = default;
};

// Either a T or an Error; a subset of std::expected's interface under its names, so that the type
// can become an alias once every compiler we support has it. Differs in one way on purpose:
// discarding one is a warning.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }

  // REQUIRES: has_value(). Throws std::bad_variant_access otherwise.
  [[nodiscard]] T& operator*() & { return std::get<0>(state_); }
  [[nodiscard]] const T& operator*() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& operator*() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] T* operator->() { return &std::get<0>(state_); }
  [[nodiscard]] const T* operator->() const { return &std::get<0>(state_); }

  // REQUIRES: !has_value().
  [[nodiscard]] const Error& error() const& { return std::get<1>(state_); }
  [[nodiscard]] Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

using Status = Result<std::monostate>;
[[nodiscard]] inline Status ok() { return std::monostate{}; }

}  // namespace daybreak

#define DAYBREAK_CONCAT_(a, b) a##b
#define DAYBREAK_CONCAT(a, b) DAYBREAK_CONCAT_(a, b)

// DAYBREAK_TRY(auto x, f());  binds x to the value, or returns f()'s error. A statement: use it
// inside braces.
#define DAYBREAK_TRY(decl, expr) \
  DAYBREAK_TRY_(DAYBREAK_CONCAT(daybreak_try_, __COUNTER__), decl, expr)
#define DAYBREAK_TRY_(tmp, decl, expr)     \
  auto tmp = (expr);                       \
  if (!tmp) return std::move(tmp).error(); \
  decl = *std::move(tmp)

// DAYBREAK_CHECK_OK(f());  returns f()'s error, for a Status.
#define DAYBREAK_CHECK_OK(expr)                            \
  do {                                                     \
    if (auto daybreak_status = (expr); !daybreak_status) { \
      return std::move(daybreak_status).error();           \
    }                                                      \
  } while (false)
