#include "port/verdict_log.h"
#include <algorithm>
#include <cstdlib>
#include <sqlite3.h>

namespace opsight::port {

namespace {

constexpr const char *schema =
    "CREATE TABLE IF NOT EXISTS verdicts (day TEXT NOT NULL DEFAULT CURRENT_DATE, operator TEXT NOT NULL, card TEXT NOT NULL,"
    " device TEXT NOT NULL, verb TEXT NOT NULL, candidate TEXT NOT NULL, options TEXT NOT NULL, pass INTEGER NOT NULL,"
    " cases INTEGER NOT NULL, max_error REAL NOT NULL, ratio REAL, reference TEXT NOT NULL, seed TEXT NOT NULL)";

struct Closer {
  void operator()(sqlite3 *database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt *statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Closer>;
using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

std::unexpected<Error> broken(sqlite3 *database, const std::filesystem::path &file) {
  return userError("cannot use the record of verdicts '" + file.string() + "': " +
                       (database ? sqlite3_errmsg(database) : "out of memory"),
                   "delete the file, or set XDG_STATE_HOME to a folder that can be written");
}

Result<Database> open(const std::filesystem::path &file, int flags) {
  sqlite3 *raw = nullptr;
  int failed = sqlite3_open_v2(file.c_str(), &raw, flags, nullptr);
  Database database(raw);
  if (failed)
    return broken(raw, file);
  sqlite3_busy_timeout(raw, 2000); // another run may be writing its line
  return database;
}

Result<Statement> prepare(const Database &database, const char *text, const std::filesystem::path &file) {
  sqlite3_stmt *raw = nullptr;
  if (sqlite3_prepare_v2(database.get(), text, -1, &raw, nullptr) != SQLITE_OK)
    return broken(database.get(), file);
  return Statement(raw);
}

void bind(const Statement &statement, int at, const std::string &text) {
  sqlite3_bind_text(statement.get(), at, text.c_str(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

std::string textAt(const Statement &statement, int column) {
  const unsigned char *text = sqlite3_column_text(statement.get(), column);
  return text ? reinterpret_cast<const char *>(text) : "";
}

/// Options that are not at their default, which is the first value.
std::string optionsText(const Request &request) {
  std::string text;
  for (const ops::OptionInfo &option : request.op->options())
    if (auto value = request.options.find(option.name); value != request.options.end() && value->second != option.values.front())
      text += (text.empty() ? "" : ", ") + option.name + "=" + value->second;
  return text;
}

} // namespace

std::filesystem::path verdictLogFile() {
  const char *state = std::getenv("XDG_STATE_HOME"), *home = std::getenv("HOME");
  std::filesystem::path folder;
  if (state && *state == '/') // a relative path is to be ignored, says the XDG base directory specification
    folder = state;
  else if (home && *home == '/')
    folder = std::filesystem::path(home) / ".local" / "state";
  return folder.empty() ? folder : folder / "opsight" / "verdicts.sqlite";
}

Status recordVerdict(const Outcome &outcome, const std::filesystem::path &file) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  Result<Database> database = open(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!database)
    return std::unexpected(database.error());
  if (sqlite3_exec(database->get(), schema, nullptr, nullptr, nullptr) != SQLITE_OK)
    return broken(database->get(), file);
  Result<Statement> insert = prepare(*database,
                                     "INSERT INTO verdicts (operator, card, device, verb, candidate, options, pass, cases,"
                                     " max_error, ratio, reference, seed) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
                                     file);
  if (!insert)
    return std::unexpected(insert.error());
  const judge::Verdict &verdict = outcome.verdict;
  bind(*insert, 1, std::string(outcome.request.op->name()));
  bind(*insert, 2, outcome.profile.name);
  bind(*insert, 3, verdict.device.device);
  bind(*insert, 4, outcome.verb);
  bind(*insert, 5, verdict.candidate);
  bind(*insert, 6, optionsText(outcome.request));
  sqlite3_bind_int(insert->get(), 7, verdict.pass);
  sqlite3_bind_int64(insert->get(), 8, std::ranges::count_if(verdict.accuracy.cases, &judge::CaseResult::pass));
  sqlite3_bind_double(insert->get(), 9, verdict.accuracy.maxError);
  bool timed = verdict.speed && !verdict.speed->cases.empty();
  if (timed)
    sqlite3_bind_double(insert->get(), 10, verdict.speed->ratio);
  bind(*insert, 11, timed ? verdict.speed->reference : "");
  bind(*insert, 12, std::to_string(outcome.seed));
  if (sqlite3_step(insert->get()) != SQLITE_DONE)
    return broken(database->get(), file);
  return {};
}

Result<std::vector<Proof>> proofsOf(const std::string &operatorName, const std::filesystem::path &file) {
  std::vector<Proof> proofs;
  std::error_code failed;
  if (file.empty() || !std::filesystem::exists(file, failed))
    return proofs;
  Result<Database> database = open(file, SQLITE_OPEN_READONLY);
  if (!database)
    return std::unexpected(database.error());
  Result<Statement> rows = prepare(*database,
                                   "SELECT card, device, candidate, options, day, cases, max_error, ratio, reference, pass"
                                   " FROM verdicts WHERE operator = ? ORDER BY card, rowid",
                                   file);
  if (!rows)
    return std::unexpected(rows.error());
  bind(*rows, 1, operatorName);
  int stepped = SQLITE_ROW;
  while ((stepped = sqlite3_step(rows->get())) == SQLITE_ROW) {
    std::string card = textAt(*rows, 0);
    if (proofs.empty() || proofs.back().card != card)
      proofs.emplace_back().card = card;
    Proof &proof = proofs.back();
    bool pass = sqlite3_column_int(rows->get(), 9);
    ++(pass ? proof.passes : proof.fails);
    if (!pass)
      continue;
    proof.device = textAt(*rows, 1);
    proof.candidate = textAt(*rows, 2);
    proof.options = textAt(*rows, 3);
    proof.day = textAt(*rows, 4);
    proof.cases = sqlite3_column_int64(rows->get(), 5);
    proof.maxError = sqlite3_column_double(rows->get(), 6);
    proof.ratio = std::nullopt;
    if (sqlite3_column_type(rows->get(), 7) != SQLITE_NULL)
      proof.ratio = sqlite3_column_double(rows->get(), 7);
    proof.reference = textAt(*rows, 8);
  }
  if (stepped != SQLITE_DONE)
    return broken(database->get(), file);
  return proofs;
}

} // namespace opsight::port
