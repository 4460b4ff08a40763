#include "card/shared_memory.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace opsight::card {

namespace {
constexpr uint64_t pageBytes = 4096;

std::byte sentinelAt(uint64_t position, Sentinel sentinel) {
  if (sentinel == Sentinel::Number)
    return std::byte(position % 2 ? 0x3F : 0x11);
  return std::byte(position % 2 ? 0x7F : 0xF5);
}

std::unexpected<Error> outOfMemory(const char *name, uint64_t bytes) {
  return noVerdict("cannot get " + std::to_string(bytes) + " bytes of shared memory for " + name + ": " +
                       std::strerror(errno),
                   "close other programs or choose smaller cases");
}
} // namespace

Result<std::unique_ptr<SharedMemory>> SharedMemory::create(const char *name, uint64_t bytes) {
  std::unique_ptr<SharedMemory> memory(new SharedMemory);
  memory->fd_ = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory->fd_ < 0 || ::ftruncate(memory->fd_, static_cast<off_t>(bytes)) != 0)
    return outOfMemory(name, bytes);
  if (::fcntl(memory->fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return outOfMemory(name, bytes);
  void *base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd_, 0);
  if (base == MAP_FAILED)
    return outOfMemory(name, bytes);
  memory->base_ = static_cast<std::byte *>(base);
  memory->size_ = bytes;
  return memory;
}

SharedMemory::~SharedMemory() {
  if (base_)
    ::munmap(base_, size_);
  if (fd_ >= 0)
    ::close(fd_);
}

Result<int> codeDescriptor(const char *name, std::string_view bytes) {
  int fd = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0)
    return outOfMemory(name, bytes.size());
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      ::close(fd);
      return outOfMemory(name, bytes.size());
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  return fd;
}

GuardedLayout GuardedLayout::make(uint64_t bytes, uint32_t alignment, uint64_t variety) {
  uint64_t lead = (1 + variety % 7) * pageBytes;
  uint64_t padded = (bytes + alignment - 1) / alignment * alignment;
  uint64_t region = (lead + padded + pageBytes - 1) / pageBytes * pageBytes;
  return {region, region - padded, bytes};
}

void GuardedLayout::arm(std::span<std::byte> region, Sentinel sentinel) const {
  for (uint64_t i = 0; i < offset; ++i)
    region[i] = sentinelAt(i, sentinel);
  for (uint64_t i = offset + bytes; i < regionBytes; ++i)
    region[i] = sentinelAt(i, sentinel);
}

std::optional<int64_t> GuardedLayout::firstScribble(std::span<const std::byte> region, Sentinel sentinel) const {
  // Nearest to the buffer first: before it the highest address tells more than the lowest.
  for (uint64_t i = offset + bytes; i < regionBytes; ++i)
    if (region[i] != sentinelAt(i, sentinel))
      return static_cast<int64_t>(i - offset);
  for (uint64_t i = offset; i-- > 0;)
    if (region[i] != sentinelAt(i, sentinel))
      return static_cast<int64_t>(i) - static_cast<int64_t>(offset);
  return std::nullopt;
}

} // namespace opsight::card
