// What the tuner measured on this machine, in a SQLite file of the user's state folder: every candidate as soon as it was
// judged, so that a search that was ended goes on where it stopped, and the winner of each search that came to its end, so
// that the same request gives the same kernel. Two searches may write at once.
#pragma once
#include "port/database.h"
#include "port/tuning_line.h"

namespace opsight::port {

class TuningRecord {
public:
  /// `key` stands for everything that the search depends on. An empty `file` keeps nothing. What cannot be read or written
  /// is told by problem() and costs time, never a verdict.
  TuningRecord(std::filesystem::path file, std::string key);

  std::optional<WinnerLine> winner();
  std::vector<TrialLine> trials();
  void add(const TrialLine &trial);
  void settle(const WinnerLine &winner);
  void forget();
  const std::string &problem() const { return trouble; }

private:
  std::optional<Database> open();
  void failed(const Error &error) { trouble = error.what; }

  std::filesystem::path file;
  std::string key, trouble;
};

/// "tuning.sqlite" in the state folder; empty without one.
std::filesystem::path tuningFile();

} // namespace opsight::port
