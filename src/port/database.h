// SQLite as the records of this room use it: opened with patience for another run's write, errors with the file's name.
#pragma once
#include "base/error.h"
#include <filesystem>
#include <memory>
#include <optional>
#include <sqlite3.h>

namespace opsight::port {

/// The folder of what Opsight remembers between runs ($XDG_STATE_HOME/opsight, ~/.local/state/opsight); empty without a
/// home.
std::filesystem::path stateFolder();

struct SqliteCloser {
  void operator()(sqlite3 *database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt *statement) const { sqlite3_finalize(statement); }
};

class Database {
public:
  /// Of an existing file, for reading alone.
  static Result<Database> read(const std::filesystem::path &file);
  /// Creates file and folder where they are missing, and the tables of `schema`.
  static Result<Database> write(const std::filesystem::path &file, const char *schema);

  /// One statement: values are bound from 1, columns read from 0.
  class Statement {
  public:
    Statement &bind(int at, const std::string &text);
    Statement &bind(int at, int64_t number);
    Statement &bind(int at, double number);
    /// Whether a row is there; an error of the database. Call until false.
    Result<bool> step();
    std::string text(int column) const;
    int64_t whole(int column) const { return sqlite3_column_int64(raw.get(), column); }
    std::optional<double> real(int column) const;

  private:
    friend class Database;
    Statement(std::unique_ptr<sqlite3_stmt, SqliteCloser> raw, const Database &of) : raw(std::move(raw)), of(&of) {}
    std::unique_ptr<sqlite3_stmt, SqliteCloser> raw;
    const Database *of;
  };
  Result<Statement> prepare(const char *sql) const;

private:
  static Result<Database> open(const std::filesystem::path &file, int flags);
  std::unexpected<Error> broken() const;

  std::unique_ptr<sqlite3, SqliteCloser> raw;
  std::filesystem::path file;
};

} // namespace opsight::port
