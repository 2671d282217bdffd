// SPDX-License-Identifier: Apache-2.0
#include "api/lora_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "api/error_reply.h"
#include "api/on_worker.h"
#include "base/json_document.h"
#include "base/json_tree.h"
#include "chat/request_fields.h"

namespace daybreak::api {
namespace {

using engine::AdapterRegistry;
using http::Exchange;
using http::Task;

constexpr std::size_t kMaxLoraPath = 4096;

struct LoraRequest {
  std::string name;
  std::string path;
  bool replace = false;
};

Result<std::string> lora_text(const chat::Field& root, std::string_view key, std::size_t most) {
  const auto field = root.find(key);
  if (!field) {
    return Error{Errc::kInvalidArgument, fmt::format("{}: expected a string, found nothing", key)};
  }
  return field->string(most);
}

Result<LoraRequest> read_lora_request(const std::string& body, bool with_path) {
  DAYBREAK_TRY(const JsonNode tree, parse_json_tree(body, {.max_depth = 4, .max_values = 64}));
  const chat::Field root(tree, "");
  DAYBREAK_CHECK_OK(root.object());
  LoraRequest request;
  DAYBREAK_TRY(request.name, lora_text(root, "lora_name", engine::kMaxAdapterName));
  DAYBREAK_CHECK_OK(engine::check_adapter_name(request.name));
  if (with_path) {
    DAYBREAK_TRY(request.path, lora_text(root, "lora_path", kMaxLoraPath));
    if (const auto replace = root.find("load_inplace")) {
      DAYBREAK_TRY(request.replace, replace->boolean());
    }
  }
  return request;
}

Result<std::string> load_adapter(const Context& context, const std::string& body) {
  DAYBREAK_TRY(const LoraRequest request, read_lora_request(body, true));
  const auto names = context.names.get();
  if (std::ranges::find(*names, request.name) != names->end()) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("lora_name: '{}' is a name of the model itself", request.name)};
  }
  DAYBREAK_TRY(const std::filesystem::path directory,
               lora_path_below(context.options.lora.directory, request.path));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  DAYBREAK_CHECK_OK(context.options.lora.adapters->load(
      request.name, directory.string(),
      std::chrono::duration_cast<std::chrono::seconds>(now).count(),
      request.replace ? AdapterRegistry::IfLoaded::kReplace : AdapterRegistry::IfLoaded::kRefuse));
  return fmt::format("Success: LoRA adapter '{}' added successfully.", request.name);
}

Result<std::string> unload_adapter(const Context& context, const std::string& body) {
  DAYBREAK_TRY(const LoraRequest request, read_lora_request(body, false));
  DAYBREAK_CHECK_OK(context.options.lora.adapters->unload(request.name));
  return fmt::format("Success: LoRA adapter '{}' removed successfully.", request.name);
}

using Action = Result<std::string> (*)(const Context& context, const std::string& body);

// A damaged file is the fault of whoever names it.
Error blamed(Error error) {
  if (error.code == Errc::kCorrupt || error.code == Errc::kTooLarge ||
      error.code == Errc::kPermission) {
    error.code = Errc::kInvalidArgument;
  }
  return error;
}

Task<void> respond_lora(Context& context, Exchange& exchange, Action action) {
  std::optional<Result<std::string>> done;
  if (context.options.lora.directory.empty()) {
    done.emplace(Error{Errc::kUnsupported,
                       "adapters do not change on this server while it runs: start it with "
                       "--allow-runtime-lora-updating on and --lora-dir DIRECTORY"});
  } else {
    const std::function<void()> work = [&] {
      done.emplace(action(context, exchange.request().body));
    };
    co_await on_pool(context.lora_loader, work);
  }
  http::Response response;
  if (*done) {
    response.content_type = "text/plain; charset=utf-8";
    response.body = **done;
  } else {
    response = error_response(blamed(done->error()));
  }
  co_await exchange.respond(std::move(response));
}

}  // namespace

Result<std::filesystem::path> lora_path_below(const std::string& root, std::string_view path) {
  std::error_code failed;
  const std::filesystem::path base = std::filesystem::canonical(root, failed);
  const auto outside = [&] {
    return Error{Errc::kInvalidArgument,
                 fmt::format("lora_path: expected a directory below lora_dir, found '{}'",
                             printable(path, 200))};
  };
  if (failed || path.empty() || path.find('\0') != std::string_view::npos) {
    return outside();
  }
  // Of an absolute path, operator/ takes that alone.
  const std::filesystem::path found = std::filesystem::canonical(base / path, failed);
  if (failed || !std::filesystem::is_directory(found, failed)) {
    return outside();
  }
  const auto [at, rest] = std::ranges::mismatch(base, found);
  return at == base.end() && rest != found.end() ? Result(found)
                                                 : Result<std::filesystem::path>(outside());
}

void add_lora_routes(http::Router& router, Context& context) {
  router.add("POST", "/v1/load_lora_adapter", [&context](Exchange& exchange) {
    return respond_lora(context, exchange, load_adapter);
  });
  router.add("POST", "/v1/unload_lora_adapter", [&context](Exchange& exchange) {
    return respond_lora(context, exchange, unload_adapter);
  });
}

}  // namespace daybreak::api
