#include "port/database.h"
#include <cstdlib>

namespace opsight::port {

constexpr int patienceMilliseconds = 2000; // another run may be writing its line

std::filesystem::path stateFolder() {
  const char *state = std::getenv("XDG_STATE_HOME"), *home = std::getenv("HOME");
  if (state && *state == '/') // a relative path is to be ignored, says the XDG base directory specification
    return std::filesystem::path(state) / "opsight";
  if (home && *home == '/')
    return std::filesystem::path(home) / ".local" / "state" / "opsight";
  return {};
}

std::unexpected<Error> Database::broken() const {
  return userError("cannot use the record '" + file.string() +
                       "': " + (raw ? sqlite3_errmsg(raw.get()) : "out of memory"),
                   "delete the file, or set XDG_STATE_HOME to a folder that can be written");
}

Result<Database> Database::open(const std::filesystem::path &file, int flags) {
  Database database;
  database.file = file;
  sqlite3 *raw = nullptr;
  const int failed = sqlite3_open_v2(file.c_str(), &raw, flags, nullptr);
  database.raw.reset(raw);
  if (failed)
    return database.broken();
  sqlite3_busy_timeout(raw, patienceMilliseconds);
  return database;
}

Result<Database> Database::read(const std::filesystem::path &file) { return open(file, SQLITE_OPEN_READONLY); }

Result<Database> Database::write(const std::filesystem::path &file, const char *schema) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  Result<Database> database = open(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (database && sqlite3_exec(database->raw.get(), schema, nullptr, nullptr, nullptr) != SQLITE_OK)
    return database->broken();
  return database;
}

Result<Database::Statement> Database::prepare(const char *sql) const {
  sqlite3_stmt *statement = nullptr;
  if (sqlite3_prepare_v2(raw.get(), sql, -1, &statement, nullptr) != SQLITE_OK)
    return broken();
  return Statement(std::unique_ptr<sqlite3_stmt, SqliteCloser>(statement), *this);
}

Database::Statement &Database::Statement::bind(int at, const std::string &text) {
  sqlite3_bind_text(raw.get(), at, text.c_str(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  return *this;
}

Database::Statement &Database::Statement::bind(int at, int64_t number) {
  sqlite3_bind_int64(raw.get(), at, number);
  return *this;
}

Database::Statement &Database::Statement::bind(int at, double number) {
  sqlite3_bind_double(raw.get(), at, number);
  return *this;
}

Result<bool> Database::Statement::step() {
  const int stepped = sqlite3_step(raw.get());
  if (stepped != SQLITE_ROW && stepped != SQLITE_DONE)
    return of->broken();
  return stepped == SQLITE_ROW;
}

std::string Database::Statement::text(int column) const {
  const unsigned char *text = sqlite3_column_text(raw.get(), column);
  return text ? reinterpret_cast<const char *>(text) : "";
}

std::optional<double> Database::Statement::real(int column) const {
  if (sqlite3_column_type(raw.get(), column) == SQLITE_NULL)
    return std::nullopt;
  return sqlite3_column_double(raw.get(), column);
}

} // namespace opsight::port
