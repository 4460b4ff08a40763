#include "sight/launches.h"
#include "sight/observers.h"
#include <gtest/gtest.h>

namespace opsight::sight {
namespace {
using card::Site;
using card::Space;

TEST(Banks, ATileReadByColumnIsCountedByLine) {
  ByHand by;
  int32_t tile = by.object("tile", Space::Shared, 4096);
  uint32_t store = by.site(Site::Kind::Store, Space::Shared, 9, 4, tile),
           load = by.site(Site::Kind::Load, Space::Shared, 12, 4, tile);
  uint32_t global = by.site(Site::Kind::Load, Space::Global, 9);
  Banks banks;
  banks.begins(by.launch());
  for (uint64_t i = 0; i < 32; ++i) {
    banks.access(by.access(global, strided(4)));
    banks.access(by.access(store, strided(4, 128 * i)));
    banks.access(by.access(load, strided(128, 4 * i)));
  }
  std::vector<LineAccesses> lines = banks.lines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].where.line, 9u);
  EXPECT_EQ(lines[0].wavefronts, 32u);
  EXPECT_EQ(lines[1].op, Site::Kind::Load);
  EXPECT_EQ(lines[1].requests, 32u);
  EXPECT_EQ(lines[1].threads, 1024u);
  EXPECT_EQ(lines[1].bytes, 4096u);
  EXPECT_EQ(lines[1].wavefronts, 1024u);
  EXPECT_EQ(lines[1].idealWavefronts, 32u);
  EXPECT_EQ(lines[1].variable, "tile");
}

TEST(Banks, TheCacheForgetsNoneOfWhatDistinguishesAPattern) {
  ByHand by;
  uint32_t load = by.site(Site::Kind::Load, Space::Shared, 1), wide = by.site(Site::Kind::Load, Space::Shared, 2, 8);
  uint32_t atomic = by.site(Site::Kind::Atomic, Space::Shared, 3);
  Banks banks;
  banks.begins(by.launch());
  for (int again = 0; again < 3; ++again) {
    banks.access(by.access(load, strided(8)));         // 2
    banks.access(by.access(load, strided(8), 0xFFFF)); // 1
    banks.access(by.access(load, strided(0, 2)));      // across a word: 2 words in 2 banks, 1
    banks.access(by.access(wide, strided(16)));        // 4
    banks.access(by.access(load, strided(0)));         // 1
    banks.access(by.access(atomic, strided(0)));       // 32
    banks.access(
        by.access(load, addressesOf([](uint32_t i) { return i * (1ull << 33); }))); // too far apart to keep: 32
  }
  std::vector<LineAccesses> lines = banks.lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].wavefronts, 3u * (2 + 1 + 1 + 1 + 32));
  EXPECT_EQ(lines[1].wavefronts, 3u * 4);
  EXPECT_EQ(lines[2].wavefronts, 3u * 32);
}

TEST(Coalescing, SectorsAreCountedAgainstTheirIdeal) {
  ByHand by;
  int32_t x = by.object("x", Space::Global, 0), y = by.object("y", Space::Global, 0);
  uint32_t good = by.site(Site::Kind::Load, Space::Global, 9, 4, x),
           bad = by.site(Site::Kind::Store, Space::Global, 9, 4, y);
  Coalescing coalescing;
  coalescing.begins(by.launch());
  for (uint64_t i = 0; i < 32; ++i) {
    coalescing.access(by.access(good, strided(4, 0x10000 + 128 * i)));
    coalescing.access(by.access(bad, strided(4096, 0x90000 + 4 * i)));
  }
  std::vector<LineAccesses> lines = coalescing.lines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].op, Site::Kind::Load);
  EXPECT_EQ(lines[0].sectors, 128u);
  EXPECT_EQ(lines[0].idealSectors, 128u);
  EXPECT_EQ(lines[1].variable, "y");
  EXPECT_EQ(lines[1].sectors, 1024u);
  EXPECT_EQ(lines[1].idealSectors, 128u);
  EXPECT_EQ(evenStride(coalescing.sites()[1].samples), 4096);
}

