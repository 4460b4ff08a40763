#include "port/tuning_key.h"
#include "base/cache.h"
#include "base/file.h"
#include "base/sha256.h"
#include <algorithm>
#include <bit>

namespace opsight::port {

namespace {

/// A file that does not read is another key than any that does.
std::string contents(const std::filesystem::path &file) { return readFile(file).value_or("?"); }

std::string kernelLibrary() {
  std::vector<std::filesystem::path> files;
  std::error_code failed;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(dataRoot() / "kernels", failed))
    if (entry.is_regular_file(failed))
      files.push_back(entry.path());
  std::ranges::sort(files);
  std::string all;
  for (const std::filesystem::path &file : files)
    all += file.filename().string() + "\n" + contents(file);
  return all;
}

} // namespace

int64_t shapeClass(int64_t size) {
  constexpr int64_t exact = 256;
  return size <= exact ? size : int64_t(std::bit_ceil(uint64_t(size)));
}

std::string tuningKey(const Request &request, std::span<const ops::Case> speedCases, const card::Profile &profile,
                      const card::DeviceInfo &device) {
  std::string all = programStamp() + "\n" + std::string(request.op->name()) + "\n" + profile.name + "\n" +
                    device.device + "\n" + device.driver + "\n" + request.mapping + "\n";
  for (const auto &[name, value] : request.options)
    all += name + "=" + value + "\n";
  for (const Hint &hint : request.hints)
    all += hint.key + "=" + hint.value + "\n";
  for (const ops::Case &c : speedCases) {
    for (const auto &[symbol, size] : c.symbols)
      all += symbol + "=" + std::to_string(shapeClass(size)) + " ";
    all += "\n";
  }
  if (request.accept.reference)
    all += request.accept.reference->text + "\n";
  // The port file says what its own words mean for the source: launch, macros, parameters.
  for (const std::filesystem::path &file : {request.source, request.file})
    all += contents(file) + "\n" + request.kernel + "\n";
  return sha256(all + kernelLibrary());
}

} // namespace opsight::port
