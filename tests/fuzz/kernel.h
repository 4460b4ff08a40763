// A random kernel with its launch, and the memory that it is launched on.
#pragma once
#include "card/artifact.h"
#include "fuzz/tree.h"
#include <cstdint>
#include <string>

namespace opsight::fuzz {

/// Elements of each input.
inline constexpr unsigned inputs = 4096;
/// Elements that atomics add to, of 32 bits and of 64.
inline constexpr unsigned counters = 64;
/// Statements that write to an output have one element a thread each; there are no more of them.
inline constexpr unsigned mostStores = 16;
/// … and what variables hold at the end goes behind them. With both, every output takes a multiple of 16 bytes.
inline constexpr unsigned finals = 12;

struct Kernel {
  uint64_t seed = 0;
  card::Dim3 block{}, grid{};
  int n = 0, m = 0;         // arguments
  unsigned sharedBytes = 0; // dynamic
  Node body{};

  unsigned threads() const { return unsigned(block.count() * grid.count()); }
  /// The `__global__` function, called `name`. `prelude()` goes before the first.
  std::string source(const std::string &name) const;
  std::string launch() const;
};

/// Device functions that kernels use; none has an operand without a result.
const std::string &prelude();

/// The kernel that `seed` stands for, the same on every machine.
Kernel write(uint64_t seed);

} // namespace opsight::fuzz
