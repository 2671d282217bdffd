// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/admission.h"
#include "api/batch_routes.h"
#include "api/error_reply.h"
#include "api/file_expiry.h"
#include "api/list_page.h"
#include "api/multipart.h"
#include "api/on_worker.h"
#include "api/shared_bound.h"
#include "base/json_document.h"

namespace daybreak::api {
namespace {

using http::Exchange;
using http::Response;
using http::Task;

// A content is in memory while it is sent.
constexpr std::size_t kMaxDownloads = 4;
constexpr std::size_t kMaxDownloadsOfOwner = 2;
constexpr std::size_t kMaxListed = 10'000;

using AnswerFn =
    std::function<Result<Response>(BatchService&, const access::ApiKey& caller, const Exchange&)>;

Result<Response> json(Result<std::string> body) {
  if (!body) {
    return std::move(body).error();
  }
  return Response{.body = *std::move(body)};
}

http::Handler handler(Context& context, BatchService* batches, AnswerFn answer) {
  return [&context, batches, answer = std::move(answer)](Exchange& exchange) -> Task<void> {
    std::optional<Result<Response>> made;
    const std::function<void()> work = [&] {
      const auto caller = caller_of(context, exchange.request(), access::Scope::kFiles);
      if (batches == nullptr || !caller) {
        made.emplace(caller ? no_files_here() : caller.error());
      } else {
        made.emplace(answer(*batches, **caller, exchange));
      }
    };
    co_await on_worker(context, work);
    Response response = *made ? **std::move(made) : error_response(made->error());
    co_await exchange.respond(std::move(response));
  };
}

Status check_purpose(std::string_view purpose) {
  if (purpose != "batch") {
    return Error{Errc::kInvalidArgument, "purpose: expected \"batch\", found '" +
                                             printable(purpose, 32) +
                                             "': this server reads files for batches alone"};
  }
  return ok();
}

constexpr std::array<std::string_view, 4> kPartNames = {"file", "purpose", "expires_after[anchor]",
                                                        "expires_after[seconds]"};
constexpr std::size_t kNeeded = 2;  // of these, the first

using UploadParts = std::array<const Part*, kPartNames.size()>;  // null: not there

Result<UploadParts> parts_of(const std::vector<Part>& parts) {
  UploadParts out{};
  for (const Part& part : parts) {
    const auto at =
        static_cast<std::size_t>(std::ranges::find(kPartNames, part.name) - kPartNames.begin());
    if (at == kPartNames.size()) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("{}: no such part, expected {}", printable(part.name, 64),
                               fmt::join(kPartNames, ", "))};
    }
    if (out.at(at) != nullptr) {
      return Error{Errc::kInvalidArgument,
                   part.name + ": expected this part once, found it once more"};
    }
    out.at(at) = &part;
  }
  for (std::size_t i = 0; i < kNeeded; ++i) {
    if (out.at(i) == nullptr) {
      return Error{Errc::kInvalidArgument,
                   std::string(kPartNames.at(i)) + ": expected this part, found nothing"};
    }
  }
  return out;
}

Result<Response> upload(BatchService& batches, const access::ApiKey& caller,
                        const Exchange& exchange) {
  const http::Request& request = exchange.request();
  DAYBREAK_TRY(const auto all, parse_multipart(request.header("content-type"), request.body));
  DAYBREAK_TRY(const UploadParts parts, parts_of(all));
  const auto& [file, purpose, anchor, seconds] = parts;
  DAYBREAK_CHECK_OK(check_purpose(purpose->body));
  if (file->filename.size() > kMaxFileNameBytes) {
    return Error{Errc::kInvalidArgument, "file: expected a name of at most 255 bytes"};
  }
  const auto text = [](const Part* part) {
    return part == nullptr ? std::nullopt : std::optional(part->body);
  };
  DAYBREAK_TRY(const std::int64_t expires_after, read_form_expiry(text(anchor), text(seconds)));
  DAYBREAK_TRY(const StoredFile kept, batches.files().put(file->body, file->filename, "batch",
                                                          access::owner_of(caller), expires_after));
  return Response{.body = kept.json()};
}

Result<Response> list(BatchService& batches, const access::ApiKey& caller,
                      const Exchange& exchange) {
  DAYBREAK_TRY(const ListQuery query,
               parse_list_query(exchange.request().query, ListOf::kFiles, kMaxListed, kMaxListed));
  std::vector<ListItem> items;
  for (const StoredFile& file : batches.files().list(access::owner_of(caller))) {
    if (query.purpose.empty() || query.purpose == file.purpose) {
      items.push_back({.id = file.id, .json = file.json()});
    }
  }
  return json(list_page(std::move(items), query));
}

Result<Response> get(BatchService& batches, const access::ApiKey& caller,
                     const Exchange& exchange) {
  DAYBREAK_TRY(const StoredFile file,
               batches.files().find(access::owner_of(caller), exchange.parameters().front()));
  return Response{.body = file.json()};
}

Result<Response> remove(BatchService& batches, const access::ApiKey& caller,
                        const Exchange& exchange) {
  const std::string& id = exchange.parameters().front();
  DAYBREAK_CHECK_OK(batches.remove_file(access::owner_of(caller), id));
  return Response{.body = "{\"id\":\"" + id + "\",\"object\":\"file\",\"deleted\":true}"};
}

Result<Response> content(BatchService& batches, const access::ApiKey& caller,
                         const Exchange& exchange) {
  DAYBREAK_TRY(std::string bytes,
               batches.files().content(access::owner_of(caller), exchange.parameters().front()));
  return Response{.content_type = "application/octet-stream", .body = std::move(bytes)};
}

// At most kMaxDownloads at a time, and fewer of one owner.
http::Handler content_handler(Context& context, BatchService* batches) {
  const auto downloads = std::make_shared<SharedBound>(kMaxDownloads, kMaxDownloadsOfOwner);
  const http::Handler send = handler(context, batches, content);
  return [=, &context](Exchange& exchange) -> Task<void> {
    const auto caller = caller_of(context, exchange.request(), access::Scope::kFiles);
    // Given back when the answer has been sent, or its client has gone.
    const std::string owner = caller ? access::owner_of(**caller) : "";
    const auto place = downloads->take(owner, 1);
    if (!place) {
      Response response = error_response(
          {Errc::kResourceLimit, fmt::format("contents: {} are being sent already, or {} of this "
                                             "owner, try again",
                                             kMaxDownloads, downloads->max_of(owner))});
      co_await exchange.respond(std::move(response));
      co_return;
    }
    co_await send(exchange);
  };
}

}  // namespace

void add_file_routes(http::Router& router, Context& context, BatchService* batches) {
  router.add("POST", "/v1/files", handler(context, batches, upload));
  router.add("GET", "/v1/files", handler(context, batches, list));
  router.add("GET", "/v1/files/{id}", handler(context, batches, get));
  router.add("GET", "/v1/files/{id}/content", content_handler(context, batches));
  router.add("DELETE", "/v1/files/{id}", handler(context, batches, remove));
}

}  // namespace daybreak::api
