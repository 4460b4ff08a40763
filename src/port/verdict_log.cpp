#include "port/verdict_log.h"
#include "port/database.h"
#include <algorithm>

namespace opsight::port {

namespace {

constexpr const char *schema =
    "CREATE TABLE IF NOT EXISTS verdicts (day TEXT NOT NULL DEFAULT CURRENT_DATE, operator TEXT NOT NULL, card TEXT NOT NULL,"
    " device TEXT NOT NULL, verb TEXT NOT NULL, candidate TEXT NOT NULL, options TEXT NOT NULL, pass INTEGER NOT NULL,"
    " cases INTEGER NOT NULL, max_error REAL NOT NULL, ratio REAL, reference TEXT NOT NULL, seed TEXT NOT NULL)";

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
  std::filesystem::path folder = stateFolder();
  return folder.empty() ? folder : folder / "verdicts.sqlite";
}

Status recordVerdict(const Outcome &outcome, const std::filesystem::path &file) {
  Result<Database> database = Database::write(file, schema);
  if (!database)
    return std::unexpected(database.error());
  auto insert = database->prepare("INSERT INTO verdicts (operator, card, device, verb, candidate, options, pass, cases,"
                                  " max_error, ratio, reference, seed) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
  if (!insert)
    return std::unexpected(insert.error());
  const judge::Verdict &verdict = outcome.verdict;
  insert->bind(1, std::string(outcome.request.op->name()))
      .bind(2, outcome.profile.name)
      .bind(3, verdict.device.device)
      .bind(4, outcome.verb)
      .bind(5, verdict.candidate)
      .bind(6, optionsText(outcome.request))
      .bind(7, int64_t(verdict.pass))
      .bind(8, int64_t(std::ranges::count_if(verdict.accuracy.cases, &judge::CaseResult::pass)))
      .bind(9, verdict.accuracy.maxError);
  bool timed = verdict.speed && !verdict.speed->cases.empty();
  if (timed)
    insert->bind(10, verdict.speed->ratio);
  insert->bind(11, timed ? verdict.speed->reference : "").bind(12, std::to_string(outcome.seed));
  if (Result<bool> stepped = insert->step(); !stepped)
    return std::unexpected(stepped.error());
  return {};
}

Result<std::vector<Proof>> proofsOf(const std::string &operatorName, const std::filesystem::path &file) {
  std::vector<Proof> proofs;
  std::error_code failed;
  if (file.empty() || !std::filesystem::exists(file, failed))
    return proofs;
  Result<Database> database = Database::read(file);
  if (!database)
    return std::unexpected(database.error());
  auto rows = database->prepare("SELECT card, device, candidate, options, day, cases, max_error, ratio, reference, pass"
                                " FROM verdicts WHERE operator = ? ORDER BY card, rowid");
  if (!rows)
    return std::unexpected(rows.error());
  rows->bind(1, operatorName);
  Result<bool> stepped = true;
  while ((stepped = rows->step()) && *stepped) {
    std::string card = rows->text(0);
    if (proofs.empty() || proofs.back().card != card)
      proofs.emplace_back().card = card;
    Proof &proof = proofs.back();
    bool pass = rows->whole(9);
    ++(pass ? proof.passes : proof.fails);
    if (!pass)
      continue;
    proof.device = rows->text(1);
    proof.candidate = rows->text(2);
    proof.options = rows->text(3);
    proof.day = rows->text(4);
    proof.cases = rows->whole(5);
    proof.maxError = rows->real(6).value_or(0);
    proof.ratio = rows->real(7);
    proof.reference = rows->text(8);
  }
  if (!stepped)
    return std::unexpected(stepped.error());
  return proofs;
}

} // namespace opsight::port
