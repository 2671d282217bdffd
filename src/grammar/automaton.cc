// SPDX-License-Identifier: Apache-2.0
#include "grammar/automaton.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <vector>

namespace daybreak::grammar {
namespace {

constexpr std::size_t kFewPlaces = 32;  // so many are searched faster than a set

constexpr std::array<std::string_view, 3> kLiterals{"null", "false", "true"};

Thread at_value(std::uint32_t formula, std::uint8_t types, const Frame* frame, bool space) {
  Thread thread;
  thread.leaf = Leaf::kValue;
  thread.number = formula;
  thread.types = types;
  thread.frame = frame;
  thread.space = space;
  return thread;
}

}  // namespace

void Automaton::start(Threads& out) {
  const Frame* root = arena_.keep({});
  enter(program_.rules.start, root, out);
  settle(out);
}

void Automaton::enter(RuleGraph::NodeId node, const Frame* frame, Threads& out) {
  entered_.clear();
  entered_more_.clear();
  places_.assign(1, {node, frame});
  while (!places_.empty()) {
    const auto [at, inside] = places_.back();
    places_.pop_back();
    // Rules that can be empty lead back to where they came from: nothing new.
    if (work() && first_visit({at, inside->hash})) {
      enter_node(at, inside, out);
    }
  }
}

bool Automaton::first_visit(const std::pair<RuleGraph::NodeId, std::uint64_t>& place) {
  if (std::ranges::find(entered_, place) != entered_.end()) {
    return false;
  }
  if (entered_.size() < kFewPlaces) {
    entered_.push_back(place);
    return true;
  }
  return entered_more_.insert(place).second;
}

void Automaton::enter_node(RuleGraph::NodeId node, const Frame* frame, Threads& out) {
  const RuleGraph& rules = program_.rules;
  if (rules.nodes[node].reads) {
    Thread thread;
    thread.leaf = Leaf::kNode;
    thread.number = node;
    thread.frame = frame;
    out.push_back(thread);
  }
  for (std::uint32_t i = rules.nodes[node].first; i < rules.nodes[node].last; ++i) {
    const RuleGraph::Edge& edge = rules.edges[i];
    if (edge.kind == RuleGraph::EdgeKind::kByte || edge.kind == RuleGraph::EdgeKind::kMarker) {
      continue;
    }
    const Frame* inside = frame;
    if (!rules.at_end(edge.target)) {
      Frame back;
      back.kind = Frame::Kind::kRule;
      back.parent = frame;
      back.node = edge.target;
      inside = arena_.keep(back);
    }
    if (edge.kind == RuleGraph::EdgeKind::kCall) {
      places_.push_back({edge.value, inside});
    } else if (edge.kind == RuleGraph::EdgeKind::kJson) {
      out.push_back(at_value(edge.value, edge.types, inside, false));
    } else {
      Thread thread;
      thread.leaf = Leaf::kText;
      thread.language = &rules.languages[edge.value];
      thread.frame = inside;
      out.push_back(thread);
    }
  }
  if (!rules.nodes[node].final) {
    return;
  }
  if (frame->kind != Frame::Kind::kJoin) {
    return complete_rule(frame, out);
  }
  for (const Frame* parent : frame->parents) {
    complete_rule(parent, out);
  }
}

// Inside enter(), which is not to be entered again.
void Automaton::complete_rule(const Frame* frame, Threads& out) {
  if (frame->kind == Frame::Kind::kRule) {
    places_.push_back({frame->node, frame->parent});
  } else {
    complete_inside(frame, out);
  }
}

std::span<const Decimal> Automaton::seen_numbers(const SeenValues* seen) {
  if (seen == nullptr) {
    return {};
  }
  if (numbers_hash_ != seen->hash) {
    numbers_ = numbers_of(seen);
    numbers_hash_ = seen->hash;
  }
  return numbers_;
}

void Automaton::complete_inside(const Frame* frame, Threads& out) {
  Thread thread;
  thread.frame = frame;
  switch (frame->kind) {
    case Frame::Kind::kRoot:
      thread.leaf = Leaf::kEnd;
      break;
    case Frame::Kind::kRule:
      enter(frame->node, frame->parent, out);
      return;
    case Frame::Kind::kObject:
      thread.leaf = Leaf::kObjectNext;
      break;
    case Frame::Kind::kArray:
      thread.leaf = Leaf::kArrayNext;
      break;
    case Frame::Kind::kJoin:
      for (const Frame* parent : frame->parents) {
        if (work()) {
          complete_inside(parent, out);
        }
      }
      return;
  }
  out.push_back(thread);
}

void Automaton::step_all(std::span<const Thread> threads, std::uint8_t byte, Threads& out) {
  out.clear();
  elements_.clear();
  for (const Thread& thread : threads) {
    if (thread.leaf == Leaf::kArrayOpen && byte != ']') {
      begin_element(thread, false, elements_);
    } else {
      step(thread, byte, out);
    }
  }
  if (!elements_.empty()) {
    // The first elements of all arrays, joined before each of them opens as many again.
    settle(elements_);
    for (const Thread& element : elements_) {
      step(element, byte, out);
    }
  }
  if (out.size() > 1) {
    settle(out);
  }
}

void Automaton::step(const Thread& thread, std::uint8_t byte, Threads& out) {
  if (!work()) {
    return;
  }
  switch (thread.leaf) {
    case Leaf::kEnd:
      return;
    case Leaf::kNode:
      return step_node(thread, byte, out);
    case Leaf::kText:
      return step_text(thread, byte, out);
    case Leaf::kValue:
      return step_value(thread, byte, out);
    case Leaf::kLiteral:
      return step_literal(thread, byte, out);
    case Leaf::kNumber:
      return step_number(thread, byte, out);
    case Leaf::kString:
      return step_string(thread, byte, out);
    case Leaf::kObjectOpen:
      return step_object_open(thread, byte, out);
    case Leaf::kKeyStart:
      return step_key_start(thread, byte, out);
    case Leaf::kKey:
      return step_key(thread, byte, out);
    case Leaf::kColon:
      return step_colon(thread, byte, out);
    case Leaf::kObjectNext:
      return step_object_next(thread, byte, out);
    case Leaf::kArrayOpen:
      return step_array_open(thread, byte, out);
    case Leaf::kArrayNext:
      return step_array_next(thread, byte, out);
  }
}

void Automaton::step_marker(const Thread& thread, TokenId marker, Threads& out) {
  if (thread.leaf == Leaf::kNode) {
    const RuleGraph& rules = program_.rules;
    const RuleGraph::Node& node = rules.nodes[thread.number];
    for (std::uint32_t i = node.first; i < node.last; ++i) {
      const RuleGraph::Edge& edge = rules.edges[i];
      if (edge.kind == RuleGraph::EdgeKind::kMarker && edge.value == marker) {
        enter(edge.target, thread.frame, out);
      }
    }
    return;
  }
  Threads next;
  leave(thread, next);
  for (const Thread& after : next) {
    step_marker(after, marker, out);
  }
}

bool Automaton::complete(const Thread& thread) {
  if (thread.leaf == Leaf::kEnd) {
    return true;
  }
  Threads next;
  leave(thread, next);
  return std::ranges::any_of(next, [&](const Thread& after) { return complete(after); });
}

void Automaton::leave(const Thread& thread, Threads& out) {
  if (thread.leaf == Leaf::kText && can_close(**thread.language, thread.string)) {
    complete_inside(thread.frame, out);
  }
  if (thread.leaf == Leaf::kNumber) {
    const auto excluded = seen_numbers(thread.frame->values);
    if ((*thread.numbers)->accepts(*thread.digits, excluded)) {
      complete_inside(with_value(thread.frame, thread), out);
    }
  }
}

void Automaton::step_node(const Thread& thread, std::uint8_t byte, Threads& out) {
  const RuleGraph& rules = program_.rules;
  const RuleGraph::Node& node = rules.nodes[thread.number];
  for (std::uint32_t i = node.first; i < node.last; ++i) {
    const RuleGraph::Edge& edge = rules.edges[i];
    if (edge.kind == RuleGraph::EdgeKind::kByte && edge.low <= byte && byte <= edge.high) {
      enter(edge.target, thread.frame, out);
    }
  }
}

void Automaton::step_text(const Thread& thread, std::uint8_t byte, Threads& out) {
  Thread next = thread;
  if (grammar::step(**thread.language, StringCoding::kRaw, next.string, byte) ==
      StringStep::kInside) {
    out.push_back(std::move(next));
  }
}

void Automaton::step_value(const Thread& thread, std::uint8_t byte, Threads& out) {
  const Formula& formula = program_.schemas.formulas[thread.number];
  if (byte == ' ' && thread.space) {
    out.push_back(thread);
    out.back().space = false;
    return;
  }
  const auto literal = [&](bool allowed, std::uint8_t which, TypeBits type) {
    const SeenValues* seen = thread.frame->values;
    const bool used = seen != nullptr && ((seen->bits >> which) & 1U) != 0;
    if (!allowed || used || (thread.types & type) == 0) {
      return;
    }
    Thread next = thread;
    next.leaf = Leaf::kLiteral;
    next.literal = which;
    next.at = 1;
    next.number = 0;
    next.space = false;
    next.types = 0;
    out.push_back(std::move(next));
  };
  switch (byte) {
    case '"':
      return open_string(thread, formula, out);
    case '{':
      return open_object(thread, formula, out);
    case '[':
      return open_array(thread, formula, out);
    case 'n':
      return literal(formula.null, 0, kNullType);
    case 'f':
      return literal((formula.booleans & 1U) != 0, 1, kBooleanType);
    case 't':
      return literal((formula.booleans & 2U) != 0, 2, kBooleanType);
    default:
      break;
  }
  if (byte == '-' || (byte >= '0' && byte <= '9')) {
    Threads starts;
    begin_numbers(thread, starts);
    for (const Thread& start : starts) {
      step_number(start, byte, out);
    }
  }
}

void Automaton::begin_numbers(const Thread& thread, Threads& out) {
  const Formula& formula = program_.schemas.formulas[thread.number];
  if ((thread.types & kNumberType) == 0 || formula.lexers.empty()) {
    return;
  }
  const bool keep = thread.frame->kind == Frame::Kind::kArray && thread.frame->array->unique;
  const NumberState* first =
      arena_.number(NumberState(keep ? NumberText::kKeep : NumberText::kDrop));
  for (const auto& lexer : formula.lexers) {
    Thread next;
    next.leaf = Leaf::kNumber;
    next.frame = thread.frame;
    next.numbers = &lexer;
    next.digits = first;
    out.push_back(next);
  }
}

void Automaton::step_literal(const Thread& thread, std::uint8_t byte, Threads& out) {
  const std::string_view word = kLiterals[thread.literal];
  if (byte != static_cast<std::uint8_t>(word[thread.at])) {
    return;
  }
  if (thread.at + 1U == word.size()) {
    complete_inside(with_value(thread.frame, thread), out);
    return;
  }
  out.push_back(thread);
  ++out.back().at;
}

void Automaton::step_number(const Thread& thread, std::uint8_t byte, Threads& out) {
  const auto excluded = seen_numbers(thread.frame->values);
  const bool point = byte == '.' && program_.integers == Integers::kPlain &&
                     (*thread.numbers)->language().integers == NumberLanguage::Integers::kOnly;
  auto next = point ? std::nullopt
                    : (*thread.numbers)->next(*thread.digits, static_cast<char>(byte), excluded);
  if (next) {
    out.push_back(thread);
    out.back().digits = arena_.number(*std::move(next));
    return;
  }
  const bool in_container =
      thread.frame->kind == Frame::Kind::kObject || thread.frame->kind == Frame::Kind::kArray;
  if (!in_container || byte == ',' || byte == '}' || byte == ']') {
    Threads after;
    leave(thread, after);
    for (const Thread& one : after) {
      step(one, byte, out);
    }
  }
}

}  // namespace daybreak::grammar
