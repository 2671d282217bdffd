// SPDX-License-Identifier: Apache-2.0
#pragma once

// How many vision slots an image takes in the prompt; needs its size only.

#include <cstddef>

#include "chat/chat_request.h"

namespace daybreak::chat {

// Returns the number of media_pad tokens. REQUIRES: both sides >= 1.
// Source: spec k3-frontend.md section 2.8 (patch 14, merge 2x2, at most 65,536 patches).
[[nodiscard]] std::size_t image_pad_tokens(ImageSize size);

}  // namespace daybreak::chat
