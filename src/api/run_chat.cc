// SPDX-License-Identifier: Apache-2.0
#include "api/run_chat.h"

#include <memory>
#include <utility>

#include "api/run_call.h"

namespace daybreak::api {

void append_event(std::string& frames, std::string_view json) {
  if (!json.empty()) {
    frames += "data: ";
    frames += json;
    frames += "\n\n";
  }
}

http::Handler chat_handler(Context& context, ChatProtocol protocol) {
  // Shared by every request in progress; the handler itself lives as long as the router.
  const auto shared = std::make_shared<const ChatProtocol>(std::move(protocol));
  return [&context, shared](http::Exchange& exchange) {
    return run_call<Generation, ChatCall>(context, exchange, "chat", shared->refuse,
                                          shared->prepare);
  };
}

}  // namespace daybreak::api
