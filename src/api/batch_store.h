// SPDX-License-Identifier: Apache-2.0
#pragma once

// BatchStore: what is known of every batch, in memory and on disk, so that a new server goes on
// where the last one ended.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/batch_output.h"
#include "api/owner_share.h"
#include "base/result.h"

namespace daybreak::api {

inline constexpr std::size_t kMaxUnfinishedBatches = 100;
// One more makes whoever has most finished ones lose his oldest.
inline constexpr std::size_t kMaxBatches = 1'000;

enum class BatchStatus : std::uint8_t {
  kValidating,
  kInProgress,
  kFinalizing,
  kCancelling,
  kCompleted,  // this and the rest: finished
  kFailed,
  kExpired,
  kCancelled,
};
[[nodiscard]] std::string_view to_string(BatchStatus status);
[[nodiscard]] inline bool finished(BatchStatus status) { return status >= BatchStatus::kCompleted; }

enum class BatchTime : std::uint8_t {
  kCreated,
  kExpires,
  kInProgress,
  kFinalizing,
  kCancelling,
  kCompleted,
  kFailed,
  kExpired,
  kCancelled
};
inline constexpr std::size_t kBatchTimes = 9;

struct BatchRecord {
  std::string id;  // "batch_" and 32 hexadecimal digits
  std::string endpoint;
  std::string input_file_id;
  std::string metadata = "null";  // JSON on one line
  BatchStatus status = BatchStatus::kValidating;
  std::array<std::int64_t, kBatchTimes> times{};  // seconds since 1970; 0: not yet
  std::uint64_t total = 0;
  BatchCounts counts;
  std::string output_id;  // where outcomes are written; files of the API once it is finished
  std::string error_id;
  bool has_output = false;
  bool has_errors = false;
  std::int64_t outputs_last = 0;  // seconds from the creation of files of outcomes; 0: they stay
  std::string owner;              // access::owner_of() who made it
  std::int64_t key = 0;           // the key its requests are made for; 0: of a server without keys
  std::string errors = "null";    // why it failed: OpenAI's list object as JSON

  [[nodiscard]] std::int64_t& time(BatchTime which) {
    return times[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] std::int64_t time(BatchTime which) const {
    return times[static_cast<std::size_t>(which)];
  }
  // The object of OpenAI's API.
  [[nodiscard]] std::string json() const;
};

// Every function is thread-safe.
class BatchStore {
 public:
  // `directory` is made if it is not there. Errors: kIo, kCorrupt naming the file.
  // `owner_share` is of kMaxUnfinishedBatches.
  [[nodiscard]] static Result<std::unique_ptr<BatchStore>> open(std::string directory,
                                                                OwnerShare owner_share = {});

  // Keeps a new batch. Errors: kResourceLimit (its owner's, or all, are unfinished), kIo.
  Status add(BatchRecord record);
  // Errors of these: kNotFound, also where it is another owner's.
  [[nodiscard]] Result<BatchRecord> find(std::string_view id) const;
  [[nodiscard]] Result<BatchRecord> find(std::string_view owner, std::string_view id) const;
  // Changes a batch and saves it. Returns the changed one. Errors: kNotFound, kIo; unchanged then.
  Result<BatchRecord> update(std::string_view id, const std::function<void(BatchRecord&)>& change);
  // Changes counts in memory alone: the outcomes on disk hold them.
  void count(std::string_view id, const BatchCounts& counts);

  [[nodiscard]] std::vector<BatchRecord> unfinished() const;
  // All of an owner, newest first.
  [[nodiscard]] std::vector<BatchRecord> list(std::string_view owner) const;
  // The unfinished batch that was created first, or the first that was created after `last`, if
  // there is one.
  [[nodiscard]] std::optional<std::string> next(std::string_view last = {}) const;
  // An unfinished batch that `uses`.
  [[nodiscard]] std::optional<std::string> user_of(std::string_view file_id) const;

 private:
  BatchStore(std::string directory, OwnerShare owner_share)
      : directory_(std::move(directory)), owner_share_(owner_share) {}
  Status load();
  [[nodiscard]] Status save(const BatchRecord& record) const;
  [[nodiscard]] std::string path(std::string_view id) const;
  [[nodiscard]] Status check_unfinished(const std::string& owner) const;
  void forget_one();

  const std::string directory_;
  const OwnerShare owner_share_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, BatchRecord, std::less<>> batches_;
};

}  // namespace daybreak::api
