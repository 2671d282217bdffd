// SPDX-License-Identifier: Apache-2.0
#include "api/slot_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "api/error_reply.h"
#include "api/later.h"
#include "api/on_worker.h"
#include "base/json_tree.h"
#include "base/mapped_file.h"
#include "base/out_of_memory.h"
#include "chat/request_fields.h"
#include "engine/sequence_file.h"

namespace daybreak::api {
namespace {

using engine::SavedSequence;
using engine::SlotInfo;
using engine::Slots;
using engine::SlotState;
using http::Exchange;
using http::Task;
using Json = nlohmann::ordered_json;

constexpr engine::SequenceFileKind kSlotFile{"DAYBREAK-SLOT-2\n", "slot file", "daybreak serve"};
constexpr std::size_t kMaxFileName = 128;

// Runs `work` between two steps of the engine and returns to the strand with what it returned.
template <class T>
Task<Result<T>> on_engine(Context& context, Exchange& exchange,
                          std::function<Result<T>(Slots&)> work) {
  if (context.options.slots == nullptr) {
    co_return Error{Errc::kUnsupported, "this server has no slots"};
  }
  Later<Result<T>> result(exchange.executor());
  // The request may be gone when its turn comes: `work` then has its effect, and nobody is told.
  const auto task = [set = result.setter(), work = std::move(work)](Slots& slots) {
    set(work(slots));
  };
  if (Status accepted = context.options.slots->between_steps(task); !accepted) {
    co_return std::move(accepted).error();
  }
  co_return co_await result.get();
}

Task<void> answer(Exchange& exchange, const Result<Json>& json) {
  http::Response response;
  if (json) {
    response.body = json->dump();
  } else {
    response = error_response(json.error());
  }
  co_await exchange.respond(std::move(response));
}

// llama.cpp's names, where the thing is the same.
Json slot_json(const SlotInfo& slot, std::size_t context_tokens, bool speculative) {
  Json out = {{"id", slot.slot},
              {"n_ctx", context_tokens},
              {"speculative", speculative},
              {"is_processing", slot.state == SlotState::kBusy},
              {"n_past", slot.tokens}};
  if (slot.state == SlotState::kBusy) {
    out["id_task"] = slot.request;
    out["n_prompt_tokens"] = slot.prompt_tokens;
    out["n_prompt_tokens_cache"] = slot.cached_tokens;
    out["next_token"] = {{"n_decoded", slot.generated_tokens},
                         {"n_remain", slot.max_tokens - slot.generated_tokens}};
  }
  return out;
}

Task<void> list_slots(Context& context, Exchange& exchange) {
  const auto infos = co_await on_engine<std::vector<SlotInfo>>(
      context, exchange, [](Slots& slots) { return Result(slots.info()); });
  if (!infos) {
    co_return co_await answer(exchange, infos.error());
  }
  const bool speculative = context.generator.stats().draft_tokens_at_most > 0;
  Json out = Json::array();
  for (const SlotInfo& slot : *infos) {
    out.push_back(slot_json(slot, context.generator.context_tokens(), speculative));
  }
  co_await answer(exchange, out);
}

// Answers when all is gone from the disk too: after a restart none of it comes back.
Task<void> reset(Context& context, Exchange& exchange) {
  if (context.options.slots == nullptr) {
    co_return co_await answer(exchange, Error{Errc::kUnsupported, "this server has no slots"});
  }
  Later<Result<std::size_t>> result(exchange.executor());
  const auto task = [set = result.setter()](Slots& slots) {
    const std::size_t count = slots.erase_all();
    slots.when_gone([set, count] { set(Result(count)); });
  };
  if (Status accepted = context.options.slots->between_steps(task); !accepted) {
    co_return co_await answer(exchange, std::move(accepted).error());
  }
  const Result<std::size_t> dropped = co_await result.get();
  if (!dropped) {
    co_return co_await answer(exchange, dropped.error());
  }
  co_await answer(exchange, Json{{"dropped", *dropped}});
}

// One plain component, so that no name leads out of the directory or to a file that is being
// written.
Status check_file_name(const std::string& name) {
  const bool plain = !name.empty() && name.size() <= kMaxFileName && name.front() != '.' &&
                     !name.ends_with(".new") && std::ranges::all_of(name, [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
                     });
  return plain
             ? ok()
             : Status(Error{Errc::kInvalidArgument,
                            fmt::format("filename: expected 1 to {} letters, digits, '.', '_' and "
                                        "'-', no '.' first and no \".new\" at the end",
                                        kMaxFileName)});
}

Result<std::string> file_name_of(const std::string& body) {
  DAYBREAK_TRY(const JsonNode tree, parse_json_tree(body, {.max_depth = 4, .max_values = 64}));
  const chat::Field root(tree, "");
  DAYBREAK_CHECK_OK(root.object());
  const auto field = root.find("filename");
  if (!field) {
    return Error{Errc::kInvalidArgument, "filename: expected a string, found nothing"};
  }
  DAYBREAK_TRY(std::string name, field->string(kMaxFileName));
  DAYBREAK_CHECK_OK(check_file_name(name));
  return name;
}

// A file that cannot be used is the fault of whoever names it.
Error bad_file(Error error) {
  const bool damaged = error.code == Errc::kCorrupt || error.code == Errc::kTooLarge ||
                       error.code == Errc::kUnsupported;
  return damaged ? Error{Errc::kInvalidArgument, std::move(error.message)} : error;
}

// The files of one directory. Their text is that of the sequence, which names an owner, after a
// line with its seal: an owner's name means something beside one database of keys only.
// Thread-safe.
class SlotFiles {
 public:
  // `access`: null without keys.
  SlotFiles(std::string directory, std::shared_ptr<const access::AccessPolicy> access)
      : directory_(std::move(directory)), access_(std::move(access)) {}

