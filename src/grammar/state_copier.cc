// SPDX-License-Identifier: Apache-2.0
#include "grammar/state_copier.h"

#include <algorithm>

namespace daybreak::grammar {

void StateCopier::copy(Threads& threads) {
  for (Thread& thread : threads) {
    thread.frame = frame(thread.frame);
    thread.text = text(thread.text);
    if (thread.choices != nullptr) {
      const KeyChoices* copied = known(thread.choices);
      if (copied == nullptr) {
        copied = target_.choices(*thread.choices);
        copies_.emplace(thread.choices, copied);
      }
      thread.choices = copied;
    }
    if (thread.digits != nullptr) {
      thread.digits = target_.number(*thread.digits);
    }
  }
}

// Answers nest deeper than the stack of calls may.
const Frame* StateCopier::frame(const Frame* from) {
  std::vector<const Frame*> open;
  if (from != nullptr) {
    open.push_back(from);
  }
  const auto missing = [&](const Frame* below) {
    return below != nullptr && known(below) == nullptr;
  };
  while (!open.empty()) {
    const Frame* at = open.back();
    const std::size_t size = open.size();
    if (known(at) == nullptr) {
      std::ranges::copy_if(at->parents, std::back_inserter(open), missing);
      if (missing(at->parent)) {
        open.push_back(at->parent);
      }
      if (open.size() > size) {
        continue;
      }
      copies_.emplace(at, one_frame(*at));
    }
    open.pop_back();
  }
  return from == nullptr ? nullptr : known(from);
}

const Frame* StateCopier::one_frame(const Frame& from) {
  if (from.kind == Frame::Kind::kJoin) {
    std::vector<const Frame*> parents;
    for (const Frame* parent : from.parents) {
      parents.push_back(known(parent));
    }
    return target_.join(std::move(parents));
  }
  Frame copy = from;
  copy.parent = from.parent == nullptr ? nullptr : known(from.parent);
  if (from.object != nullptr) {
    std::uint64_t* seen = target_.words(from.object->words());
    std::copy_n(from.seen, from.object->words(), seen);
    copy.seen = seen;
  }
  copy.keys = keys(from.keys);
  copy.values = values(from.values);
  return target_.keep(copy);
}

template <class Link, class Add>
const Link* StateCopier::list(const Link* from, const Link* Link::* older, Add add) {
  std::vector<const Link*> links;
  const Link* copied = nullptr;
  for (const Link* at = from; at != nullptr && copied == nullptr; at = at->*older) {
    copied = known(at);
    if (copied == nullptr) {
      links.push_back(at);
    }
  }
  for (; !links.empty(); links.pop_back()) {
    copied = add(copied, *links.back());
    copies_.emplace(links.back(), copied);
  }
  return copied;
}

const TextLink* StateCopier::text(const TextLink* from) {
  return list(from, &TextLink::before, [&](const TextLink* before, const TextLink& link) {
    return target_.text(before, link.code_point);
  });
}

const KeyLink* StateCopier::keys(const KeyLink* from) {
  return list(from, &KeyLink::next, [&](const KeyLink* next, const KeyLink& link) {
    return target_.key(next, text(link.text));
  });
}

const SeenValues* StateCopier::values(const SeenValues* from) {
  return list(from, &SeenValues::before, [&](const SeenValues* before, const SeenValues& link) {
    return one_value(before, link);
  });
}

const SeenValues* StateCopier::one_value(const SeenValues* before, const SeenValues& from) {
  switch (from.kind) {
    case SeenValues::Kind::kBits:
      return target_.add_bits(
          before, static_cast<std::uint8_t>(from.bits & ~(before == nullptr ? 0U : before->bits)));
    case SeenValues::Kind::kNumber:
      return target_.add_number(before, from.number);
    case SeenValues::Kind::kString:
      return target_.add_string(before, text(from.string));
  }
  return before;
}

}  // namespace daybreak::grammar
