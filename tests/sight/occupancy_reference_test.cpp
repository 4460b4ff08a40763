// Against NVIDIA's own calculator, which comes with the CUDA toolkit as a header: needed by nothing, compared where it
// is.
#include "sight/occupancy.h"
#include <gtest/gtest.h>
#if __has_include(<cuda_occupancy.h>)
#define HAS_CALCULATOR 1
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#include <cuda_occupancy.h>
#pragma clang diagnostic pop
#endif

namespace opsight::sight {
namespace {

#ifdef HAS_CALCULATOR
struct Card {
  const char *name;
  int major, minor;
};

cudaOccDeviceProp propertiesOf(const Card &card, const SmLimits &sm) {
  cudaOccDeviceProp properties;
  properties.computeMajor = card.major, properties.computeMinor = card.minor;
  properties.maxThreadsPerBlock = int(sm.threadsPerBlock), properties.warpSize = int(sm.warpWidth);
  properties.maxThreadsPerMultiprocessor = int(sm.warps * sm.warpWidth);
  properties.regsPerBlock = int(sm.registersPerBlock), properties.regsPerMultiprocessor = int(sm.registers);
  properties.sharedMemPerBlock = sm.sharedStatic, properties.sharedMemPerBlockOptin = sm.sharedPerBlock;
  properties.sharedMemPerMultiprocessor = sm.shared, properties.reservedSharedMemPerBlock = sm.sharedReserved;
  properties.numSms = 1;
  return properties;
}

/// Blocks of `needs` on an SM, by the toolkit; 0 where it refuses.
uint32_t calculated(const cudaOccDeviceProp &properties, const BlockNeeds &needs) {
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = properties.maxThreadsPerBlock, attributes.numRegs = int(*needs.registers);
  attributes.sharedSizeBytes = 0, attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = properties.sharedMemPerBlockOptin, attributes.numBlockBarriers = 1;
  cudaOccDeviceState state;
  state.carveoutConfig = 100;
  cudaOccResult result;
  const cudaOccError failed = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state,
                                                                      int(needs.threads), needs.sharedBytes);
  return failed == CUDA_OCC_SUCCESS ? uint32_t(result.activeBlocksPerMultiprocessor) : 0;
}
#endif

TEST(Occupancy, IsThatOfTheToolkitsCalculator) {
#ifdef HAS_CALCULATOR
  for (const Card &card : {Card{"a100", 8, 0}, Card{"rtx4090", 8, 9}, Card{"h100", 9, 0}}) {
    const SmLimits sm = SmLimits::of(card::findProfile(card.name).value()).value();
    const cudaOccDeviceProp properties = propertiesOf(card, sm);
    for (uint64_t threads = 1; threads <= 1024; threads += threads < 130 ? 3 : 31)
      for (uint32_t registers = 8; registers <= 255; registers += 7)
        for (uint64_t shared = 0; shared <= sm.sharedPerBlock; shared += 3571) {
          const BlockNeeds needs{threads, shared, registers};
          ASSERT_EQ(occupancyOf(sm, needs).blocksPerSm, calculated(properties, needs))
              << card.name << ": " << threads << " threads, " << registers << " registers, " << shared << " bytes";
        }
  }
#else
  GTEST_SKIP() << "no cuda_occupancy.h here";
#endif
}

} // namespace
} // namespace opsight::sight
