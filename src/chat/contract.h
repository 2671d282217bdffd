// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace daybreak::chat {

// Whose rules a request has to follow, on every route that generates. kVendor adds those by which
// Moonshot's own K3 API refuses requests and names tool calls (docs/chat.md, "The vendor
// contract"); it allows nothing that kOpen refuses.
enum class Contract : std::uint8_t { kOpen, kVendor };

}  // namespace daybreak::chat
