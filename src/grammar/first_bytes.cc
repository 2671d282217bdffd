// SPDX-License-Identifier: Apache-2.0
#include "grammar/first_bytes.h"

#include <string_view>

namespace daybreak::grammar {
namespace {

void add_all_of(std::string_view bytes, ByteSet& out) {
  for (const char byte : bytes) {
    out.add(static_cast<std::uint8_t>(byte));
  }
}

}  // namespace

void ByteSet::add_range(std::uint8_t low, std::uint8_t high) {
  for (unsigned byte = low; byte <= high; ++byte) {
    add(static_cast<std::uint8_t>(byte));
  }
}

void add_first_bytes(const RuleGraph& rules, const Thread& thread, ByteSet& out) {
  switch (thread.leaf) {
    case Leaf::kEnd:
      return;
    case Leaf::kNode: {
      const RuleGraph::Node& node = rules.nodes[thread.number];
      for (std::uint32_t i = node.first; i < node.last; ++i) {
        const RuleGraph::Edge& edge = rules.edges[i];
        if (edge.kind == RuleGraph::EdgeKind::kByte) {
          out.add_range(edge.low, edge.high);
        }
      }
      return;
    }
    case Leaf::kValue:
      return add_all_of(" \"{[ntf-0123456789", out);
    case Leaf::kArrayOpen:
      return add_all_of(" \"{[ntf-0123456789]", out);
    case Leaf::kLiteral:
      return add_all_of("rulase", out);
    case Leaf::kObjectOpen:
      return add_all_of(" \"}", out);
    case Leaf::kKeyStart:
      return add_all_of(" \"", out);
    case Leaf::kColon:
      return out.add(':');
    case Leaf::kObjectNext:
      return add_all_of(",}", out);
    case Leaf::kArrayNext:
      return add_all_of(",]", out);
    case Leaf::kText:
    case Leaf::kNumber:
    case Leaf::kString:
    case Leaf::kKey:
      return out.add_range(0x00, 0xFF);
  }
}

}  // namespace daybreak::grammar
