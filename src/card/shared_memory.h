// Memory that the tool and its worker both map. Its size is sealed, so that nothing the worker does can make the
// tool's own mapping fault.
#pragma once
#include "base/error.h"
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace opsight::card {

class SharedMemory {
public:
  static Result<std::unique_ptr<SharedMemory>> create(const char *name, uint64_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;

  int fd() const { return fd_; }
  std::span<std::byte> bytes() const { return {base_, size_}; }

private:
  SharedMemory() = default;
  int fd_ = -1;
  std::byte *base_ = nullptr;
  size_t size_ = 0;
};

/// A read-only copy of `bytes` to hand to the worker by descriptor; the caller closes it.
Result<int> codeDescriptor(const char *name, std::string_view bytes);

/// NaN (as float, double, half and bfloat16) spoils every sum that reads it, but comes out of one with its own bits; a number
/// of those types shows what is read and written in one place.
enum class Sentinel { NotANumber, Number };

/// Where a buffer lies in its shared memory: its end is flush with the memory's end up to `alignment`, the rest is
/// filled with sentinels.
struct GuardedLayout {
  uint64_t regionBytes = 0; // whole pages
  uint64_t offset = 0;      // of the buffer's first byte
  uint64_t bytes = 0;

  /// `variety` moves the start by whole pages, so that two buffers seldom share their low address bits.
  static GuardedLayout make(uint64_t bytes, uint32_t alignment, uint64_t variety);
  void arm(std::span<std::byte> region, Sentinel sentinel) const;
  /// Offset from the buffer's start of the first sentinel byte that changed; negative before it.
  std::optional<int64_t> firstScribble(std::span<const std::byte> region, Sentinel sentinel) const;
};

} // namespace opsight::card
