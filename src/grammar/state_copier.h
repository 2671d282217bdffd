// SPDX-License-Identifier: Apache-2.0
#pragma once

// StateCopier: moves states to another arena and leaves behind what none of them needs: the frames
// of places the answer has passed.

#include <unordered_map>
#include <vector>

#include "grammar/state_arena.h"

namespace daybreak::grammar {

// Used once, for the states of one arena, oldest first.
class StateCopier {
 public:
  explicit StateCopier(StateArena& target) : target_(target) {}

  // Makes copies in the target of everything the threads point to; they point there then.
  void copy(Threads& threads);

 private:
  const Frame* frame(const Frame* from);
  const Frame* one_frame(const Frame& from);
  const TextLink* text(const TextLink* from);
  const KeyLink* keys(const KeyLink* from);
  const SeenValues* values(const SeenValues* from);
  const SeenValues* one_value(const SeenValues* before, const SeenValues& from);
  // The copy of the newest link of a list; `add(copy of the older ones, link)` makes one.
  template <class Link, class Add>
  const Link* list(const Link* from, const Link* Link::* older, Add add);

  template <class T>
  [[nodiscard]] const T* known(const T* from) const {
    const auto found = copies_.find(from);
    return found == copies_.end() ? nullptr : static_cast<const T*>(found->second);
  }

  StateArena& target_;
  std::unordered_map<const void*, const void*> copies_;
};

}  // namespace daybreak::grammar
