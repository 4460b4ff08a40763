#include "base/cache.h"
#include "base/file.h"
#include "base/sha256.h"
#include <algorithm>
#include <cstdlib>
#include <sys/stat.h>
#include <vector>

namespace opsight {
namespace fs = std::filesystem;

namespace {
constexpr uint64_t mostBytes = 512u << 20; // then half of it is given up
constexpr size_t digits = 64;              // of the hash that stands before what is kept

fs::path cacheFolder() {
  if (const char *folder = std::getenv("OPSIGHT_CACHE"); folder && *folder)
    return std::string_view(folder) == "off" ? fs::path() : fs::path(folder);
  if (const char *folder = std::getenv("XDG_CACHE_HOME"); folder && *folder == '/')
    return fs::path(folder) / "opsight";
  if (const char *home = std::getenv("HOME"); home && *home == '/')
    return fs::path(home) / ".cache" / "opsight";
  return {};
}

struct Kept {
  fs::path path;
  uint64_t bytes;
  fs::file_time_type used;
};

void giveUpOldest(const fs::path &folder) {
  std::vector<Kept> all;
  uint64_t sum = 0;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    std::error_code gone; // by another run
    Kept kept{entry->path(), entry->file_size(gone), entry->last_write_time(gone)};
    if (gone)
      continue;
    sum += kept.bytes;
    all.push_back(std::move(kept));
  }
  if (sum <= mostBytes)
    return;
  std::ranges::sort(all, {}, &Kept::used);
  for (const Kept &kept : all) {
    if (sum <= mostBytes / 2)
      return;
    std::error_code gone;
    fs::remove(kept.path, gone);
    sum -= kept.bytes;
  }
}
} // namespace

std::optional<std::string> fromCache(std::string_view key) {
  fs::path folder = cacheFolder();
  if (folder.empty())
    return std::nullopt;
  fs::path path = folder / sha256(key);
  auto bytes = readFile(path, mostBytes);
  if (!bytes || bytes->size() < digits)
    return std::nullopt;
  std::string hash = bytes->substr(0, digits);
  bytes->erase(0, digits);
  if (sha256(*bytes) != hash)
    return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored); // it is of use
  return std::move(*bytes);
}

void toCache(std::string_view key, std::string_view bytes) {
  fs::path folder = cacheFolder();
  if (folder.empty() || bytes.size() > mostBytes / 8)
    return;
  std::string name = sha256(key);
  if (!writeFile(folder / name, sha256(bytes) + std::string(bytes)))
    return;
  if (name[0] == '0') // one in sixteen: looking through all of them costs time, too
    giveUpOldest(folder);
}

std::string programStamp() {
  static const std::string stamp = [] {
    struct stat info {};
    std::error_code failed;
    fs::path program = fs::read_symlink("/proc/self/exe", failed);
    if (failed || ::stat(program.c_str(), &info) != 0)
      return std::string();
    return program.string() + " " + std::to_string(info.st_size) + " " + std::to_string(info.st_mtim.tv_sec) + "." +
           std::to_string(info.st_mtim.tv_nsec);
  }();
  return stamp;
}

} // namespace opsight
