// SPDX-License-Identifier: Apache-2.0
#include "telemetry/http_poster.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <utility>

namespace daybreak::telemetry {
namespace {

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;
using List = std::unique_ptr<curl_slist, ListDeleter>;

// Where the body of one answer goes.
struct Receiver {
  CURL* easy;
  const BodySink& on_body;
  std::string kept;  // its first kMaxReplyBytes
};

std::size_t receive(const char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& to = *static_cast<Receiver*>(user);
  long status = 0;
  curl_easy_getinfo(to.easy, CURLINFO_RESPONSE_CODE, &status);
  constexpr long kOk = 200;
  if (to.on_body && status == kOk) {
    return to.on_body({bytes, size * count}) ? size * count : 0;
  }
  to.kept.append(bytes, std::min(size * count, kMaxReplyBytes - to.kept.size()));
  return size * count;
}

bool is_loopback(std::string_view url) {
  return url.starts_with("http://127.0.0.1:") || url.starts_with("http://[::1]:");
}

int ask(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto& give_up = *static_cast<const std::function<bool()>*>(user);
  return give_up() ? 1 : 0;
}

bool append(List& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) {
    return false;
  }
  static_cast<void>(list.release());  // `longer` is the same list, or its first one
  list.reset(longer);
  return true;
}

Error call_error(CURLcode code, const std::string& detail) {
  const std::string text = detail.empty() ? curl_easy_strerror(code) : detail;
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return {Errc::kDeadline, text};
    case CURLE_ABORTED_BY_CALLBACK:
    case CURLE_WRITE_ERROR:
      return {Errc::kCancelled, "given up"};
    default:
      return {Errc::kIo, text};
  }
}

}  // namespace

struct HttpPoster::Impl {
  Easy easy;
  List headers;
  std::string ca_file;

  Status set_up(std::vector<HttpField> fields) {
    // Without "Expect" a large body is sent at once instead of after a 100 or a second.
    bool all = append(headers, "Content-Type: application/json") && append(headers, "Expect:");
    for (const HttpField& field : fields) {
      // With ';' an empty value is sent rather than the header left out.
      all = all && append(headers,
                          field.value.empty() ? field.name + ";" : field.name + ": " + field.value);
    }
    easy.reset(curl_easy_init());
    return all && easy ? ok() : Status(Error{Errc::kIo, "no memory for an HTTP client"});
  }

  // All options of a call: a handle that was reset keeps its connections.
  void configure(const std::string& url, const std::string& body,
                 std::chrono::milliseconds timeout) {
    CURL* handle = easy.get();
    curl_easy_reset(handle);
    curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "daybreak-otlp");
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body.c_str());
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS,
                     static_cast<long>(std::max<std::int64_t>(1, timeout.count())));
    if (is_loopback(url)) {
      curl_easy_setopt(handle, CURLOPT_PROXY, "");
    }
    if (!ca_file.empty()) {
      curl_easy_setopt(handle, CURLOPT_CAINFO, ca_file.c_str());
    }
  }
};

HttpPoster::HttpPoster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpPoster::~HttpPoster() = default;

Result<std::unique_ptr<HttpPoster>> HttpPoster::create(std::vector<HttpField> headers,
                                                       const std::string& ca_file) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (initialised != CURLE_OK) {
    return Error{Errc::kIo, curl_easy_strerror(initialised)};
  }
  auto impl = std::make_unique<Impl>();
  impl->ca_file = ca_file;
  DAYBREAK_CHECK_OK(impl->set_up(std::move(headers)));
  return std::unique_ptr<HttpPoster>(new HttpPoster(std::move(impl)));  // NOLINT: private
}

Result<PostReply> HttpPoster::post(const std::string& url, const std::string& body,
                                   std::chrono::milliseconds timeout,
                                   const std::function<bool()>& give_up, const BodySink& on_body) {
  CURL* handle = impl_->easy.get();
  Receiver receiver{.easy = handle, .on_body = on_body, .kept = {}};
  std::array<char, CURL_ERROR_SIZE> detail{};
  impl_->configure(url, body, timeout);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &receiver);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, ask);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &give_up);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, detail.data());
  const CURLcode done = curl_easy_perform(handle);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, nullptr);
  if (done != CURLE_OK) {
    return call_error(done, detail.data());
  }
  long status = 0;
  curl_off_t retry_after = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &retry_after);
  PostReply reply{
      .status = static_cast<int>(status), .retry_after = {}, .body = std::move(receiver.kept)};
  if (retry_after > 0) {
    reply.retry_after = std::chrono::seconds(retry_after);
  }
  return reply;
}

}  // namespace daybreak::telemetry
