#include "card/icd.h"
#include "base/file.h"
#include "base/text.h"
#include <cstdlib>

namespace opsight::card {

namespace {
namespace fs = std::filesystem;

/// A driver that is found otherwise than through the system's folder of .icd files.
struct PrivateDriver {
  const char *stem, *variable, *folder, *library, *setUp;
};
constexpr PrivateDriver privateDrivers[] = {
    {"intel", "OPSIGHT_INTEL_OPENCL", "build/intel-opencl", "lib/libintelocl.so", "run tools/setup-intel-opencl.sh"}};

struct Found {
  std::string library;
  fs::path searchFolder; // for the libraries it needs; may be empty
};

Result<Found> findDriver(const std::string &stem) {
  for (const PrivateDriver &row : privateDrivers) {
    if (stem != row.stem)
      continue;
    const char *chosen = std::getenv(row.variable);
    fs::path base = chosen && *chosen ? fs::path(chosen) : dataRoot() / row.folder;
    if (fs::exists(base / row.library))
      return Found{(base / row.library).string(), (base / row.library).parent_path()};
    return noVerdict("no OpenCL driver '" + stem + "' in '" + base.string() + "'", row.setUp);
  }
  fs::path file = fs::path("/etc/OpenCL/vendors") / (stem + ".icd");
  auto text = readFile(file);
  if (!text)
    return noVerdict("no OpenCL driver '" + stem + "': " + text.error().what,
                     "install the package " + stem + "-opencl-icd");
  return Found{std::string(trim(*text)), {}};
}
} // namespace

Result<std::map<std::string, std::string>> openClEnvironment(const std::string &stem, const fs::path &folder) {
  auto found = findDriver(stem);
  if (!found)
    return std::unexpected(found.error());
  if (Status written = writeFile(folder / "vendors" / (stem + ".icd"), found->library + "\n"); !written)
    return std::unexpected(written.error());
  std::error_code failed;
  fs::create_directories(folder / "cache", failed);
  std::map<std::string, std::string> environment = {
      {"OCL_ICD_VENDORS", (folder / "vendors").string()},
      {"OPENCL_VENDOR_PATH", (folder / "vendors").string()},
      {"OCL_ICD_FILENAMES", ""},
      {"POCL_CACHE_DIR", (folder / "cache").string()},
      {"TMPDIR", folder.string()},
      {"HOME", folder.string()}};
  if (!found->searchFolder.empty())
    environment["LD_LIBRARY_PATH"] = found->searchFolder.string();
  return environment;
}

} // namespace opsight::card
