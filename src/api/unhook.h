// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "http/exchange.h"

namespace daybreak::api {

// At its end nobody is told any more that the client left: declared after what the hook refers to,
// it goes first.
class Unhook {
 public:
  explicit Unhook(http::Exchange& exchange) : exchange_(exchange) {}
  ~Unhook() { exchange_.on_gone(nullptr); }
  Unhook(const Unhook&) = delete;
  Unhook& operator=(const Unhook&) = delete;

 private:
  http::Exchange& exchange_;
};

}  // namespace daybreak::api
