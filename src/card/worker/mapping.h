// A buffer's memory in the worker: the shared pages between two stretches that may not be touched.
#pragma once
#include "card/wire.h"
#include "card/worker/driver.h"

namespace opsight::card {

using wire::guardBytes;

class GuardedMapping {
public:
  /// Maps `region` bytes of `fd`. `variety` moves the place by pages.
  static Result<std::unique_ptr<GuardedMapping>> create(int fd, uint64_t region, uint64_t variety);
  ~GuardedMapping();
  GuardedMapping(const GuardedMapping &) = delete;
  GuardedMapping &operator=(const GuardedMapping &) = delete;
  std::byte *region() const { return region_; }

private:
  GuardedMapping() = default;
  void *reserved_ = nullptr;
  uint64_t reservedBytes_ = 0;
  std::byte *region_ = nullptr;
};

} // namespace opsight::card
