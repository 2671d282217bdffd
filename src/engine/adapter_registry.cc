// SPDX-License-Identifier: Apache-2.0
#include "engine/adapter_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace daybreak::engine {

Status check_adapter_name(std::string_view name) {
  const bool plain = !name.empty() && name.size() <= kMaxAdapterName &&
                     std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
  return plain ? ok()
               : Status(Error{Errc::kInvalidArgument,
                              fmt::format("lora_name: expected 1 to {} printable ASCII characters "
                                          "without spaces",
                                          kMaxAdapterName)});
}

std::size_t AdapterRegistry::count_alive() {
  std::erase_if(alive_, [](const auto& one) { return one.expired(); });
  return alive_.size();
}

Status AdapterRegistry::reserve(const std::string& name, IfLoaded if_loaded) {
  const std::lock_guard lock(mutex_);
  const bool loaded = std::ranges::find(*list_, name, &NamedAdapter::name) != list_->end();
  if (std::ranges::find(loading_, name) != loading_.end() ||
      (loaded && if_loaded == IfLoaded::kRefuse)) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("lora_name: the adapter '{}' {}", name,
                             loaded ? "is loaded already" : "is being loaded already")};
  }
  if (count_alive() + loading_.size() >= most_) {
    return Error{Errc::kResourceLimit,
                 fmt::format("expected at most {} adapters in memory (max_loras), those that were "
                             "unloaded and are still in use included; '{}' would be one more",
                             most_, name)};
  }
  loading_.push_back(name);
  return ok();
}

Status AdapterRegistry::load(const std::string& name, const std::string& path, std::int64_t now,
                             IfLoaded if_loaded) {
  DAYBREAK_CHECK_OK(check_adapter_name(name));
  DAYBREAK_CHECK_OK(reserve(name, if_loaded));
  Result<AdapterPtr> adapter = load_(path, name);
  const std::lock_guard lock(mutex_);
  std::erase(loading_, name);
  if (!adapter) {
    return std::move(adapter).error().in("lora adapter '" + name + "'");
  }
  alive_.push_back(*adapter);
  List next = *list_;
  std::erase_if(next, [&](const NamedAdapter& one) { return one.name == name; });
  next.push_back({name, path, *std::move(adapter), now});
  list_ = std::make_shared<const List>(std::move(next));
  return ok();
}

Status AdapterRegistry::unload(std::string_view name) {
  std::shared_ptr<const List> old;  // let go of after the lock: it may be the last use
  const std::lock_guard lock(mutex_);
  List next = *list_;
  if (std::erase_if(next, [&](const NamedAdapter& one) { return one.name == name; }) == 0) {
    return Error{Errc::kNotFound,
                 fmt::format("lora_name: no adapter '{}' is loaded", name.substr(0, 200))};
  }
  old = std::exchange(list_, std::make_shared<const List>(std::move(next)));
  return ok();
}

AdapterPtr AdapterRegistry::find(std::string_view name) const {
  const std::shared_ptr<const List> all = list();
  const auto found = std::ranges::find(*all, name, &NamedAdapter::name);
  return found == all->end() ? nullptr : found->adapter;
}

std::shared_ptr<const AdapterRegistry::List> AdapterRegistry::list() const {
  const std::lock_guard lock(mutex_);
  return list_;
}

}  // namespace daybreak::engine
