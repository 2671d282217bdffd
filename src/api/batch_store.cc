// SPDX-License-Identifier: Apache-2.0
#include "api/batch_store.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/atomic_file.h"
#include "base/json_document.h"
#include "chat/response_json.h"
#include "chat/responses_item.h"

namespace daybreak::api {
namespace {

namespace fs = std::filesystem;

constexpr auto kStatusNames =
    std::to_array<std::string_view>({"validating", "in_progress", "finalizing", "cancelling",
                                     "completed", "failed", "expired", "cancelled"});
constexpr std::array<std::string_view, kBatchTimes> kTimeNames = {
    "created_at",   "expires_at", "in_progress_at", "finalizing_at", "cancelling_at",
    "completed_at", "failed_at",  "expired_at",     "cancelled_at"};
constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 20U;
constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kIdBytes = 38;

std::string quoted_or_null(const std::string& id, bool there) {
  return there ? "\"" + id + "\"" : "null";
}

std::string compact(const JsonValue& value) {
  std::string out;
  chat::append_minified(out, simdjson::to_string(value.raw()));
  return out;
}

Result<JsonValue> member(const JsonValue& object, std::string_view key) {
  auto value = object.find(key);
  return value ? Result<JsonValue>(*std::move(value))
               : Error{Errc::kInvalidArgument, object.where_of(key) + ": found nothing"};
}

Status read_text(const JsonValue& object, std::string_view key, std::string& to) {
  DAYBREAK_TRY(const JsonValue value, member(object, key));
  DAYBREAK_TRY(to, value.string());
  return ok();
}

Status read_count(const JsonValue& object, std::string_view key, std::uint64_t& to) {
  DAYBREAK_TRY(const JsonValue value, member(object, key));
  DAYBREAK_TRY(to, value.integer(0, kMost));
  return ok();
}

Status read_status(const JsonValue& object, BatchStatus& to) {
  std::string name;
  DAYBREAK_CHECK_OK(read_text(object, "status", name));
  const auto found = std::ranges::find(kStatusNames, name);
  if (found == kStatusNames.end()) {
    return Error{Errc::kInvalidArgument, object.where_of("status") + ": no such status"};
  }
  to = static_cast<BatchStatus>(found - kStatusNames.begin());
  return ok();
}

// What json() writes, and which files the outcomes go to.
Result<BatchRecord> parse_record(std::string_view text, const std::string& name) {
  DAYBREAK_TRY(const JsonDocument document, JsonDocument::parse(text, name));
  const JsonValue root = document.root();
  DAYBREAK_TRY(const JsonValue batch, member(root, "batch"));
  DAYBREAK_TRY(const JsonValue counts, member(batch, "request_counts"));
  DAYBREAK_TRY(const JsonValue metadata, member(batch, "metadata"));
  DAYBREAK_TRY(const JsonValue errors, member(batch, "errors"));
  DAYBREAK_TRY(const JsonValue output, member(batch, "output_file_id"));
  DAYBREAK_TRY(const JsonValue error, member(batch, "error_file_id"));
  BatchRecord record;
  DAYBREAK_CHECK_OK(read_text(root, "output_id", record.output_id));
  DAYBREAK_CHECK_OK(read_text(root, "error_id", record.error_id));
  DAYBREAK_CHECK_OK(read_text(batch, "id", record.id));
  DAYBREAK_CHECK_OK(read_text(batch, "endpoint", record.endpoint));
  DAYBREAK_CHECK_OK(read_text(batch, "input_file_id", record.input_file_id));
  DAYBREAK_CHECK_OK(read_status(batch, record.status));
  DAYBREAK_CHECK_OK(read_count(counts, "total", record.total));
  DAYBREAK_CHECK_OK(read_count(counts, "completed", record.counts.completed));
  DAYBREAK_CHECK_OK(read_count(counts, "failed", record.counts.failed));
  for (std::size_t i = 0; i < kBatchTimes; ++i) {
    if (const auto time = batch.find_set(kTimeNames[i])) {
      DAYBREAK_TRY(const std::uint64_t seconds, time->integer(0, kMost));
      record.times[i] = static_cast<std::int64_t>(seconds);
    }
  }
  if (const auto owner = root.find("owner")) {
    DAYBREAK_TRY(record.owner, owner->string());
    std::uint64_t key = 0;
    DAYBREAK_CHECK_OK(read_count(root, "key", key));
    record.key = static_cast<std::int64_t>(key);
  }
  if (const auto last = root.find("outputs_last")) {
    DAYBREAK_TRY(const std::uint64_t seconds, last->integer(0, kMost));
    record.outputs_last = static_cast<std::int64_t>(seconds);
  }
  record.metadata = compact(metadata);
  record.errors = compact(errors);
  record.has_output = !output.is_null();
  record.has_errors = !error.is_null();
  return record;
}

Error not_found(std::string_view id) {
  return {Errc::kNotFound, "no batch '" + printable(id, 64) + "' here"};
}

auto age(const BatchRecord& record) {
  return std::make_tuple(record.time(BatchTime::kCreated), record.id);
}

}  // namespace

std::string_view to_string(BatchStatus status) {
  return kStatusNames[static_cast<std::size_t>(status)];
}

std::string BatchRecord::json() const {
  std::string out = "{\"id\":\"" + id + "\",\"object\":\"batch\",\"endpoint\":\"" + endpoint +
                    "\",\"errors\":" + errors + ",\"input_file_id\":\"" + input_file_id +
                    "\",\"completion_window\":\"24h\",\"status\":\"" +
                    std::string(to_string(status)) +
                    "\",\"output_file_id\":" + quoted_or_null(output_id, has_output) +
                    ",\"error_file_id\":" + quoted_or_null(error_id, has_errors);
  for (std::size_t i = 0; i < kBatchTimes; ++i) {
    out += ",\"" + std::string(kTimeNames[i]) +
           "\":" + (times[i] == 0 ? "null" : std::to_string(times[i]));
  }
  return out + ",\"request_counts\":{\"total\":" + std::to_string(total) +
         ",\"completed\":" + std::to_string(counts.completed) +
         ",\"failed\":" + std::to_string(counts.failed) + "},\"metadata\":" + metadata + "}";
}

Result<std::unique_ptr<BatchStore>> BatchStore::open(std::string directory,
                                                     OwnerShare owner_share) {
  std::error_code fault;
  fs::create_directories(directory, fault);
  if (fault) {
    return Error{Errc::kIo, directory + ": " + fault.message()};
  }
  std::unique_ptr<BatchStore> store(new BatchStore(std::move(directory), owner_share));  // NOLINT
  DAYBREAK_CHECK_OK(store->load());
  return store;
}

Status BatchStore::load() {
  std::error_code fault;
  for (fs::directory_iterator at(directory_, fault), end; !fault && at != end;
       at.increment(fault)) {
    const fs::path file = at->path();
    const std::string id = file.stem().string();
    if (file.extension() != ".json" || !id.starts_with("batch_") || id.size() != kIdBytes) {
      continue;
    }
    DAYBREAK_TRY(const std::string text, read_whole_file(file.string(), kMaxRecordBytes));
    auto record = parse_record(text, file.string());
    if (!record || record->id != id) {
      return Error{Errc::kCorrupt,
                   record ? file.string() + ": id: expected " + id : record.error().message};
    }
    batches_.emplace(id, *std::move(record));
  }
  return fault ? Status(Error{Errc::kIo, directory_ + ": " + fault.message()}) : ok();
}

std::string BatchStore::path(std::string_view id) const {
  return (fs::path(directory_) / (std::string(id) + ".json")).string();
}

Status BatchStore::save(const BatchRecord& record) const {
  std::string owner;
  chat::append_json_text(owner, record.owner);
  return write_file_atomically(
      path(record.id), "{\"batch\":" + record.json() + ",\"output_id\":\"" + record.output_id +
                           "\",\"error_id\":\"" + record.error_id + "\",\"owner\":" + owner +
                           ",\"key\":" + std::to_string(record.key) +
                           ",\"outputs_last\":" + std::to_string(record.outputs_last) + "}\n");
}

Status BatchStore::add(BatchRecord record) {
  const std::lock_guard lock(mutex_);
  DAYBREAK_CHECK_OK(check_unfinished(record.owner));
  DAYBREAK_CHECK_OK(save(record));
  std::string id = record.id;
  batches_.emplace(std::move(id), std::move(record));
  while (batches_.size() > kMaxBatches) {
    forget_one();
  }
  return ok();
}

Status BatchStore::check_unfinished(const std::string& owner) const {
  std::uint64_t all = 0;
  std::uint64_t own = 0;
  for (const auto& [id, record] : batches_) {
    all += finished(record.status) ? 0 : 1;
    own += !finished(record.status) && record.owner == owner ? 1 : 0;
  }
  const std::uint64_t share = owner_share_.of(kMaxUnfinishedBatches, owner);
  if (own >= share && share < kMaxUnfinishedBatches) {
    return Error{Errc::kResourceLimit,
                 "batches: at most " + std::to_string(share) +
                     " of a tenant or key can be unfinished (files_owner_percent), found " +
                     std::to_string(own) + ", wait for one or cancel it"};
  }
  if (all >= kMaxUnfinishedBatches) {
    return Error{Errc::kResourceLimit, "batches: at most " + std::to_string(kMaxUnfinishedBatches) +
                                           " can be unfinished, wait for one or cancel it"};
  }
  return ok();
}

// So that nobody's batches go for those of one who has more. REQUIRES: one is finished.
void BatchStore::forget_one() {
  struct Finished {
    std::size_t count = 0;
    const BatchRecord* oldest = nullptr;
  };
  std::map<std::string_view, Finished> owners;
  for (const auto& [id, record] : batches_) {
    if (finished(record.status)) {
      Finished& of_owner = owners[record.owner];
      ++of_owner.count;
      if (of_owner.oldest == nullptr || age(record) < age(*of_owner.oldest)) {
        of_owner.oldest = &record;
      }
    }
  }
  // Of two who have as many it is the older one that goes.
  const auto most = std::ranges::max_element(owners, [](const auto& a, const auto& b) {
    return std::make_tuple(a.second.count, age(*b.second.oldest)) <
           std::make_tuple(b.second.count, age(*a.second.oldest));
  });
  const std::string id = most->second.oldest->id;
  std::error_code ignored;  // one that stays on disk is forgotten after the next start
  fs::remove(path(id), ignored);
  batches_.erase(id);
}

Result<BatchRecord> BatchStore::find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = batches_.find(id);
  return found == batches_.end() ? Result<BatchRecord>(not_found(id)) : found->second;
}

