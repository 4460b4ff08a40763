#include "port/tuning_record.h"
#include "base/text.h"

namespace opsight::port {

namespace {

constexpr const char *schema = "CREATE TABLE IF NOT EXISTS trials (day TEXT NOT NULL DEFAULT CURRENT_DATE, key TEXT "
                               "NOT NULL, candidate TEXT NOT NULL,"
                               " settings TEXT NOT NULL, right INTEGER NOT NULL, max_error REAL NOT NULL, ratio REAL, "
                               "low REAL, high REAL, gflops REAL,"
                               " fraction REAL, PRIMARY KEY (key, candidate, settings));"
                               "CREATE TABLE IF NOT EXISTS winners (day TEXT NOT NULL DEFAULT CURRENT_DATE, key TEXT "
                               "PRIMARY KEY, candidate TEXT NOT NULL,"
                               " settings TEXT NOT NULL, notes TEXT NOT NULL, seconds REAL NOT NULL)";

} // namespace

std::filesystem::path tuningFile() {
  std::filesystem::path folder = stateFolder();
  return folder.empty() ? folder : folder / "tuning.sqlite";
}

TuningRecord::TuningRecord(std::filesystem::path file, std::string key) : file(std::move(file)), key(std::move(key)) {}

std::optional<Database> TuningRecord::open() {
  if (file.empty())
    return std::nullopt;
  Result<Database> database = Database::write(file, schema);
  if (database)
    return std::move(*database);
  failed(database.error());
  return std::nullopt;
}

std::optional<WinnerLine> TuningRecord::winner() {
  std::optional<Database> database = open();
  if (!database)
    return std::nullopt;
  auto row = database->prepare("SELECT candidate, settings, notes, day, seconds FROM winners WHERE key = ?");
  if (!row) {
    failed(row.error());
    return std::nullopt;
  }
  Result<bool> found = row->bind(1, key).step();
  if (!found || !*found)
    return std::nullopt;
  WinnerLine line{row->text(0), valuesFrom(row->text(1)), {}, row->real(4).value_or(0), row->text(3)};
  if (std::string notes = row->text(2); !notes.empty())
    line.notes = split(notes, '\n');
  return line;
}

std::vector<TrialLine> TuningRecord::trials() {
  std::vector<TrialLine> lines;
  std::optional<Database> database = open();
  if (!database)
    return lines;
  auto rows = database->prepare("SELECT candidate, settings, right, max_error, ratio, low, high, gflops, fraction, day"
                                " FROM trials WHERE key = ? ORDER BY rowid");
  if (!rows) {
    failed(rows.error());
    return lines;
  }
  rows->bind(1, key);
  for (Result<bool> found = rows->step(); found && *found; found = rows->step())
    lines.push_back({rows->text(0), valuesFrom(rows->text(1)), rows->whole(2) != 0, rows->real(3).value_or(0),
                     rows->real(4), rows->real(5), rows->real(6), rows->real(7), rows->real(8), rows->text(9)});
  return lines;
}

void TuningRecord::add(const TrialLine &trial) {
  std::optional<Database> database = open();
  if (!database)
    return;
  auto insert =
      database->prepare("INSERT OR REPLACE INTO trials (key, candidate, settings, right, max_error, ratio, low, high,"
                        " gflops, fraction) VALUES (?,?,?,?,?,?,?,?,?,?)");
  if (!insert)
    return failed(insert.error());
  insert->bind(1, key)
      .bind(2, trial.candidate)
      .bind(3, valuesText(trial.values))
      .bind(4, int64_t(trial.right))
      .bind(5, trial.maxError);
  int column = 6;
  for (const std::optional<double> &figure : {trial.ratio, trial.low, trial.high, trial.gflops, trial.fractionOfPeak}) {
    if (figure)
      insert->bind(column, *figure);
    ++column;
  }
  if (Result<bool> done = insert->step(); !done)
    failed(done.error());
}

void TuningRecord::settle(const WinnerLine &winner) {
  std::optional<Database> database = open();
  if (!database)
    return;
  auto insert =
      database->prepare("INSERT OR REPLACE INTO winners (key, candidate, settings, notes, seconds) VALUES (?,?,?,?,?)");
  if (!insert)
    return failed(insert.error());
  insert->bind(1, key)
      .bind(2, winner.candidate)
      .bind(3, valuesText(winner.values))
      .bind(4, join(winner.notes, "\n"))
      .bind(5, winner.seconds);
  if (Result<bool> done = insert->step(); !done)
    failed(done.error());
}

void TuningRecord::forget() {
  std::optional<Database> database = open();
  if (!database)
    return;
  for (const char *sql : {"DELETE FROM trials WHERE key = ?", "DELETE FROM winners WHERE key = ?"}) {
    auto statement = database->prepare(sql);
    if (!statement)
      return failed(statement.error());
    if (Result<bool> done = statement->bind(1, key).step(); !done)
      failed(done.error());
  }
}

} // namespace opsight::port
