// SPDX-License-Identifier: Apache-2.0
#pragma once

// A prompt is a list of segments. Only segments written by the renderer itself may hold special
// tokens; everything a client controls is ordinary text, so it can never forge structure. Each
// segment is encoded on its own: merges never cross an edge.

#include <string>

namespace daybreak::chat {

struct Segment {
  std::string text;
  bool allow_special = false;

  friend bool operator==(const Segment&, const Segment&) = default;
};

}  // namespace daybreak::chat
