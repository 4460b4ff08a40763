#include "port/output_folder.h"
#include "base/file.h"
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

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
  // The lock ends with the process, however that ends; workers do not inherit it.
  int lock = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0)
    return cannot(std::strerror(errno));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    bool taken = errno == EWOULDBLOCK;
    ::close(lock);
    if (taken)
      return userError("another run is writing the output folder '" + path.string() + "'",
                       "wait for it, or give this run a folder of its own with -o DIR");
    lock = -1; // some network file systems have no locks; one run alone needs none
  }
  for (const fs::directory_entry &left : fs::directory_iterator(path, failed))
    if (lock >= 0 && left.path().filename().string().starts_with(".partial."))
      fs::remove_all(left.path(), failed); // of a run that was killed
  fs::path staging = path / (".partial." + std::to_string(::getpid()));
  fs::remove_all(staging, failed);
  fs::create_directory(staging, failed);
  if (failed)
    return cannot(failed.message());
  OutputFolder folder(path, staging, !existed, lock);
  // A folder may exist and be listed, yet take no file (a full or read-only disk).
  if (Status probe = writeFile(staging / "probe", "x"); !probe)
    return cannot(probe.error().what);
  fs::remove(staging / "probe", failed);
  return folder;
}

OutputFolder::OutputFolder(OutputFolder &&other) noexcept
    : folder(std::move(other.folder)), staging(std::move(other.staging)), created(other.created),
      lock(std::exchange(other.lock, -1)) {
  other.staging.clear();
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!staging.empty())
    fs::remove_all(staging, ignored);
  if (lock >= 0)
    ::close(lock);
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
