// SPDX-License-Identifier: Apache-2.0
#include "http/server.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "http/connection.h"

namespace daybreak::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr int kBacklog = 1024;
constexpr std::size_t kMaxThreads = 256;
// When accept fails, mostly for want of file descriptors: long enough for some to be closed.
constexpr std::chrono::milliseconds kAcceptPause{50};

Status check(const ServerOptions& options) {
  const auto in_range = [](std::string_view name, auto value, auto low, auto high) -> Status {
    if (value >= low && value <= high) {
      return ok();
    }
    return Error{Errc::kInvalidArgument, std::string(name) + " must be " + std::to_string(low) +
                                             " to " + std::to_string(high) + ", found " +
                                             std::to_string(value)};
  };
  DAYBREAK_CHECK_OK(in_range("http threads", options.threads, std::size_t{1}, kMaxThreads));
  DAYBREAK_CHECK_OK(
      in_range("max connections", options.max_connections, std::size_t{1}, std::size_t{1} << 20U));
  DAYBREAK_CHECK_OK(in_range("request head limit", options.limits.head_bytes, std::size_t{256},
                             std::size_t{1} << 20U));
  DAYBREAK_CHECK_OK(in_range("request body limit", options.limits.body_bytes, std::size_t{1},
                             std::size_t{1} << 34U));
  DAYBREAK_CHECK_OK(BrowserGuard::check(options.allowed_hosts));
  DAYBREAK_CHECK_OK(BrowserGuard::check_origin(options.cors_origin));
  for (const auto& [name, value] : {std::pair{"header timeout", options.header_timeout},
                                    {"body timeout", options.body_timeout},
                                    {"idle timeout", options.idle_timeout},
                                    {"write timeout", options.write_timeout}}) {
    DAYBREAK_CHECK_OK(in_range(std::string(name) + " in milliseconds", value.count(),
                               decltype(value.count()){1}, decltype(value.count()){86'400'000}));
  }
  return ok();
}

}  // namespace

struct Server::Impl {
  Impl(ServerOptions options, Router router)
      : context{.options = std::move(options), .router = std::move(router)},
        io(static_cast<int>(context.options.threads)),
        acceptor(asio::make_strand(io)),
        tls(context.options.tls) {}

  Status bind();
  asio::awaitable<void> accept_loop();
  void serve(tcp::socket socket);
  void remove(const Connection* connection);
  // Posts `action` to the strand of every connection.
  void for_each(void (Connection::*action)());
  bool wait_empty(std::chrono::milliseconds deadline);

  ConnectionContext context;
  std::uint16_t port = 0;  // the one bound; the acceptor forgets it when it closes
  bool loopback = false;   // the address bound
  asio::io_context io;
  tcp::acceptor acceptor;
  std::vector<std::thread> threads;

  std::mutex mutex;                 // guards the three below
  std::shared_ptr<TlsContext> tls;  // of new connections
  std::map<const Connection*, std::weak_ptr<Connection>> open;
  std::size_t shedding = 0;
  std::condition_variable closed;  // a connection left `open`
};

Status Server::Impl::bind() {
  const ServerOptions& options = context.options;
  error_code error;
  tcp::resolver resolver(io);
  const auto found =
      resolver.resolve(options.host, std::to_string(options.port), tcp::resolver::passive, error);
  if (error || found.empty()) {
    return Error{Errc::kInvalidArgument,
                 "host '" + options.host + "' cannot be resolved: " + error.message()};
  }
  const tcp::endpoint endpoint = found.begin()->endpoint();
  acceptor.open(endpoint.protocol(), error);
  if (!error) {
    acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  }
  if (!error) {
    acceptor.bind(endpoint, error);
  }
  if (!error) {
    acceptor.listen(kBacklog, error);
  }
  if (error) {
    return Error{Errc::kIo, "cannot listen on " + options.host + " port " +
                                std::to_string(options.port) + ": " + error.message()};
  }
  port = acceptor.local_endpoint(error).port();
  loopback = endpoint.address().is_loopback();
  if (options.guard_browsers) {
    context.guard.emplace(BrowserGuardOptions{.host = options.host,
                                              .loopback = loopback,
                                              .allowed_hosts = options.allowed_hosts,
                                              .cors_origin = options.cors_origin});
  }
  return ok();
}

