// SPDX-License-Identifier: Apache-2.0
#include "access/sqlite.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

namespace daybreak::access {
namespace {

// How long a statement waits for another process's write lock.
constexpr int kBusyTimeoutMs = 5000;

Errc errc_of(int code) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Errc::kCorrupt;
    case SQLITE_FULL:
      return Errc::kResourceLimit;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Errc::kUnavailable;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return Errc::kPermission;
    default:
      return Errc::kIo;
  }
}

Error error_of(sqlite3* database, int code) {
  const char* file = sqlite3_db_filename(database, nullptr);
  return {errc_of(code),
          fmt::format("{}: {}", file == nullptr ? "database" : file,
                      sqlite3_extended_errcode(database) == code ? sqlite3_errmsg(database)
                                                                 : sqlite3_errstr(code))};
}

// SQLite would create it readable for everybody that umask lets in. A file that exists is not
// opened here: closing it would drop the locks that this process's other connections hold on it.
Status create_private(const std::filesystem::path& path, Database::Missing missing) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    return ok();
  }
  if (missing == Database::Missing::kRefuse) {
    return Error{Errc::kNotFound, path.string() + ": no such database"};
  }
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL, 0600);
  if (fd >= 0) {
    ::close(fd);
  } else if (errno != EEXIST) {  // another process was faster
    const bool refused = errno == EACCES || errno == EROFS;
    return Error{refused ? Errc::kPermission : Errc::kIo,
                 fmt::format("{}: cannot create: {}", path.string(), std::strerror(errno))};
  }
  return ok();
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

void Statement::note(int code) {
  if (bind_code_ == SQLITE_OK) {
    bind_code_ = code;
  }
}

Statement& Statement::bind(int index, std::int64_t value) {
  note(sqlite3_bind_int64(statement_.get(), index, value));
  return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
  const char* data = text.data() == nullptr ? "" : text.data();
  note(sqlite3_bind_text64(statement_.get(), index, data, text.size(), SQLITE_TRANSIENT,
                           SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_blob(int index, const void* data, std::size_t n) {
  note(sqlite3_bind_blob64(statement_.get(), index, data, n, SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind_null(int index) {
  note(sqlite3_bind_null(statement_.get(), index));
  return *this;
}

Result<bool> Statement::step() {
  sqlite3* database = sqlite3_db_handle(statement_.get());
  if (const int code = std::exchange(bind_code_, SQLITE_OK); code != SQLITE_OK) {
    return error_of(database, code);
  }
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW || code == SQLITE_DONE) {
    return code == SQLITE_ROW;
  }
  return error_of(database, sqlite3_extended_errcode(database));
}

Status Statement::run() {
  const auto row = step();
  reset();
  if (!row) {
    return row.error();
  }
  return ok();
}

void Statement::reset() {
  sqlite3_reset(statement_.get());  // repeats the error step() has returned
  sqlite3_clear_bindings(statement_.get());
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), bytes);
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Result<Database> Database::open(const std::filesystem::path& path, Missing missing) {
  DAYBREAK_CHECK_OK(create_private(path, missing));
  Database out(path.string());
  sqlite3* database = nullptr;
  // The file exists by now. FULLMUTEX is not needed: each connection has one owner, who locks.
  const int code = sqlite3_open_v2(path.c_str(), &database,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  out.database_.reset(database);
  if (code != SQLITE_OK) {
    return error_of(database, code);
  }
  sqlite3_extended_result_codes(database, 1);
  sqlite3_busy_timeout(database, kBusyTimeoutMs);
  if (sqlite3_db_readonly(database, "main") != 0) {
    return Error{Errc::kPermission, out.name_ + ": expected a database that can be written"};
  }
  DAYBREAK_CHECK_OK(out.execute("PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF"));
  return out;
}

Status Database::make_durable() {
  DAYBREAK_TRY(Statement wal, prepare("PRAGMA journal_mode=WAL"));
  DAYBREAK_TRY(const bool row, wal.step());
  if (!row || wal.text(0) != "wal") {  // some network file systems cannot
    return Error{Errc::kUnsupported, name_ + ": the file system does not allow SQLite's WAL mode"};
  }
  return execute("PRAGMA synchronous=FULL");
}

Status Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    return error_of(database_.get(), code);
  }
  return ok();
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, nullptr);
  if (code != SQLITE_OK) {
    return error_of(database_.get(), code);
  }
  return Statement(statement);
}

Result<std::int64_t> Database::integer(std::string_view sql) {
  DAYBREAK_TRY(Statement statement, prepare(sql));
  DAYBREAK_TRY(const bool row, statement.step());
  if (!row) {
    return Error{Errc::kCorrupt, fmt::format("{}: expected a row from {}", name_, sql)};
  }
  return statement.integer(0);
}

std::int64_t Database::rows_changed() const { return sqlite3_changes64(database_.get()); }
std::int64_t Database::last_rowid() const { return sqlite3_last_insert_rowid(database_.get()); }

Result<Transaction> Transaction::begin(Database& database) {
  DAYBREAK_CHECK_OK(database.execute("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Result<Transaction> Transaction::begin_read(Database& database) {
  DAYBREAK_CHECK_OK(database.execute("BEGIN"));
  return Transaction(&database);
}

Transaction::~Transaction() {
  if (database_ != nullptr) {
    // Fails only if SQLite has rolled back by itself.
    (void)database_->execute("ROLLBACK");
  }
}

Status Transaction::commit() {
  DAYBREAK_CHECK_OK(database_->execute("COMMIT"));
  database_ = nullptr;
  return ok();
}

}  // namespace daybreak::access
