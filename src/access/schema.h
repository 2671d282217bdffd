// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tables of an access database: keys, their secrets' digests, and the usage ledger, all in one
// SQLite file (documented in docs/access.md).

#include <filesystem>

#include "access/sqlite.h"
#include "base/result.h"

namespace daybreak::access {

// Opens the database at `path` and makes the tables if it is new.
// Errors: those of Database::open; kInvalidArgument if it is a database of another program;
// kUnsupported if a newer version of this one made it.
[[nodiscard]] Result<Database> open_access_database(const std::filesystem::path& path,
                                                    Database::Missing missing);

}  // namespace daybreak::access
