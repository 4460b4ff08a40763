// How many warps of a kernel a card's processor (SM, compute unit) holds at once.
//
// Warps and blocks: the card's limits. Registers: those of a warp, rounded up to the allocation unit; as many warps as
// fit, rounded down to the granularity by which the processor's parts share them; where a block may have fewer
// registers than the processor has, the count is made for one block's share. Shared memory: static and dynamic bytes
// and what the card reserves, rounded up to the unit. Source: NVIDIA's occupancy calculator (Nsight Compute
// documentation, "Occupancy Calculator") and the technical specifications per compute capability of the CUDA C++
// Programming Guide; for AMD the same rule with a wave's registers, as LLVM's AMDGPU user guide and ROCm's
// documentation of occupancy state it.
#pragma once
#include "card/profile.h"
#include "sight/findings.h"

namespace opsight::sight {

/// One processor of a card, as far as occupancy depends on it.
struct SmLimits {
  uint32_t warpWidth = 32;
  uint32_t warps = 0, blocks = 0, threadsPerBlock = 0;
  uint32_t registers = 0, registersPerBlock = 0, registersPerThread = 0;
  uint32_t registerUnit = 0;    // registers, of a warp
  uint32_t warpGranularity = 1; // warps
  uint64_t shared = 0;          // bytes
  uint64_t sharedPerBlock = 0;  // the most a launch may ask for, after opting in where the card wants that
  uint64_t sharedStatic = 0;    // the most without opting in, and of static arrays
  uint64_t sharedReserved = 0, sharedUnit = 1; // of each block

  /// None where the profile lacks one of the figures.
  static std::optional<SmLimits> of(const card::Profile &profile);
};

/// What one block asks for.
struct BlockNeeds {
  uint64_t threads = 0;
  uint64_t sharedBytes = 0;            // static and dynamic
  std::optional<uint32_t> registers{}; // a thread; none: not known, then they limit nothing
};

/// blocksPerSm, warpsPerSm, percent, limitedBy and the needs; 0 blocks: it cannot be launched at all.
Occupancy occupancyOf(const SmLimits &sm, const BlockNeeds &block);

/// What a wave of CDNA2 and CDNA3 allocates: vector registers, rounded up to 8, and accumulation registers behind them
/// in the same file (AMD Instinct MI200 and MI300 ISA, "VGPRs and accumulation VGPRs").
uint32_t unifiedRegisters(uint32_t vector, uint32_t accumulation);

} // namespace opsight::sight
