// SPDX-License-Identifier: Apache-2.0
#pragma once

// ServedNames: the names under which the model is served now. The first, which replies and metrics
// carry, stays; the others can change while serving.

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace daybreak::api {

// Thread-safe.
class ServedNames {
 public:
  using Names = std::vector<std::string>;

  explicit ServedNames(Names names) : names_(std::make_shared<const Names>(std::move(names))) {}

  // Returns the names of this moment; they stay as they are for whoever holds them.
  [[nodiscard]] std::shared_ptr<const Names> get() const {
    const std::lock_guard lock(mutex_);
    return names_;
  }
  void set(Names names) {
    auto next = std::make_shared<const Names>(std::move(names));
    const std::lock_guard lock(mutex_);
    names_.swap(next);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Names> names_;
};

}  // namespace daybreak::api
