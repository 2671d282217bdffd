// SPDX-License-Identifier: Apache-2.0
#include "loadgen/http_streams.h"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

namespace daybreak::loadgen {
namespace {

using telemetry::PostReply;
using SteadyClock = std::chrono::steady_clock;

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

// One request in flight.
struct Transfer {
  std::unique_ptr<CURL, EasyDeleter> easy;
  std::string body;
  std::string kept;  // of an answer that is none
  std::array<char, CURL_ERROR_SIZE> detail{};
  HttpStreams::OnBytes on_bytes;
  HttpStreams::OnEnd on_end;
};

std::size_t receive(const char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& to = *static_cast<Transfer*>(user);
  long status = 0;
  curl_easy_getinfo(to.easy.get(), CURLINFO_RESPONSE_CODE, &status);
  constexpr long kOk = 200;
  if (status == kOk) {
    return to.on_bytes({bytes, size * count}) ? size * count : 0;
  }
  to.kept.append(bytes, std::min(size * count, telemetry::kMaxReplyBytes - to.kept.size()));
  return size * count;
}

Result<PostReply> reply_of(Transfer& transfer, CURLcode code) {
  if (code != CURLE_OK) {
    const std::string text =
        transfer.detail.front() == '\0' ? curl_easy_strerror(code) : transfer.detail.data();
    return Error{code == CURLE_OPERATION_TIMEDOUT ? Errc::kDeadline
                 : code == CURLE_WRITE_ERROR      ? Errc::kCancelled
                                                  : Errc::kIo,
                 text};
  }
  long status = 0;
  curl_easy_getinfo(transfer.easy.get(), CURLINFO_RESPONSE_CODE, &status);
  return PostReply{
      .status = static_cast<int>(status), .retry_after = {}, .body = std::move(transfer.kept)};
}

bool append(std::unique_ptr<curl_slist, ListDeleter>& list, const std::string& line) {
  curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
  if (longer != nullptr) {
    static_cast<void>(list.release());  // `longer` is the same list, or its first one
    list.reset(longer);
  }
  return longer != nullptr;
}

bool is_loopback(std::string_view url) {
  return url.starts_with("http://127.0.0.1:") || url.starts_with("http://[::1]:");
}

}  // namespace

struct HttpStreams::Impl {
  std::string url;
  std::string ca_file;
  int epoll = -1;
  std::optional<SteadyClock::time_point> timer;  // when curl wants to be called
  std::unique_ptr<curl_slist, ListDeleter> headers;
  std::unordered_map<CURL*, std::unique_ptr<Transfer>> transfers;
  std::unique_ptr<CURLM, MultiDeleter> multi;

  ~Impl() {
    for (const auto& [easy, transfer] : transfers) {
      curl_multi_remove_handle(multi.get(), easy);
    }
    multi.reset();
    transfers.clear();
    ::close(epoll);
  }

  static int on_socket(CURL*, curl_socket_t socket, int what, void* user, void* known) {
    auto& self = *static_cast<Impl*>(user);
    epoll_event event{};
    event.events = ((what & CURL_POLL_IN) != 0 ? static_cast<unsigned>(EPOLLIN) : 0U) |
                   ((what & CURL_POLL_OUT) != 0 ? static_cast<unsigned>(EPOLLOUT) : 0U);
    event.data.fd = socket;
    if (what == CURL_POLL_REMOVE) {
      ::epoll_ctl(self.epoll, EPOLL_CTL_DEL, socket, nullptr);
    } else {
      ::epoll_ctl(self.epoll, known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event);
      curl_multi_assign(self.multi.get(), socket, &self);
    }
    return 0;
  }

  static int on_timer(CURLM*, long wait_ms, void* user) {
    auto& self = *static_cast<Impl*>(user);
    self.timer = wait_ms < 0
                     ? std::nullopt
                     : std::optional(SteadyClock::now() + std::chrono::milliseconds(wait_ms));
    return 0;
  }

