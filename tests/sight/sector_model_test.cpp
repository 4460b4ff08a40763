#include "sight/access.h"
#include "sight/sector_model.h"
#include <gtest/gtest.h>

namespace opsight::sight {
namespace {

void expectSectors(const Addresses &addresses, uint32_t bytes, uint32_t taken, uint32_t ideal, uint32_t mask = ~0u) {
  Sectors sectors = sectorsOf(addresses, mask, bytes);
  EXPECT_EQ(sectors.taken, taken);
  EXPECT_EQ(sectors.ideal, ideal);
}

TEST(SectorModel, NeighboursFillTheirSectors) {
  expectSectors(strided(4), 4, 4, 4);
  expectSectors(strided(8), 8, 8, 8);
  expectSectors(strided(16), 16, 16, 16);
  expectSectors(strided(2), 2, 2, 2);
}

TEST(SectorModel, AStartOffTheSectorTakesOneMore) {
  expectSectors(strided(4, 4), 4, 5, 4);
  expectSectors(strided(4, 32), 4, 4, 4);
}

TEST(SectorModel, AStrideLeavesSectorsPartlyUsed) {
  expectSectors(strided(8), 4, 8, 4);
  expectSectors(strided(32), 4, 32, 4);
  expectSectors(strided(4096), 4, 32, 4);
}

TEST(SectorModel, OneAddressIsOneSector) { expectSectors(strided(0), 4, 1, 1); }

TEST(SectorModel, ReversedAndShuffledNeighboursAreNeighbours) {
  expectSectors(addressesOf([](uint32_t i) { return 4 * (31 - i); }), 4, 4, 4);
  expectSectors(addressesOf([](uint32_t i) { return 4 * (i * 7 % 32); }), 4, 4, 4);
}

TEST(SectorModel, AbsentThreadsMoveNothing) {
  expectSectors(strided(4), 4, 1, 1, 0xFFu);
  expectSectors(strided(4), 4, 0, 0, 0);
}

TEST(SectorModel, AnAccessAcrossTwoSectorsTakesBoth) { expectSectors(strided(0, 30), 4, 2, 1); }

} // namespace
} // namespace opsight::sight
