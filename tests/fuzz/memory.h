// The buffers that a kernel is launched on. Each ends where a page that may not be touched begins.
#pragma once
#include "fuzz/kernel.h"
#include <memory>
#include <span>
#include <vector>

namespace opsight::fuzz {

class Pages {
public:
  explicit Pages(size_t bytes);
  Pages(const Pages &) = delete;
  ~Pages();
  std::span<std::byte> bytes() const { return bytes_; }

private:
  void *mapped_;
  size_t length_;
  std::span<std::byte> bytes_;
};

/// In the order of the kernel's parameters: in, reals, bytes, out, shorts, floats, counts, longs.
class Memory {
public:
  explicit Memory(const Kernel &kernel);
  /// Outputs as they are before a launch.
  void reset();
  std::vector<std::span<std::byte>> all() const;
  /// The parameters' bits, those of n and m behind the addresses.
  std::vector<uint64_t> arguments() const;
  std::vector<std::byte> outputs() const;
  /// What `index` into outputs() is: "out[12]".
  std::string place(size_t index) const;

private:
  const Kernel &kernel_;
  std::vector<std::unique_ptr<Pages>> buffers_;
};

} // namespace opsight::fuzz
