// SPDX-License-Identifier: Apache-2.0
#pragma once

// Exchange: one request being answered. A handler is a coroutine that reads the request and answers
// exactly once, either with a whole Response or with a stream of server-sent events.
//
// Every function is called on the connection's strand, where the handler runs by itself.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace daybreak::http {

template <class T>
using Task = boost::asio::awaitable<T>;

// One fact for the access log beside status and duration. Never content of a request or answer.
struct Note {
  std::string name;
  std::int64_t value;
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  [[nodiscard]] virtual const Request& request() const = 0;
  // Variable parts of the path, in the order of the route's pattern.
  [[nodiscard]] virtual const std::vector<std::string>& parameters() const = 0;
  // The strand everything of this connection runs on; outlives the exchange.
  [[nodiscard]] virtual boost::asio::any_io_executor executor() const = 0;

  // The client closed or stopped reading: nothing written now can arrive.
  [[nodiscard]] virtual bool client_gone() const = 0;
  // Sets what to run, at most once, when the client goes away; at once if it already has. A later
  // call replaces the earlier one; an empty function removes it.
  virtual void on_gone(std::function<void()> callback) = 0;

  // Sends the whole answer. Returns whether the client was there when it began and the socket took
  // all of it: a client that closes as soon as it has read the answer has heard it, whatever
  // client_gone() says by then. REQUIRES: nothing has been sent.
  virtual Task<bool> respond(Response response) = 0;

  // Sends a 200 head for text/event-stream with `headers` added. Returns whether the client is
  // still there. REQUIRES: nothing has been sent.
  virtual Task<bool> start_events(std::vector<Header> headers) = 0;
  // Sends `frames`, one or more whole events ("data: ...\n\n"), and returns when the socket has
  // taken them: a slow reader slows its handler down, and one that takes nothing for the write
  // timeout is dropped. Returns whether the client is still there. REQUIRES: start_events() before.
  virtual Task<bool> send_events(std::string frames) = 0;

  // Adds a fact to this request's line in the access log. `name` comes from a fixed set.
  virtual void note(Note note) = 0;
};

using Handler = std::function<Task<void>(Exchange&)>;

}  // namespace daybreak::http