  // Returns the size of the file.
  Result<std::size_t> write(const std::string& name, SavedSequence saved) {
    DAYBREAK_TRY(saved.text, sealed(saved.text));
    const std::lock_guard lock(mutex_);  // one writer at a time
    const std::filesystem::path path = directory_ / name;
    std::error_code failed;
    if (!std::filesystem::exists(path, failed) && count() >= kMaxSlotFiles) {
      return Error{Errc::kResourceLimit,
                   fmt::format("slot files: expected at most {}, delete some", kMaxSlotFiles)};
    }
    DAYBREAK_CHECK_OK(engine::write_sequence_file(kSlotFile, path, saved));
    return static_cast<std::size_t>(std::filesystem::file_size(path, failed));
  }

  struct Read {
    SavedSequence saved;
    std::size_t bytes = 0;
  };
  [[nodiscard]] Result<Read> read(const std::string& name) const {
    const auto mapped = MappedFile::open(directory_ / name);
    if (!mapped && mapped.error().code == Errc::kNotFound) {
      return Error{Errc::kNotFound, fmt::format("slot file {}: there is none", name)};
    }
    if (!mapped) {
      return Error{Errc::kInvalidArgument, fmt::format("slot file {}: cannot be read", name)};
    }
    auto saved = engine::parse_sequence_file(kSlotFile, name, mapped->bytes());
    if (!saved) {
      return bad_file(std::move(saved).error());
    }
    std::string whose = saved->text.substr(std::min(saved->text.find('\n'), saved->text.size()));
    whose.erase(0, 1);
    DAYBREAK_TRY(const std::string expected, sealed(whose));
    if (saved->text != expected) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("slot file {}: was saved by a server with other API keys", name)};
    }
    saved->text = std::move(whose);
    return Read{*std::move(saved), mapped->bytes().size()};
  }

 private:
  [[nodiscard]] Result<std::string> sealed(const std::string& text) const {
    std::string seal;
    if (access_ != nullptr) {
      DAYBREAK_TRY(seal, access_->seal(text));
    }
    return seal + "\n" + text;
  }

  [[nodiscard]] std::size_t count() const {
    std::error_code failed;
    std::size_t files = 0;
    for (std::filesystem::directory_iterator at(directory_, failed), end; !failed && at != end;
         at.increment(failed)) {
      ++files;
    }
    return files;
  }

  const std::filesystem::path directory_;
  const std::shared_ptr<const access::AccessPolicy> access_;
  std::mutex mutex_;
};

double milliseconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
      .count();
}

struct SlotAction {
  Context& context;
  Exchange& exchange;
  SlotFiles& files;
  std::size_t slot;

  Task<Result<Json>> erase() {
    const std::size_t at = slot;
    const auto erased = co_await on_engine<std::size_t>(
        context, exchange, [at](Slots& slots) { return slots.erase(at); });
    if (!erased) {
      co_return erased.error();
    }
    co_return Json{{"id_slot", slot}, {"n_erased", *erased}};
  }

