#include "sight/launches.h"
#include "sight/observers.h"
#include "sight/padding.h"
#include <gtest/gtest.h>

namespace opsight::sight {
namespace {
using card::Site;
using card::Space;

/// Accesses to one shared array, and what padding would do to them.
struct Tile {
  ByHand by;
  Banks banks;
  uint32_t store, load;
  explicit Tile(uint64_t bytes, uint32_t width = 4) {
    by.object("tile", Space::Shared, bytes);
    store = by.site(Site::Kind::Store, Space::Shared, 1, 4, 0),
    load = by.site(Site::Kind::Load, Space::Shared, 2, width, 0);
    banks.begins(by.launch());
  }
  void write(const Addresses &at) { banks.access(by.access(store, at)); }
  void read(const Addresses &at) { banks.access(by.access(load, at)); }
  std::optional<Padding> best(uint64_t rowBytes = 0) {
    return bestPadding(banks.sites(), 0, by.watch.objects[0], rowBytes);
  }
};

TEST(Padding, ASquareTileReadByColumnWantsOneMore) {
  Tile tile(4096);
  for (uint64_t i = 0; i < 32; ++i)
    tile.write(strided(4, 128 * i)), tile.read(strided(128, 4 * i));
  for (uint64_t row : {0, 128}) {
    Padding padding = tile.best(row).value();
    EXPECT_EQ(padding.elements, 1u);
    EXPECT_EQ(padding.rowElements, 32u);
    EXPECT_EQ(padding.before, 1056);
    EXPECT_EQ(padding.after, 64);
    EXPECT_EQ(padding.moreBytes, 128u);
  }
}

TEST(Padding, TwoRowsOfABlockOfSixteenBySixteen) {
  Tile tile(16384);
  for (uint64_t d = 0; d < 64; ++d)
    tile.read(addressesOf([&](uint32_t i) { return (i % 16 * 64 + d) * 4; }));
  Padding padding = tile.best().value();
  EXPECT_EQ(padding.elements, 1u);
  EXPECT_EQ(padding.rowElements, 64u);
  EXPECT_EQ(padding.after, 64);
}

TEST(Padding, WhatDoesNotConflictIsLeftAlone) {
  Tile tile(4096);
  for (uint64_t i = 0; i < 32; ++i)
    tile.read(strided(4, 128 * i));
  EXPECT_FALSE(tile.best());
  EXPECT_FALSE(tile.best(128));
}

TEST(Padding, VectorsStayAligned) {
  Tile tile(8192, 16);
  for (uint64_t i = 0; i < 4; ++i)
    tile.read(strided(256, 16 * i));
  EXPECT_EQ(tile.best(256)->elements, 4u);
}

TEST(Padding, ADistanceThatIsNoRowIsNotPadded) {
  Tile odd(4092);
  odd.read(strided(128));
  EXPECT_FALSE(odd.best());
}

TEST(Padding, ScatteredAtomicsAreNotHelpedByIt) {
  Tile bins(1024);
  bins.read(addressesOf([](uint32_t i) { return i % 2 ? 0 : 4; }));
  EXPECT_FALSE(bins.best());
}

} // namespace
} // namespace opsight::sight
