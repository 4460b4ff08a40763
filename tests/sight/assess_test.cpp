// From counts to findings, on launches made by hand and the shipped profiles.
#include "sight/assessment.h"
#include "sight/launches.h"
#include "sight/observers.h"
#include <gmock/gmock.h>

namespace opsight::sight {
namespace {
using card::Site;
using card::Space;
using testing::HasSubstr;

/// A kernel that turns a 32x32 tile in shared memory, many times over.
class Turned : public testing::Test {
protected:
  ByHand by;
  Banks banks;
  Coalescing coalescing;
  uint32_t load = 0, store = 0, column = 0, out = 0;
  Seen seen;

  void SetUp() override {
    by.object("tile", Space::Shared, 4096);
    by.object("in", Space::Global, 0);
    by.object("out", Space::Global, 0);
    load = by.site(Site::Kind::Load, Space::Global, 9, 4, 1),
    store = by.site(Site::Kind::Store, Space::Shared, 9, 4, 0);
    column = by.site(Site::Kind::Load, Space::Shared, 12, 4, 0),
    out = by.site(Site::Kind::Store, Space::Global, 12, 4, 2);
    banks.begins(by.launch()), coalescing.begins(by.launch());
    seen.kernel = "turn", seen.caseName = "n=32", seen.where = {"t.cu", 4, 1};
    seen.launch = {{64, 1, 1}, {32, 32, 1}}, seen.staticSharedBytes = 4096;
    seen.arrays = {DeclaredArray::parse("float tile[32][32]", 4096).value()};
    seen.registers = Registers{16, 0, 0, 0};
    seen.work = {{{"t.cu", 9, 1}, 320, 1.0}, {{"t.cu", 12, 1}, 320, 1.0}};
  }
  void pass(uint32_t site, const Addresses &addresses) {
    banks.access(by.access(site, addresses));
    coalescing.access(by.access(site, addresses));
  }
  void turn(uint64_t rowBytes = 128) {
    for (uint64_t i = 0; i < 32; ++i) {
      pass(load, strided(4, 0x10000 + 128 * i));
      pass(store, strided(4, rowBytes * i));
      pass(column, strided(rowBytes, 4 * i));
      pass(out, strided(4, 0x90000 + 128 * i));
    }
  }
  Findings found(const char *card = "a100") {
    seen.objects = by.watch.objects, seen.shared = banks.sites(), seen.global = coalescing.sites();
    return assess(seen, card::findProfile(card).value());
  }
  static const Finding *of(const Findings &findings, const std::string &kind) {
    auto at = std::ranges::find(findings.findings, kind, &Finding::kind);
    return at == findings.findings.end() ? nullptr : &*at;
  }
};

TEST_F(Turned, ATileReadByColumnIsAConflictWithItsPadding) {
  turn();
  Findings findings = found();
  ASSERT_EQ(findings.findings.size(), 1u);
  const Finding &conflict = findings.findings[0];
  EXPECT_EQ(conflict.kind, "bank_conflict");
  EXPECT_EQ(conflict.where.line, 12u);
  EXPECT_EQ(conflict.evidence.at("wavefronts"), 1024);
  EXPECT_EQ(conflict.evidence.at("ideal"), 32);
  EXPECT_EQ(conflict.evidence.at("padded_wavefronts"), 64);
  EXPECT_EQ(conflict.hint, "pad=1");
  EXPECT_THAT(conflict.change, HasSubstr("pad the row of 'tile' from 32 to 33 floats"));
  EXPECT_THAT(conflict.why, HasSubstr("128 bytes apart"));
  EXPECT_THAT(conflict.why, HasSubstr("1 of the 32 banks"));
  // 1056 wavefronts at 108 SMs x 1.41 GHz against 8192 bytes at 1555 GB/s and 64 wavefronts
  const double shared = 1056 / (108 * 1.41e9), memory = 8192 / 1555e9;
  EXPECT_EQ(findings.model.boundBy, "shared memory");
  EXPECT_NEAR(conflict.cost, 1 - memory / shared, 1e-9);
}

TEST_F(Turned, APaddedTileHasNothingToFind) {
  turn(132);
  Findings findings = found();
  EXPECT_TRUE(findings.findings.empty());
  EXPECT_EQ(findings.model.boundBy, "memory");
  ASSERT_EQ(findings.accesses.size(), 4u); // the lines are told all the same
  EXPECT_EQ(findings.accesses[0].where.line, 9u);
  EXPECT_EQ(findings.totals.globalBytes, 8192u);
  EXPECT_EQ(findings.totals.sharedBytes, 8192u);
}

TEST_F(Turned, AStoreByColumnIsUncoalesced) {
  for (uint64_t i = 0; i < 32; ++i) {
    pass(load, strided(4, 0x10000 + 128 * i));
    pass(out, strided(4096, 0x90000 + 4 * i));
  }
  Findings findings = found();
  const Finding *wide = of(findings, "uncoalesced");
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->evidence.at("sectors"), 1024);
  EXPECT_EQ(wide->evidence.at("ideal"), 128);
  EXPECT_EQ(wide->evidence.at("stride"), 4096);
  EXPECT_NEAR(wide->cost, 1 - 256.0 / 1152.0, 1e-9);
  EXPECT_THAT(wide->what, HasSubstr("stores of 'out'"));
  EXPECT_THAT(wide->why, HasSubstr("4.0 are used"));
}

TEST_F(Turned, ARunThatBeginsOffASectorIsToldAsThat) {
  for (uint64_t i = 0; i < 32; ++i)
    pass(load, strided(4, 0x10000 + 132 * i));
  const Findings findings = found();
  const Finding *off = of(findings, "uncoalesced");
  ASSERT_TRUE(off);
  EXPECT_THAT(off->why, HasSubstr("no multiple of 32 bytes"));
}

TEST_F(Turned, WhatTheProfileLacksIsSaidAndNotGuessed) {
  turn();
  Findings findings = found("generic");
  EXPECT_FALSE(findings.occupancy);
  ASSERT_EQ(findings.findings.size(), 1u);
  EXPECT_FALSE(findings.findings[0].isCostKnown);
  EXPECT_EQ(findings.model.boundBy, "");
  EXPECT_FALSE(findings.model.ridge);
  EXPECT_EQ(findings.model.unknown.size(), 4u);
  EXPECT_THAT(findings.notes, testing::Contains(HasSubstr("occupancy is unknown")));
}

TEST_F(Turned, UnknownRegistersAreSaidWithTheReason) {
  seen.registers.reset(), seen.registersWhy = "no CUDA toolkit here";
  turn(132);
  Findings findings = found();
  EXPECT_FALSE(findings.occupancy->registers);
  EXPECT_EQ(findings.occupancy->registersSource, "no CUDA toolkit here");
  EXPECT_THAT(findings.notes, testing::Contains(HasSubstr("no CUDA toolkit here")));
}

TEST_F(Turned, IdleThreadsAreToldByRegion) {
  seen.work = {
      {{"t.cu", 9, 1}, 1000, 1.0, 64000}, {{"t.cu", 10, 1}, 1000, 0.25, 16000}, {{"t.cu", 11, 1}, 1000, 0.255, 16000}};
  Findings findings = found();
  const Finding *idle = of(findings, "divergence");
  ASSERT_TRUE(idle);
  EXPECT_EQ(idle->where.line, 10u);
  EXPECT_EQ(idle->evidence.at("last_line"), 11);
  EXPECT_NEAR(idle->evidence.at("threads"), 8.08, 0.01);
  EXPECT_THAT(idle->what, HasSubstr("lines 10 to 11"));
  EXPECT_GT(idle->cost, 0.3);
}

TEST_F(Turned, FewWarpsAreAFindingWhereTheyCannotHideArithmetic) {
  seen.launch = {{64, 1, 1}, {128, 1, 1}, 100 << 10};
  seen.work = {{{"t.cu", 9, 1}, 100000, 1.0, 100}};
  Findings findings = found();
  const Finding *few = of(findings, "low_occupancy");
  ASSERT_TRUE(few);
  EXPECT_EQ(few->evidence.at("warps"), 4);
  EXPECT_DOUBLE_EQ(few->cost, 0.75);
  EXPECT_THAT(few->change, HasSubstr("shared memory a block"));
  EXPECT_EQ(findings.occupancy->limitedBy, "shared memory");
  seen.launch.dynamicSharedBytes = 0;
  EXPECT_FALSE(of(found(), "low_occupancy"));
}

TEST_F(Turned, RegistersThatWouldLetABlockMoreInAreNamed) {
  seen.launch = {{64, 1, 1}, {128, 1, 1}}, seen.staticSharedBytes = 0;
  seen.registers = Registers{255, 0, 0, 0};
  seen.work = {{{"t.cu", 9, 1}, 100000, 1.0, 100}};
  const Findings findings = found();
  const Finding *few = of(findings, "low_occupancy");
  ASSERT_TRUE(few);
  EXPECT_THAT(few->change, HasSubstr("at 168 registers a thread instead of 255"));
  EXPECT_THAT(few->change, HasSubstr("__launch_bounds__(128, 3)"));
}

TEST_F(Turned, LimitsOfTheLaunchAreFaultsAndComeFirst) {
  turn();
  seen.launch = {{64, 1, 1}, {1024, 1, 1}};
  seen.registers = Registers{65, 0, 0, 0};
  Findings findings = found("h100");
  ASSERT_GE(findings.findings.size(), 2u);
  EXPECT_EQ(findings.findings[0].kind, "launch_limit");
  EXPECT_TRUE(findings.findings[0].isFault);
  EXPECT_THAT(findings.findings[0].change, HasSubstr("__launch_bounds__(1024)"));
  EXPECT_THAT(findings.findings[0].change, HasSubstr("64 registers"));
  seen.registers = Registers{64, 0, 0, 0};
  EXPECT_FALSE(of(found("h100"), "launch_limit"));
}

TEST_F(Turned, SharedMemoryHasThreeLimits) {
  auto limit = [&](uint64_t fixed, uint64_t dynamic, const char *card) {
    seen.staticSharedBytes = fixed, seen.launch.dynamicSharedBytes = dynamic;
    Findings findings = found(card);
    const Finding *finding = of(findings, "launch_limit");
    return finding ? (finding->isFault ? "fault" : "opt in") : "";
  };
  EXPECT_STREQ(limit(48 << 10, 0, "a100"), "");
  EXPECT_STREQ(limit((48 << 10) + 4, 0, "a100"), "fault");
  EXPECT_STREQ(limit(0, 100 << 10, "a100"), "opt in");
  EXPECT_STREQ(limit(0, 164 << 10, "a100"), "fault");
  EXPECT_STREQ(limit(0, 100 << 10, "rtx4090"), "fault");
  EXPECT_STREQ(limit(0, 64 << 10, "mi300x"), "");
}

TEST_F(Turned, ThreadsAndGridHaveLimits) {
  seen.launch = {{1, 1, 65536}, {1025, 1, 1}};
  Findings findings = found("generic");
  EXPECT_EQ(std::ranges::count(findings.findings, "launch_limit", &Finding::kind), 2);
}

TEST_F(Turned, SpillsAreToldWhateverTheyCost) {
  seen.registers = Registers{255, 104, 96, 88};
  Findings findings = found();
  const Finding *spill = of(findings, "spill");
  ASSERT_TRUE(spill);
  EXPECT_THAT(spill->what, HasSubstr("96 bytes of stores and 88 of loads"));
  EXPECT_EQ(findings.occupancy->spillBytes, 184u);
}

TEST_F(Turned, ArraysInLocalMemoryAreToldByLineUnlessRegistersHoldThem) {
  LineAccesses tap{{"t.cu", 7, 3}, Space::Local, Site::Kind::Load, "tap", 1000, 32000, 128000};
  seen.local = {tap};
  seen.registers = Registers{30, 32, 0, 0};
  Findings findings = found();
  const Finding *spill = of(findings, "spill");
  ASSERT_TRUE(spill);
  EXPECT_EQ(spill->where.line, 7u);
  EXPECT_EQ(spill->evidence.at("local_bytes"), 32);
  seen.registers = Registers{30, 0, 0, 0};
  EXPECT_FALSE(of(found(), "spill"));
}

TEST_F(Turned, FaultsOfOthersStandFirstAndBenignOnesBehind) {
  turn();
  Finding race{.kind = "race", .where = {"t.cu", 30}, .what = "", .cost = 1, .why = "", .change = "", .isFault = true};
  Finding benign = race;
  benign.isBenign = true, benign.isFault = false, benign.cost = 0;
  seen.faults = {benign, race};
  Findings findings = found();
  ASSERT_EQ(findings.findings.size(), 3u);
  EXPECT_EQ(findings.findings[0].kind, "race");
  EXPECT_EQ(findings.findings[1].kind, "bank_conflict");
  EXPECT_TRUE(findings.findings[2].isBenign);
}

TEST(DeclaredArrays, AreReadAsTheSourceWritesThem) {
  DeclaredArray tile = DeclaredArray::parse("float tile[64][65]", 16640).value();
  EXPECT_EQ(tile.name, "tile");
  EXPECT_EQ(tile.element, "float");
  EXPECT_EQ(tile.extents, (std::vector<uint64_t>{64, 65}));
  EXPECT_EQ(DeclaredArray::parse("unsigned int bins[256]", 1024)->element, "unsigned int");
  EXPECT_FALSE(DeclaredArray::parse("float sum", 4));
  EXPECT_FALSE(DeclaredArray::parse("float x[N]", 4));
}

TEST(Figures, AreGroupedByThousands) {
  EXPECT_EQ(count(32), "32");
  EXPECT_EQ(count(1024), "1,024");
  EXPECT_EQ(count(1234567), "1,234,567");
  EXPECT_EQ(count(12.5), "12.5");
  EXPECT_EQ(share(0.034), "3.4 %");
  EXPECT_EQ(share(0.39), "39 %");
}

} // namespace
} // namespace opsight::sight
