// The folder of results: proved writable before any work, filled in a staging folder beside its final place, and shown
// at once at the end, so that a reader never sees half a verdict.
#pragma once
#include "base/error.h"
#include <filesystem>
#include <string_view>

namespace opsight::port {

class OutputFolder {
public:
  /// Creates `path` where it is missing; a user error when it cannot be written or another run writes there.
  static Result<OutputFolder> open(const std::filesystem::path &path);
  OutputFolder(OutputFolder &&other) noexcept;
  OutputFolder &operator=(OutputFolder &&) = delete;
  ~OutputFolder(); // what was not committed is removed

  const std::filesystem::path &path() const { return folder; }
  std::filesystem::path journal() const { return folder / "journal.jsonl"; }
  /// Writes into staging; `relative` may name folders.
  Status write(const std::filesystem::path &relative, std::string_view bytes);
  /// Replaces what an earlier run left; verdict.json comes last.
  Status commit();
  /// What an interrupted run must remove: staging, and the folder itself where this run created it.
  std::filesystem::path removable() const { return created ? folder : staging; }

private:
  OutputFolder(std::filesystem::path folder, std::filesystem::path staging, bool created, int lock)
      : folder(std::move(folder)), staging(std::move(staging)), created(created), lock(lock) {}
  std::filesystem::path folder, staging;
  bool created = false;
  int lock = -1; // of the folder, held against a second run
};

} // namespace opsight::port
