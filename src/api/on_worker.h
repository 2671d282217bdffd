// SPDX-License-Identifier: Apache-2.0
#pragma once

// Long computations of one request, off the threads that serve connections.

#include <boost/asio/thread_pool.hpp>
#include <functional>

#include "api/context.h"
#include "http/exchange.h"

namespace daybreak::api {

// Runs `work` on a worker thread and returns to the caller's strand. `work` must outlive the call.
http::Task<void> on_worker(Context& context, const std::function<void()>& work);
// The same on a thread of `pool`.
http::Task<void> on_pool(boost::asio::thread_pool& pool, const std::function<void()>& work);

}  // namespace daybreak::api
