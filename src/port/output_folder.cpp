#include "port/output_folder.h"
#include "base/file.h"
#include <unistd.h>

namespace opsight::port {
namespace fs = std::filesystem;

Result<OutputFolder> OutputFolder::open(const fs::path &path) {
  auto cannot = [&](const std::string &why) {
    return userError("cannot write the output folder '" + path.string() + "': " + why, "give another one with -o DIR");
  };
  std::error_code failed;
  bool existed = fs::exists(path, failed);
  if (existed && !fs::is_directory(path))
    return cannot("it is a file");
  fs::create_directories(path, failed);
  if (failed)
    return cannot(failed.message());
  fs::path staging = path / (".partial." + std::to_string(::getpid()));
  fs::remove_all(staging, failed);
  fs::create_directory(staging, failed);
  if (failed)
    return cannot(failed.message());
  OutputFolder folder(path, staging, !existed);
  // A folder may exist and be listed, yet take no file (a full or read-only disk).
  if (Status probe = writeFile(staging / "probe", "x"); !probe)
    return cannot(probe.error().what);
  fs::remove(staging / "probe", failed);
  return folder;
}

OutputFolder::OutputFolder(OutputFolder &&other) noexcept
    : folder(std::move(other.folder)), staging(std::move(other.staging)), created(other.created) {
  other.staging.clear();
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!staging.empty())
    fs::remove_all(staging, ignored);
}

Status OutputFolder::write(const fs::path &relative, std::string_view bytes) { return writeFile(staging / relative, bytes); }

Status OutputFolder::commit() {
  std::error_code failed;
  auto move = [&](const fs::path &name) {
    fs::remove_all(folder / name, failed);
    fs::rename(staging / name, folder / name, failed);
    return !failed;
  };
  // A verdict of an earlier run must not stand beside this run's files.
  fs::remove(folder / "verdict.json", failed);
  for (const fs::directory_entry &entry : fs::directory_iterator(staging, failed))
    if (entry.path().filename() != "verdict.json" && !move(entry.path().filename()))
      return userError("cannot write '" + (folder / entry.path().filename()).string() + "': " + failed.message());
  if (fs::exists(staging / "verdict.json", failed) && !move("verdict.json"))
    return userError("cannot write '" + (folder / "verdict.json").string() + "': " + failed.message());
  fs::remove_all(staging, failed);
  staging.clear();
  return {};
}

} // namespace opsight::port
