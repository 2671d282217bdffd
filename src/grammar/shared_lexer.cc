// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "grammar/number_lexer.h"

namespace daybreak::grammar {
namespace {

constexpr std::size_t kFirstSweep = 1'024;

// The lexers that are alive somewhere in the process; the dead are swept when the table has
// doubled.
struct LiveLexers {
  std::mutex mutex;
  std::multimap<std::uint64_t, std::weak_ptr<const NumberLexer>> lexers;
  std::size_t sweep_at = kFirstSweep;
};

LiveLexers& live_lexers() {
  static LiveLexers live;
  return live;
}

}  // namespace

std::shared_ptr<const NumberLexer> shared_lexer(const NumberLanguage& language) {
  static const auto kAll = std::make_shared<const NumberLexer>(NumberLanguage{});
  if (language == kAll->language()) {
    return kAll;
  }
  LiveLexers& live = live_lexers();
  const std::uint64_t key = language.hash();
  const std::lock_guard lock(live.mutex);
  const auto [first, last] = live.lexers.equal_range(key);
  for (auto it = first; it != last; ++it) {
    if (auto alive = it->second.lock(); alive != nullptr && alive->language() == language) {
      return alive;
    }
  }
  if (live.lexers.size() >= live.sweep_at) {
    std::erase_if(live.lexers, [](const auto& entry) { return entry.second.expired(); });
    live.sweep_at = std::max<std::size_t>(kFirstSweep, 2 * live.lexers.size());
  }
  auto made = std::make_shared<const NumberLexer>(language);
  live.lexers.emplace(key, made);
  return made;
}

}  // namespace daybreak::grammar
