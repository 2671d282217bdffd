// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pepper: the server's secret without which stored key digests are of no use. It lies in a file of
// its own, so that a stolen database or its backup verifies no key.

#include <array>
#include <filesystem>

#include "base/result.h"

namespace daybreak::access {

using Pepper = std::array<unsigned char, 32>;

enum class MissingPepper { kCreate, kRefuse };

// Reads the pepper at `path`: 64 hexadecimal digits and a line end. With kCreate, a missing file is
// made with random bytes and mode 0600, whole or not at all; of several processes doing so at the
// same time all get the pepper that the first one wrote.
// Errors: kNotFound    missing, and kRefuse
//         kPermission  not a regular file of this user, or open to group or others
//         kCorrupt     other contents
//         kIo          the system's message
[[nodiscard]] Result<Pepper> load_pepper(const std::filesystem::path& path, MissingPepper missing);

}  // namespace daybreak::access
