#include "card/launch_limits.h"
#include "card/cpu/grid_memory.h"
#include <algorithm>

namespace opsight::card {

namespace {
std::string over(const std::string &what, uint64_t value, uint64_t limit) {
  return what + " = " + std::to_string(value) + " is over the card's limit of " + std::to_string(limit);
}

std::string describe(const Dim3 &d) {
  return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
}
} // namespace

std::string overLimit(const Manifest &manifest, const LaunchConfig &config, const DeviceInfo &info) {
  const uint32_t grid[] = {config.grid.x, config.grid.y, config.grid.z};
  const uint32_t block[] = {config.block.x, config.block.y, config.block.z};
  const char *axis[] = {"x", "y", "z"};
  for (int i = 0; i < 3; ++i) {
    if (grid[i] == 0 || block[i] == 0)
      return std::string(grid[i] == 0 ? "grid." : "block.") + axis[i] + " is zero: a launch needs at least one thread";
    if (grid[i] > info.maxGrid[i])
      return over(std::string("grid.") + axis[i], grid[i], info.maxGrid[i]);
    if (block[i] > info.maxBlock[i])
      return over(std::string("block.") + axis[i], block[i], info.maxBlock[i]);
  }
  uint64_t threads = config.block.count();
  if (threads > info.maxThreadsPerBlock)
    return over("threads of a block", threads, info.maxThreadsPerBlock);
  if (manifest.maxThreadsPerBlock && threads > manifest.maxThreadsPerBlock)
    return "threads of a block = " + std::to_string(threads) + " is over the " +
           std::to_string(manifest.maxThreadsPerBlock) + " that the kernel's __launch_bounds__ state";
  if (manifest.requiredBlock && *manifest.requiredBlock != config.block)
    return "the code was made for blocks of " + describe(*manifest.requiredBlock) + ", not " + describe(config.block);
  uint64_t shared = manifest.staticSharedBytes + std::min<uint64_t>(config.dynamicSharedBytes, UINT64_MAX / 2);
  if (shared > info.sharedBytes)
    return over("bytes of shared memory", shared, info.sharedBytes);
  if (manifest.residentBytes) {
    uint64_t each = native::guardedStride(manifest.residentBytes, config.dynamicSharedBytes);
    uint64_t most = info.residentBytes / each;
    if (config.grid.count() > most)
      return over("blocks of a launch that waits for the whole grid", config.grid.count(), most) + ": each of them keeps " +
             std::to_string(each >> 10) + " KiB while it waits";
  }
  return {};
}

std::string missingFeature(const Manifest &manifest, const DeviceInfo &info) {
  if (manifest.needsDouble && !info.hasDouble)
    return "double precision";
  if (manifest.needsHalf && !info.hasHalf)
    return "half precision arithmetic";
  if (manifest.needsInt64Atomics && !info.hasInt64Atomics)
    return "64-bit atomics";
  if (manifest.subgroupWidth && std::ranges::find(info.subgroupWidths, manifest.subgroupWidth) == info.subgroupWidths.end())
    return "subgroups of width " + std::to_string(manifest.subgroupWidth);
  return {};
}

} // namespace opsight::card
