// The numbers are those of public reports; the limits are those of the CUDA C++ Programming Guide.
#include "sight/occupancy.h"
#include <gtest/gtest.h>

namespace opsight::sight {
namespace {

constexpr uint64_t kib = 1024;

SmLimits cc(uint32_t warps, uint32_t blocks, uint64_t shared, uint64_t perBlock, uint64_t reserved, uint64_t unit) {
  return {32, warps, blocks, 1024, 65536, 65536, 255, 256, 4, shared, perBlock, 48 * kib, reserved, unit};
}
const SmLimits cc50 = cc(64, 32, 64 * kib, 48 * kib, 0, 256);
const SmLimits cc75 = cc(32, 16, 64 * kib, 64 * kib, 0, 256);
const SmLimits cc80 = cc(64, 32, 164 * kib, 163 * kib, kib, 128);
const SmLimits cc90 = cc(64, 32, 228 * kib, 227 * kib, kib, 128);
SmLimits cc52() {
  SmLimits sm = cc(64, 32, 96 * kib, 48 * kib, 0, 256);
  sm.registersPerBlock = 32768;
  return sm;
}

void expectBlocks(const SmLimits &sm, const BlockNeeds &needs, uint32_t blocks, double percent) {
  Occupancy occupancy = occupancyOf(sm, needs);
  EXPECT_EQ(occupancy.blocksPerSm, blocks);
  EXPECT_NEAR(occupancy.percent, percent, 0.01);
}

TEST(Occupancy, RegistersAreAllocatedInUnitsOfAWarp) {
  for (uint32_t registers : {41u, 43u, 48u})
    expectBlocks(cc80, {256, 0, registers}, 5, 62.5);
  expectBlocks(cc80, {256, 0, 49}, 4, 50);
  EXPECT_EQ(occupancyOf(cc80, {256, 0, 49}).limitedBy, "registers");
}

TEST(Occupancy, ABlockMayHaveFewerRegistersThanTheProcessor) {
  expectBlocks(cc50, {128, 0, 85}, 5, 31.25);
  expectBlocks(cc52(), {128, 0, 85}, 4, 25);
}

TEST(Occupancy, AccumulationRegistersCountOnCdna) {
  SmLimits cdna{64, 32, 32, 1024, 512 * 64 * 4, 512 * 64 * 4, 512, 512, 4, 64 * kib, 64 * kib, 64 * kib, 0, 512};
  EXPECT_EQ(unifiedRegisters(5, 128), 136u);
  expectBlocks(cdna, {256, 0, unifiedRegisters(5, 128)}, 3, 37.5);
  expectBlocks(cdna, {256, 0, 8}, 8, 100);
}

TEST(Occupancy, EachBlocksReservedSharedMemoryCounts) {
  for (uint64_t kibs = 80; kibs <= 84; ++kibs)
    EXPECT_EQ(occupancyOf(cc80, {128, kibs * kib, {}}).blocksPerSm, kibs <= 81 ? 2u : 1u) << kibs;
  expectBlocks(cc80, {128, 100 * kib, {}}, 1, 6.25);
  EXPECT_EQ(occupancyOf(cc80, {128, 100 * kib, {}}).limitedBy, "shared memory");
}

TEST(Occupancy, ASecondBlockThatDoesNotFitLeavesWarpsUnused) {
  expectBlocks(cc75, {640, 0, 32}, 1, 62.5);
  EXPECT_EQ(occupancyOf(cc75, {640, 0, 32}).limitedBy, "warps");
}

TEST(Occupancy, ABlockTakesWholeWarps) {
  EXPECT_EQ(occupancyOf(cc80, {33, 0, 16}).warpsPerSm, 64u);
  EXPECT_EQ(occupancyOf(cc80, {96, 0, 16}).warpsPerSm, 63u);
  EXPECT_EQ(occupancyOf(cc80, {32, 0, 16}).limitedBy, "blocks");
}

TEST(Occupancy, TooManyRegistersForABlockAreNoLaunchAtAll) {
  expectBlocks(cc90, {1024, 0, 65}, 0, 0);
  EXPECT_EQ(occupancyOf(cc90, {1024, 0, 65}).limitedBy, "registers");
  expectBlocks(cc90, {1024, 0, 64}, 1, 50);
  expectBlocks(cc90, {32, 0, 256}, 0, 0);
}

TEST(Occupancy, TooMuchSharedMemoryOrTooManyThreadsAreNoLaunchAtAll) {
  expectBlocks(cc80, {128, 164 * kib, {}}, 0, 0);
  expectBlocks(cc80, {1025, 0, {}}, 0, 0);
}

TEST(Occupancy, UnknownRegistersLimitNothing) {
  expectBlocks(cc80, {256, 0, {}}, 8, 100);
  EXPECT_FALSE(occupancyOf(cc80, {256, 0, {}}).registers);
}

TEST(Occupancy, SeveralLimitsAtOnceAreAllNamed) {
  EXPECT_EQ(occupancyOf(cc80, {1024, 81 * kib, 32}).limitedBy, "registers, warps, shared memory");
}

TEST(Profiles, ThoseOfSimtCardsSayHowManyWarpsFit) {
  auto limits = [](const char *name) { return SmLimits::of(card::findProfile(name).value()).value(); };
  expectBlocks(limits("a100"), {256, 0, 41}, 5, 62.5);
  EXPECT_EQ(occupancyOf(limits("a100"), {128, 82 * kib, {}}).blocksPerSm, 1u);
  expectBlocks(limits("h100"), {1024, 0, 65}, 0, 0);
  expectBlocks(limits("rtx4090"), {1024, 0, 32}, 1, 100.0 * 32 / 48);
  expectBlocks(limits("mi300x"), {256, 0, unifiedRegisters(5, 128)}, 3, 37.5);
}

TEST(Profiles, WhereFiguresAreMissingNothingIsInvented) {
  EXPECT_FALSE(SmLimits::of(card::findProfile("generic").value()));
  EXPECT_FALSE(SmLimits::of(card::findProfile("ascend910b").value()));
  EXPECT_FALSE(SmLimits::of(card::findProfile("cpu").value()));
}

} // namespace
} // namespace opsight::sight