Result<BatchRecord> BatchStore::find(std::string_view owner, std::string_view id) const {
  DAYBREAK_TRY(BatchRecord record, find(id));
  if (record.owner != owner) {
    return not_found(id);
  }
  return record;
}

Result<BatchRecord> BatchStore::update(std::string_view id,
                                       const std::function<void(BatchRecord&)>& change) {
  const std::lock_guard lock(mutex_);
  const auto found = batches_.find(id);
  if (found == batches_.end()) {
    return not_found(id);
  }
  BatchRecord changed = found->second;
  change(changed);
  DAYBREAK_CHECK_OK(save(changed));
  found->second = changed;
  return changed;
}

void BatchStore::count(std::string_view id, const BatchCounts& counts) {
  const std::lock_guard lock(mutex_);
  if (const auto found = batches_.find(id); found != batches_.end()) {
    found->second.counts = counts;
  }
}

std::vector<BatchRecord> BatchStore::unfinished() const {
  const std::lock_guard lock(mutex_);
  std::vector<BatchRecord> out;
  for (const auto& [id, record] : batches_) {
    if (!finished(record.status)) {
      out.push_back(record);
    }
  }
  return out;
}

std::vector<BatchRecord> BatchStore::list(std::string_view owner) const {
  std::vector<BatchRecord> out;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, record] : batches_) {
      if (record.owner == owner) {
        out.push_back(record);
      }
    }
  }
  std::ranges::sort(out, std::greater{}, age);
  return out;
}

std::optional<std::string> BatchStore::next(std::string_view last) const {
  const std::lock_guard lock(mutex_);
  const auto after = batches_.find(last);
  // Those created after `last` come before the others. Without it, as after a start, those of one
  // second that had begun come before those that had not.
  const auto rank = [&](const BatchRecord& record) {
    const bool later = after != batches_.end() && age(record) > age(after->second);
    const bool to_begin = after == batches_.end() && record.time(BatchTime::kInProgress) == 0;
    return std::make_tuple(!later, record.time(BatchTime::kCreated), to_begin, record.id);
  };
  const BatchRecord* first = nullptr;
  for (const auto& [id, record] : batches_) {
    if (!finished(record.status) && (first == nullptr || rank(record) < rank(*first))) {
      first = &record;
    }
  }
  return first == nullptr ? std::nullopt : std::optional(first->id);
}

std::optional<std::string> BatchStore::user_of(std::string_view file_id) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, record] : batches_) {
    if (!finished(record.status) && (record.input_file_id == file_id ||
                                     record.output_id == file_id || record.error_id == file_id)) {
      return id;
    }
  }
  return std::nullopt;
}

}  // namespace daybreak::api
