// The numbers are those of public reports and of the model stated in bank_model.h.
#include "sight/access.h"
#include "sight/bank_model.h"
#include <gtest/gtest.h>

namespace opsight::sight {
namespace {

uint32_t taken(const Addresses &addresses, uint32_t bytes, uint32_t mask = ~0u) {
  return wavefrontsOf(addresses, mask, bytes).taken;
}
uint32_t excess(const Addresses &addresses, uint32_t bytes) {
  Wavefronts w = wavefrontsOf(addresses, ~0u, bytes);
  return w.taken - w.ideal;
}

TEST(BankModel, ConsecutiveVectorsOfFourFloatsDoNotConflict) {
  EXPECT_EQ(taken(strided(16), 16), 4u);
  EXPECT_EQ(excess(strided(16), 16), 0u);
}

TEST(BankModel, AStrideOfFloatsConflictsByItsCommonFactorWithTheBanks) {
  EXPECT_EQ(excess(strided(4), 4), 0u);
  EXPECT_EQ(excess(strided(8), 4), 1u);
  EXPECT_EQ(excess(strided(12), 4), 0u);
  EXPECT_EQ(taken(strided(16), 4), 4u);
  EXPECT_EQ(excess(strided(16), 4), 3u);
  EXPECT_EQ(excess(strided(128), 4), 31u);
}

TEST(BankModel, AColumnOfASquareTileConflictsUnlessItsRowsArePaddedOrSwizzled) {
  uint32_t plain = 0, padded = 0, swizzled = 0;
  for (uint32_t column = 0; column < 32; ++column) {
    plain += excess(addressesOf([&](uint32_t row) { return (row * 32 + column) * 4; }), 4);
    padded += excess(addressesOf([&](uint32_t row) { return (row * 33 + column) * 4; }), 4);
    swizzled += excess(addressesOf([&](uint32_t row) { return (row * 32 + (column ^ row)) * 4; }), 4);
  }
  EXPECT_EQ(plain, 992u);
  EXPECT_EQ(padded, 0u);
  EXPECT_EQ(swizzled, 0u);
}

TEST(BankModel, ThreadsThatReadOneWordShareIt) {
  EXPECT_EQ(taken(strided(0), 4), 1u);
  EXPECT_EQ(taken(addressesOf([](uint32_t i) { return i < 16 ? 0 : 128; }), 4), 2u);
  EXPECT_EQ(taken(addressesOf([](uint32_t i) { return i % 2 * 128; }), 4), 2u);
}

TEST(BankModel, NarrowElementsShareTheirWord) {
  EXPECT_EQ(taken(strided(2), 2), 1u);
  EXPECT_EQ(taken(strided(128), 2), 32u);
  EXPECT_EQ(taken(strided(130), 2), 2u);
  EXPECT_EQ(taken(strided(132), 2), 1u);
  EXPECT_EQ(taken(strided(1), 1), 1u);
  EXPECT_EQ(taken(strided(4), 1), 1u);
  EXPECT_EQ(taken(strided(128), 1), 32u);
}

TEST(BankModel, EightBytesGoByHalvesOfAWarp) {
  EXPECT_EQ(taken(strided(8), 8), 2u);
  EXPECT_EQ(excess(strided(8), 8), 0u);
  EXPECT_EQ(taken(strided(16), 8), 4u);
  EXPECT_EQ(taken(strided(256), 8), 32u);
  EXPECT_EQ(taken(strided(264), 8), 2u);
}

TEST(BankModel, BanksAreAParameter) {
  EXPECT_EQ(wavefrontsOf(strided(4), ~0u, 4, {16, 4}).taken, 2u);
  EXPECT_EQ(wavefrontsOf(strided(4), ~0u, 4, {16, 4}).ideal, 2u);
  EXPECT_EQ(wavefrontsOf(strided(8), ~0u, 4, {64, 4}).taken, 1u);
}

TEST(BankModel, AbsentThreadsTakeNothing) {
  EXPECT_EQ(taken(strided(128), 4, 0x0000000Fu), 4u);
  EXPECT_EQ(wavefrontsOf(strided(16), 0x000000FFu, 16).ideal, 1u);
  EXPECT_EQ(taken(strided(128), 4, 0), 0u);
}

TEST(BankModel, AtomicsOnOneWordTakeTurns) {
  EXPECT_EQ(wavefrontsOf(strided(0), ~0u, 4, {}, true).taken, 32u);
  EXPECT_EQ(wavefrontsOf(strided(4), ~0u, 4, {}, true).taken, 1u);
}

} // namespace
} // namespace opsight::sight
