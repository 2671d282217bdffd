// SPDX-License-Identifier: Apache-2.0
#pragma once

// Database and Statement: a thin cover over SQLite whose every failure is a Result. Errors are
// kIo with SQLite's message, kCorrupt for a damaged file, kResourceLimit for a full disk or file,
// kUnavailable when another process holds the write lock for too long.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace daybreak::access {

// A prepared statement. Must not outlive its Database; not thread-safe.
class Statement {
 public:
  // Bind the parameter `index`, from 1. A failure is reported by the next step().
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, std::string_view text);                 // copied
  Statement& bind_blob(int index, const void* data, std::size_t n);  // copied
  Statement& bind_null(int index);

  // Runs until the next row. Returns whether there is one.
  [[nodiscard]] Result<bool> step();
  // Runs a statement without rows, and makes it ready to be bound and run again.
  [[nodiscard]] Status run();
  void reset();

  // Column `column`, from 0, of the present row. REQUIRES: step() returned true.
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string text(int column) const;  // blobs too
  [[nodiscard]] bool is_null(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  void note(int code);

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bind_code_ = 0;
};

// One connection. Not thread-safe: its owner locks.
class Database {
 public:
  enum class Missing { kCreate, kRefuse };

  // Opens `path` for reading and writing. A file it creates has mode 0600.
  // Errors: also kNotFound (missing, and kRefuse), kPermission (not writable).
  [[nodiscard]] static Result<Database> open(const std::filesystem::path& path, Missing missing);

  // Sets WAL mode with synchronous=FULL: a commit that returned survives the end of the process
  // and of the machine. Errors: also kUnsupported where the file system allows no WAL.
  [[nodiscard]] Status make_durable();

  // Runs statements without parameters, ignoring rows.
  [[nodiscard]] Status execute(const std::string& sql);
  [[nodiscard]] Result<Statement> prepare(std::string_view sql);
  // Returns the first column of the first row. Errors: kCorrupt if there is no row.
  [[nodiscard]] Result<std::int64_t> integer(std::string_view sql);

  [[nodiscard]] std::int64_t rows_changed() const;  // by the last statement
  [[nodiscard]] std::int64_t last_rowid() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Database(std::string name) : name_(std::move(name)) {}

  std::unique_ptr<sqlite3, Close> database_;
  std::string name_;
};

// Rolls back unless committed. Must not outlive its Database.
class Transaction {
 public:
  // Takes the write lock at once, so that what is read inside stays true until the commit.
  [[nodiscard]] static Result<Transaction> begin(Database& database);
  // For reading alone: all reads see one moment, and no writer waits for it.
  [[nodiscard]] static Result<Transaction> begin_read(Database& database);
  ~Transaction();
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;

  // Returns once it is on the disk. After an error nothing is known to be.
  [[nodiscard]] Status commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}
  Database* database_;
};

}  // namespace daybreak::access
