// SPDX-License-Identifier: Apache-2.0
#pragma once

// Small files that are replaced whole: a reader, and whoever comes after a crash, finds the old
// bytes or the new ones, never a part.

#include <string>
#include <string_view>

#include "base/result.h"

namespace daybreak {

// Writes `bytes` to "PATH.new", waits until they are on the disk, and renames. Errors: kIo; the old
// file is then as it was. Not for two writers of one path at a time.
Status write_file_atomically(const std::string& path, std::string_view bytes);

// Waits until the names in the directory that holds `path` are on the disk. Errors: kIo.
Status sync_directory_of(const std::string& path);

// Returns the whole file. Errors: kNotFound, kTooLarge (more than `max_bytes`), kIo.
Result<std::string> read_whole_file(const std::string& path, std::size_t max_bytes);

}  // namespace daybreak
