// SPDX-License-Identifier: Apache-2.0
#include "api/on_worker.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace daybreak::api {
namespace {

http::Task<void> call(const std::function<void()>& work) {
  work();
  co_return;
}

}  // namespace

http::Task<void> on_worker(Context& context, const std::function<void()>& work) {
  co_await on_pool(context.workers, work);
}

http::Task<void> on_pool(boost::asio::thread_pool& pool, const std::function<void()>& work) {
  http::Task<void> task = call(work);
  co_await boost::asio::co_spawn(pool.get_executor(), std::move(task), boost::asio::use_awaitable);
}

}  // namespace daybreak::api