  void configure(Transfer& transfer, std::chrono::milliseconds timeout) const {
    CURL* const easy = transfer.easy.get();
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "daybreak-bench");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(transfer.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer.body.c_str());
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer.detail.data());
    if (is_loopback(url)) {
      curl_easy_setopt(easy, CURLOPT_PROXY, "");
    }
    if (!ca_file.empty()) {
      curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file.c_str());
    }
  }

  [[nodiscard]] int wait_ms(std::chrono::milliseconds wait) const {
    if (timer) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*timer - SteadyClock::now());
      wait = std::clamp(left, std::chrono::milliseconds(0), wait);
    }
    return static_cast<int>(wait.count());
  }

  void act(curl_socket_t socket, int what) const {
    int running = 0;
    curl_multi_socket_action(multi.get(), socket, what, &running);
  }

  void tell_ended() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
      if (message->msg != CURLMSG_DONE) {
        continue;
      }
      CURL* const easy = message->easy_handle;
      const CURLcode code = message->data.result;  // the message goes with the handle
      const auto at = transfers.find(easy);
      const std::unique_ptr<Transfer> ended = std::move(at->second);
      transfers.erase(at);
      curl_multi_remove_handle(multi.get(), easy);
      ended->on_end(reply_of(*ended, code));
    }
  }
};

HttpStreams::HttpStreams(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpStreams::~HttpStreams() = default;

std::size_t HttpStreams::in_flight() const { return impl_->transfers.size(); }

Result<std::unique_ptr<HttpStreams>> HttpStreams::create(std::string url,
                                                         std::vector<telemetry::HttpField> headers,
                                                         const std::string& ca_file,
                                                         std::size_t max_connections) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  auto impl = std::make_unique<Impl>();
  impl->url = std::move(url);
  impl->ca_file = ca_file;
  impl->epoll = ::epoll_create1(EPOLL_CLOEXEC);
  // Without "Expect" a large body is sent at once instead of after a 100 or a second.
  bool all = append(impl->headers, "Content-Type: application/json") &&
             append(impl->headers, "Expect:") && initialised == CURLE_OK && impl->epoll >= 0;
  for (const telemetry::HttpField& field : headers) {
    all = all && append(impl->headers, field.name + ": " + field.value);
  }
  impl->multi.reset(curl_multi_init());
  if (!all || impl->multi == nullptr) {
    return Error{Errc::kIo, "the HTTP client cannot be set up"};
  }
  CURLM* const multi = impl->multi.get();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, Impl::on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, impl.get());
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, Impl::on_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, impl.get());
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(max_connections));
  return std::unique_ptr<HttpStreams>(new HttpStreams(std::move(impl)));  // NOLINT: private
}

Status HttpStreams::start(std::string body, std::chrono::milliseconds timeout, OnBytes on_bytes,
                          OnEnd on_end) {
  auto transfer = std::make_unique<Transfer>();
  transfer->easy.reset(curl_easy_init());
  CURL* const easy = transfer->easy.get();
  if (easy == nullptr) {
    return Error{Errc::kIo, "no memory for a request"};
  }
  transfer->body = std::move(body);
  transfer->on_bytes = std::move(on_bytes);
  transfer->on_end = std::move(on_end);
  impl_->configure(*transfer, timeout);
  impl_->transfers.emplace(easy, std::move(transfer));
  if (const CURLMcode added = curl_multi_add_handle(impl_->multi.get(), easy); added != CURLM_OK) {
    impl_->transfers.erase(easy);
    return Error{Errc::kIo, curl_multi_strerror(added)};
  }
  return ok();
}

void HttpStreams::poll(std::chrono::milliseconds wait) {
  constexpr std::size_t kEvents = 256;
  std::array<epoll_event, kEvents> events{};
  const int count = ::epoll_wait(impl_->epoll, events.data(), kEvents, impl_->wait_ms(wait));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const int what = ((event.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                     ((event.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                     ((event.events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
    impl_->act(event.data.fd, what);
  }
  if (impl_->timer && SteadyClock::now() >= *impl_->timer) {
    impl_->timer.reset();
    impl_->act(CURL_SOCKET_TIMEOUT, 0);
  }
  impl_->tell_ended();
}

}  // namespace daybreak::loadgen
