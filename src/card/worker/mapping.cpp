#include "card/worker/mapping.h"
#include <cerrno>
#include <sys/mman.h>

namespace opsight::card {

Result<std::unique_ptr<GuardedMapping>> GuardedMapping::create(int fd, uint64_t region, uint64_t variety) {
  std::unique_ptr<GuardedMapping> mapping(new GuardedMapping);
  uint64_t shift = (variety % 61) * 4096;
  uint64_t total = guardBytes + shift + region + guardBytes;
  void *reserved = ::mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED)
    return noVerdict(std::string("the worker cannot map a buffer: ") + std::strerror(errno),
                     "choose smaller cases or raise the memory limit");
  mapping->reserved_ = reserved;
  mapping->reservedBytes_ = total;
  void *place = static_cast<std::byte *>(reserved) + guardBytes + shift;
  // Populated here: thousands of page faults would otherwise fall into the first timed run on a fresh buffer.
  constexpr int flags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
  if (::mmap(place, region, PROT_READ | PROT_WRITE, flags, fd, 0) == MAP_FAILED)
    return noVerdict(std::string("the worker cannot map a buffer: ") + std::strerror(errno));
  mapping->region_ = static_cast<std::byte *>(place);
  return mapping;
}

GuardedMapping::~GuardedMapping() {
  if (reserved_)
    ::munmap(reserved_, reservedBytes_);
}

} // namespace opsight::card
