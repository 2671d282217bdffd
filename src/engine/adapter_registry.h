// SPDX-License-Identifier: Apache-2.0
#pragma once

// AdapterRegistry: the LoRA adapters that can be asked for by name now. Whoever has taken one keeps
// it: unloading takes the name away and waits for nobody, and the memory goes with the last use.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/generator.h"

namespace daybreak::engine {

inline constexpr std::size_t kMaxAdapters = 1024;
inline constexpr std::size_t kMaxAdapterName = 128;

struct NamedAdapter {
  std::string name;
  std::string path;  // as it was asked for
  AdapterPtr adapter;
  std::int64_t created = 0;  // seconds since 1970
};

// Thread-safe.
class AdapterRegistry {
 public:
  // Reads an adapter from a directory, which may take long; called by several threads at once.
  using Load = std::function<Result<AdapterPtr>(const std::filesystem::path& directory,
                                                const std::string& name)>;
  using List = std::vector<NamedAdapter>;  // in the order of loading

  // At most `most` adapters are in memory, those included that were unloaded and are still in use.
  // 0: none can be loaded. `load` is not called then and may be null.
  AdapterRegistry(Load load, std::size_t most) : load_(std::move(load)), most_(most) {}

  enum class IfLoaded : std::uint8_t { kRefuse, kReplace };
  // Makes the adapter in `path` available as `name`; it can be found once this returns. Blocks
  // while it is read, and nobody else.
  // Errors: kInvalidArgument (a bad name, the name is in use), kResourceLimit (as many as may be),
  // those of Load.
  Status load(const std::string& name, const std::string& path, std::int64_t now,
              IfLoaded if_loaded = IfLoaded::kRefuse);
  // Errors: kNotFound.
  Status unload(std::string_view name);

  // Returns null if there is none of that name.
  [[nodiscard]] AdapterPtr find(std::string_view name) const;
  // Returns the adapters of this moment.
  [[nodiscard]] std::shared_ptr<const List> list() const;
  [[nodiscard]] std::size_t most() const { return most_; }

 private:
  // Of those in memory. Drops what is gone.
  std::size_t count_alive();
  [[nodiscard]] Status reserve(const std::string& name, IfLoaded if_loaded);

  const Load load_;
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::shared_ptr<const List> list_ = std::make_shared<const List>();
  std::vector<std::weak_ptr<const model::LoraAdapter>> alive_;
  std::vector<std::string> loading_;  // names that are being loaded
};

// Errors: kInvalidArgument unless 1 to kMaxAdapterName printable ASCII characters without spaces.
[[nodiscard]] Status check_adapter_name(std::string_view name);

}  // namespace daybreak::engine