asio::awaitable<void> Server::Impl::accept_loop() {
  constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
  asio::steady_timer pause(acceptor.get_executor());
  while (acceptor.is_open()) {
    // Each connection gets a strand: its coroutine, its watcher and its timer never overlap.
    const asio::any_io_executor strand = asio::make_strand(io);
    auto [error, socket] = co_await acceptor.async_accept(strand, kAwait);
    if (!error) {
      serve(std::move(socket));
    } else if (acceptor.is_open()) {
      pause.expires_after(kAcceptPause);
      co_await pause.async_wait(kAwait);
    }
  }
}

void Server::Impl::serve(tcp::socket socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  const asio::any_io_executor strand = socket.get_executor();
  std::shared_ptr<TlsContext> certificate;
  {
    const std::lock_guard lock(mutex);
    certificate = tls;
  }
  const auto connection =
      std::make_shared<Connection>(context, std::move(socket), certificate.get());
  bool full = false;
  {
    const std::lock_guard lock(mutex);
    full = open.size() - shedding >= context.live.max_connections;
    if (full && shedding >= kMaxShedConnections) {
      return;  // the destructor closes it
    }
    shedding += full ? 1 : 0;
    open.emplace(connection.get(), connection);
  }
  asio::co_spawn(strand, full ? connection->shed() : connection->run(),
                 [this, connection, full](const std::exception_ptr&) {
                   if (full) {
                     const std::lock_guard lock(mutex);
                     --shedding;
                   }
                   remove(connection.get());
                 });
}

void Server::Impl::remove(const Connection* connection) {
  {
    const std::lock_guard lock(mutex);
    open.erase(connection);
  }
  closed.notify_all();
}

void Server::Impl::for_each(void (Connection::*action)()) {
  const std::lock_guard lock(mutex);
  for (const auto& [key, weak] : open) {
    if (const auto connection = weak.lock()) {
      asio::post(connection->executor(), [connection, action] { ((*connection).*action)(); });
    }
  }
}

bool Server::Impl::wait_empty(std::chrono::milliseconds deadline) {
  std::unique_lock lock(mutex);
  return closed.wait_for(lock, deadline, [this] { return open.empty(); });
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() { stop(); }

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Router router) {
  DAYBREAK_CHECK_OK(check(options));
  auto impl = std::make_unique<Impl>(std::move(options), std::move(router));
  DAYBREAK_CHECK_OK(impl->bind());
  asio::co_spawn(impl->acceptor.get_executor(), impl->accept_loop(), asio::detached);
  for (std::size_t i = 0; i < impl->context.options.threads; ++i) {
    impl->threads.emplace_back([io = &impl->io] { io->run(); });
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));  // NOLINT: private constructor
}

std::uint16_t Server::port() const { return impl_->port; }

bool Server::on_loopback() const { return impl_->loopback; }

std::string Server::url() const {
  const std::string& host = impl_->context.options.host;
  const bool v6 = host.find(':') != std::string::npos;
  const bool secure = impl_->context.options.tls != nullptr;
  return (secure ? "https://" : "http://") + (v6 ? "[" + host + "]" : host) + ":" +
         std::to_string(port());
}

Status Server::check_reconfigure(const ServerOptions& options) const {
  DAYBREAK_CHECK_OK(check(options));
  if ((options.tls == nullptr) != (impl_->context.options.tls == nullptr)) {
    return Error{Errc::kInvalidArgument,
                 "tls_certificate: TLS cannot be switched on or off without a restart"};
  }
  return ok();
}

void Server::reconfigure(const ServerOptions& options) {
  const std::lock_guard lock(impl_->mutex);
  impl_->tls = options.tls;
  impl_->context.live.set(options);
}

std::size_t Server::connections() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->open.size();
}

std::size_t Server::drain(std::chrono::milliseconds deadline) {
  impl_->context.draining = true;
  asio::post(impl_->acceptor.get_executor(), [impl = impl_.get()] {
    error_code ignored;
    impl->acceptor.close(ignored);
    // Only now is the list complete.
    impl->for_each(&Connection::close_if_idle);
  });
  impl_->wait_empty(deadline);
  return connections();
}

void Server::stop() {
  if (impl_->threads.empty()) {
    return;
  }
  drain(std::chrono::milliseconds(0));
  impl_->for_each(&Connection::abort);
  impl_->wait_empty(kLingerTime);
  impl_->io.stop();
  for (std::thread& thread : impl_->threads) {
    thread.join();
  }
  impl_->threads.clear();
}

}  // namespace daybreak::http