  Task<Result<Json>> save(std::string name) {
    const auto began = std::chrono::steady_clock::now();
    const std::size_t at = slot;
    auto saved = co_await on_engine<SavedSequence>(context, exchange,
                                                   [at](Slots& slots) { return slots.save(at); });
    if (!saved) {
      co_return saved.error();
    }
    const std::size_t tokens = saved->ids.size();
    std::optional<Result<std::size_t>> written;
    const std::function<void()> work = [&] {
      written.emplace(files.write(name, *std::move(saved)));
    };
    co_await on_worker(context, work);
    if (!*written) {
      co_return written->error();
    }
    co_return Json{{"id_slot", slot},
                   {"filename", name},
                   {"n_saved", tokens},
                   {"n_written", **written},
                   {"timings", {{"save_ms", milliseconds_since(began)}}}};
  }

  Task<Result<Json>> restore(std::string name) {
    const auto began = std::chrono::steady_clock::now();
    std::optional<Result<SlotFiles::Read>> read;
    const std::function<void()> work = [&] {
      read.emplace(or_out_of_memory(Errc::kUnavailable, "slot file " + name,
                                    [&] { return files.read(name); }));
    };
    co_await on_worker(context, work);
    if (!*read) {
      co_return read->error();
    }
    const std::size_t tokens = (*read)->saved.ids.size();
    const auto shared = std::make_shared<SavedSequence>(std::move((*read)->saved));
    const std::size_t at = slot;
    const auto restored = co_await on_engine<std::monostate>(
        context, exchange,
        [at, shared](Slots& slots) { return slots.restore(at, std::move(*shared)); });
    if (!restored) {
      co_return bad_file(Error(restored.error()).in("slot file " + name));
    }
    co_return Json{{"id_slot", slot},
                   {"filename", name},
                   {"n_restored", tokens},
                   {"n_read", (*read)->bytes},
                   {"timings", {{"restore_ms", milliseconds_since(began)}}}};
  }
};

std::optional<std::size_t> slot_number(std::string_view text) {
  std::size_t slot = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), slot);
  return failed == std::errc{} && end == text.data() + text.size() ? std::optional(slot)
                                                                   : std::nullopt;
}

// The value of action=... in a query.
std::string_view action_of(std::string_view query) {
  constexpr std::string_view kName = "action=";
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    if (query.substr(0, end).starts_with(kName)) {
      return query.substr(kName.size(), end - kName.size());
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return "";
}

Task<Result<Json>> act(Context& context, Exchange& exchange, SlotFiles& files) {
  const auto slot = slot_number(exchange.parameters().front());
  if (!slot) {
    co_return Error{Errc::kNotFound,
                    fmt::format("slot '{}': expected a number", exchange.parameters().front())};
  }
  SlotAction action{context, exchange, files, *slot};
  const std::string_view name = action_of(exchange.request().query);
  if (name == "erase") {
    co_return co_await action.erase();
  }
  if (name != "save" && name != "restore") {
    co_return Error{Errc::kInvalidArgument,
                    fmt::format("action: expected save, restore or erase, found '{}'", name)};
  }
  if (context.options.slot_save_path.empty()) {
    co_return Error{Errc::kUnsupported,
                    "this server saves no slots: start it with --slot-save-path DIRECTORY"};
  }
  auto file = file_name_of(exchange.request().body);
  if (!file) {
    co_return std::move(file).error();
  }
  if (name == "save") {
    co_return co_await action.save(*std::move(file));
  }
  co_return co_await action.restore(*std::move(file));
}

Task<void> act_and_answer(Context& context, Exchange& exchange, SlotFiles& files) {
  const auto result = co_await act(context, exchange, files);
  co_await answer(exchange, result);
}

}  // namespace

void add_slot_routes(http::Router& router, Context& context) {
  const auto files = std::make_shared<SlotFiles>(context.options.slot_save_path, context.access);
  router.add("GET", "/slots",
             [&context](Exchange& exchange) { return list_slots(context, exchange); });
  router.add("POST", "/slots/{id}", [&context, files](Exchange& exchange) {
    return act_and_answer(context, exchange, *files);
  });
  router.add("POST", "/reset_prefix_cache",
             [&context](Exchange& exchange) { return reset(context, exchange); });
}

Status check_slot_save_path(const std::string& path) {
  std::error_code failed;
  if (path.empty() || std::filesystem::is_directory(path, failed)) {
    return ok();
  }
  const bool there = std::filesystem::exists(path, failed);
  return Error{Errc::kInvalidArgument,
               fmt::format("slot_save_path: expected a directory that is there already, found {} "
                           "'{}'",
                           there ? "something else at" : "nothing at", path)};
}

}  // namespace daybreak::api
