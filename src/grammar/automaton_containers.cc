// SPDX-License-Identifier: Apache-2.0
// The steps of Automaton between the members of objects and the elements of arrays.
#include <algorithm>

#include "grammar/automaton.h"

namespace daybreak::grammar {
namespace {

std::uint8_t child_types(const Frame& frame) {
  return static_cast<std::uint8_t>(kAllTypes | (frame.spaces ? kSpacedJson : 0));
}

}  // namespace

// ------------------------------------------------------------------------------------- objects

void Automaton::open_object(const Thread& thread, const Formula& formula, Threads& out) {
  if ((thread.types & kObjectType) == 0) {
    return;
  }
  for (const std::uint32_t number : formula.objects) {
    const ObjectShape& shape = program_.schemas.objects[number];
    Frame frame;
    frame.kind = Frame::Kind::kObject;
    frame.parent = thread.frame;
    frame.spaces = (thread.types & kSpacedJson) != 0;
    frame.object = &shape;
    frame.seen = arena_.words(shape.words());
    Thread next;
    next.leaf = Leaf::kObjectOpen;
    next.frame = arena_.keep(frame);
    out.push_back(next);
  }
}

void Automaton::step_object_open(const Thread& thread, std::uint8_t byte, Threads& out) {
  if (byte == '}') {
    if (thread.frame->object->can_close(thread.frame->progress())) {
      complete_inside(thread.frame->parent, out);
    }
    return;
  }
  step_key_start(thread, byte, out);
}

void Automaton::step_colon(const Thread& thread, std::uint8_t byte, Threads& out) {
  if (byte == ':') {
    Thread next;
    next.leaf = Leaf::kValue;
    next.number = thread.number;
    next.types = child_types(*thread.frame);
    next.frame = thread.frame;
    next.space = thread.frame->spaces;
    out.push_back(next);
  }
}

void Automaton::step_object_next(const Thread& thread, std::uint8_t byte, Threads& out) {
  const ObjectShape& shape = *thread.frame->object;
  if (byte == '}') {
    if (shape.can_close(thread.frame->progress())) {
      complete_inside(thread.frame->parent, out);
    }
    return;
  }
  if (byte != ',') {
    return;
  }
  Thread next;
  next.leaf = Leaf::kKeyStart;
  next.frame = thread.frame;
  next.space = thread.frame->spaces;
  // A comma only where a key can follow.
  Threads keys;
  step_key_start(next, '"', keys);
  if (!keys.empty()) {
    next.choices = keys.front().choices;
    out.push_back(next);
  }
}

// -------------------------------------------------------------------------------------- arrays

void Automaton::open_array(const Thread& thread, const Formula& formula, Threads& out) {
  if ((thread.types & kArrayType) == 0) {
    return;
  }
  for (const std::uint32_t number : formula.arrays) {
    Frame frame;
    frame.kind = Frame::Kind::kArray;
    frame.parent = thread.frame;
    frame.spaces = (thread.types & kSpacedJson) != 0;
    frame.array = &program_.schemas.arrays[number];
    Thread next;
    next.leaf = Leaf::kArrayOpen;
    next.frame = arena_.keep(frame);
    out.push_back(next);
  }
}

void Automaton::step_array_open(const Thread& thread, std::uint8_t byte, Threads& out) {
  const Frame& frame = *thread.frame;
  if (byte == ']') {
    if (frame.array->can_close(frame.count, frame.counts)) {
      complete_inside(frame.parent, out);
    }
    return;
  }
  Threads elements;
  begin_element(thread, false, elements);
  for (const Thread& element : elements) {
    step(element, byte, out);
  }
}

void Automaton::step_array_next(const Thread& thread, std::uint8_t byte, Threads& out) {
  const Frame& frame = *thread.frame;
  if (byte == ']') {
    if (frame.array->can_close(frame.count, frame.counts)) {
      complete_inside(frame.parent, out);
    }
  } else if (byte == ',') {
    begin_element(thread, frame.spaces, out);
  }
}

void Automaton::begin_element(const Thread& thread, bool space, Threads& out) {
  const Frame& frame = *thread.frame;
  const ArrayShape& shape = *frame.array;
  // Without an upper bound, elements beyond the last one that differs need no count.
  const std::uint64_t same = std::max<std::uint64_t>({shape.rows, shape.prefix.size(), shape.min});
  for (const ChildOption& option : shape.options(frame.count)) {
    if (!shape.allows(frame.count, frame.counts, option)) {
      continue;
    }
    Frame next = frame;
    next.count = shape.max == kNoLimit ? std::min(frame.count + 1, same) : frame.count + 1;
    next.counts = shape.after(frame.counts, option);
    Thread element;
    element.leaf = Leaf::kValue;
    element.number = option.formula;
    element.types = child_types(frame);
    element.frame = arena_.keep(next);
    element.space = space;
    out.push_back(element);
  }
}

}  // namespace daybreak::grammar