TEST(AccessTally, AnAddressOfSeveralVariablesHasNone) {
  ByHand by;
  int32_t x = by.object("x", Space::Shared, 128);
  uint32_t load = by.site(Site::Kind::Load, Space::Shared, 5);
  Banks banks;
  banks.begins(by.launch());
  card::Access access = by.access(load, strided(4));
  banks.access(access);
  EXPECT_EQ(banks.lines()[0].variable, "");
  access.object = x;
  banks.access(access);
  EXPECT_EQ(banks.sites()[0].object, -1);
}

TEST(AccessTally, PlacesThatTheCompilerMergedAreToldByVariable) {
  ByHand by;
  by.object("a", Space::Shared, 128), by.object("b", Space::Shared, 128);
  uint32_t sites[] = {
      by.site(Site::Kind::Load, Space::Shared, 0, 4, 0), by.site(Site::Kind::Load, Space::Shared, 0, 4, 1),
      by.site(Site::Kind::Load, Space::Shared, 3, 4, 0), by.site(Site::Kind::Load, Space::Shared, 3, 4, 1)};
  Banks banks;
  banks.begins(by.launch());
  for (uint32_t site : sites)
    banks.access(by.access(site, strided(4)));
  std::vector<LineAccesses> lines = banks.lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].variable, "a");
  EXPECT_EQ(lines[1].variable, "b");
  EXPECT_EQ(lines[2].variable, "");
}

TEST(AccessTally, SamplesAreFewHoweverLongTheLaunch) {
  ByHand by;
  uint32_t load = by.site(Site::Kind::Load, Space::Shared, 5);
  Banks banks;
  banks.begins(by.launch());
  for (uint64_t i = 0; i < 100'000; ++i)
    banks.access(by.access(load, strided(4, 4 * (i % 64))));
  EXPECT_GT(banks.sites()[0].samples.size(), 10u);
  EXPECT_LT(banks.sites()[0].samples.size(), 40u);
}

TEST(Steps, AreReadFromTheThreadsThatTakePart) {
  Sample halves{addressesOf([](uint32_t i) { return i % 16 * 260; }), ~0u};
  EXPECT_FALSE(evenStride(std::vector{halves}));
  EXPECT_EQ(usualStep(std::vector{halves}), 260u);
  EXPECT_EQ(evenStride(std::vector<Sample>{{strided(8), 0xFF}}), 8);
  EXPECT_FALSE(evenStride(std::vector<Sample>{{strided(8), 0x55}}));
  EXPECT_EQ(usualStep({}), 0u);
}

TEST(Counts, WorkIsWhatBlocksHoldTimesTheirVisits) {
  ByHand by;
  by.watch.blocks = {
      {{{"t.cu", 3, 5}, 10, 2, 1, 1, 0, 4, 0, 1}, {{"t.cu", 4, 1}, 5}}, {{{"t.cu", 3, 9}, 6, 0, 0, 0, 1}}, {}};
  Counts counts;
  counts.begins(by.launch());
  counts.ends(std::vector<card::BlockVisits>{{4, 128}, {4, 32}, {7, 7}});
  ASSERT_EQ(counts.work().size(), 2u);
  const LineWork &third = counts.work()[0];
  EXPECT_EQ(third.instructions, 10u * 4 + 6 * 4);
  EXPECT_EQ(third.flops, 2u * 128);
  EXPECT_EQ(third.atomics, 32u);
  EXPECT_EQ(third.where.column, 5u);
  EXPECT_DOUBLE_EQ(third.threads, (10.0 * 128 + 6 * 32) / (32 * 64));
  EXPECT_DOUBLE_EQ(counts.work()[1].threads, 1.0);
  EXPECT_DOUBLE_EQ(totalsOf({}, counts.work()).lanesActive, (10.0 * 128 + 6 * 32 + 5 * 128) / (32 * 84));
}

TEST(Counts, NothingThatRanIsNothing) {
  ByHand by;
  Counts counts;
  counts.begins(by.launch());
  counts.ends({});
  EXPECT_TRUE(counts.work().empty());
  EXPECT_EQ(totalsOf({}, {}).lanesActive, 1.0);
}

} // namespace
} // namespace opsight::sight
