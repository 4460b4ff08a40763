#include "base/file.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace opsight {
namespace fs = std::filesystem;

Result<std::string> readFile(const fs::path &path, uint64_t maxBytes) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return userError("cannot read '" + path.string() + "': " + std::strerror(errno));
  if (S_ISDIR(info.st_mode))
    return userError("'" + path.string() + "' is a folder, not a file");
  if (!S_ISREG(info.st_mode))
    return userError("'" + path.string() + "' is not a regular file");
  if (static_cast<uint64_t>(info.st_size) > maxBytes)
    return userError("'" + path.string() + "' is larger than " + std::to_string(maxBytes >> 20) + " MiB");
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return userError("cannot read '" + path.string() + "': " + std::strerror(errno));
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  in.read(bytes.data(), info.st_size);
  bytes.resize(static_cast<size_t>(in.gcount()));
  return bytes;
}

Status writeFile(const fs::path &path, std::string_view bytes) {
  std::error_code failed;
  if (path.has_parent_path())
    fs::create_directories(path.parent_path(), failed);
  if (failed)
    return userError("cannot create folder '" + path.parent_path().string() + "': " + failed.message());
  fs::path partial = path.string() + ".partial." + std::to_string(::getpid());
  int fd = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0)
    return userError("cannot write '" + path.string() + "': " + std::strerror(errno));
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      int reason = errno;
      ::close(fd);
      ::unlink(partial.c_str());
      return userError("cannot write '" + path.string() + "': " + std::strerror(reason));
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  ::close(fd);
  fs::rename(partial, path, failed);
  if (failed) {
    ::unlink(partial.c_str());
    return userError("cannot write '" + path.string() + "': " + failed.message());
  }
  return {};
}

fs::path programFolder() {
  std::error_code failed;
  fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return failed ? fs::current_path() : program.parent_path();
}

fs::path dataRoot() {
  if (const char *root = std::getenv("OPSIGHT_ROOT"); root && *root)
    return root;
  for (fs::path folder = programFolder(); folder.has_relative_path(); folder = folder.parent_path())
    if (fs::exists(folder / "include/opsight-cuda") && fs::exists(folder / "cards"))
      return folder;
  return programFolder();
}

} // namespace opsight
