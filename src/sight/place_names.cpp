// See place_names.h.
#include "sight/place_names.h"
#include <filesystem>
#include <fmt/format.h>

namespace opsight::sight {

static std::string triple(uint64_t linear, const card::Dim3 &extent) {
  return fmt::format("({},{},{})", linear % extent.x, linear / extent.x % extent.y, linear / extent.x / extent.y);
}

std::string threadName(const card::WatchedLaunch &launch, uint64_t block, uint32_t warp, uint32_t lane) {
  return fmt::format("thread {} of block {}", triple(uint64_t(warp) * card::warpLanes + lane, launch.config.block),
                     triple(block, launch.config.grid));
}

const char *verbOf(card::Site::Kind kind) {
  switch (kind) {
  case card::Site::Kind::Load:
    return "reads";
  case card::Site::Kind::Store:
    return "writes";
  default:
    return "updates";
  }
}

std::string elementName(const card::WatchedObject &object, int64_t offset, uint32_t elementBytes) {
  int64_t size = object.elementBytes > 1 ? object.elementBytes : std::max(1u, elementBytes);
  std::string name = object.name.empty() ? "a local array" : object.name;
  if (offset % size)
    return fmt::format("{} {} {} bytes", name, offset < 0 ? "-" : "+", std::abs(offset));
  return fmt::format("{}[{}]", name, offset / size);
}

std::string lineName(const SourcePlace &where) {
  if (where.file.empty())
    return "a line that the compiler does not name";
  return fmt::format("{}:{}", std::filesystem::path(where.file).filename().string(), where.line);
}

} // namespace opsight::sight
