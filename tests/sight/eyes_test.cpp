#include "sight/eyes.h"
#include "sight/launches.h"
#include <gmock/gmock.h>

namespace opsight::sight {
namespace {
using card::Launched;

const SourcePlace kernel{"folder/t.cu", 4, 1};

Finding ending(Launched::End end, const std::string &detail, bool outOfBounds = false) {
  Launched launched;
  launched.end = end, launched.detail = detail, launched.outOfBounds = outOfBounds;
  return endingOf(launched, kernel).value();
}

TEST(Endings, AGoodOneIsNoFinding) { EXPECT_FALSE(endingOf(Launched{}, kernel)); }

TEST(Endings, AreFaultsByTheirKind) {
  EXPECT_EQ(ending(Launched::End::Crash, "a signal").kind, "crash");
  EXPECT_EQ(ending(Launched::End::Crash, "4 bytes past x", true).kind, "out_of_bounds");
  EXPECT_EQ(ending(Launched::End::Hang, "").kind, "hang");
  EXPECT_EQ(ending(Launched::End::Assert, "x > 0").kind, "assert");
  EXPECT_TRUE(ending(Launched::End::Hang, "").isFault);
  EXPECT_FALSE(ending(Launched::End::Hang, "").what.empty());
}

TEST(Endings, ThePlaceThatADetailBeginsWithIsTheFindings) {
  Finding barrier = ending(Launched::End::Barrier, "t.cu:12: not all came (block 0,0,0)");
  EXPECT_EQ(barrier.where.file, "folder/t.cu");
  EXPECT_EQ(barrier.where.line, 12u);
  EXPECT_EQ(barrier.what, "not all came (block 0,0,0)");
  EXPECT_EQ(ending(Launched::End::Barrier, "other.cuh:7: so").where.file, "other.cuh");
  EXPECT_EQ(ending(Launched::End::Crash, "signal 11: at an address: 12").where.line, 4u);
  EXPECT_EQ(ending(Launched::End::Crash, "signal").where.line, 4u);
}

TEST(Eyes, SeeTheSameLaunchAndTellItOnce) {
  ByHand by;
  uint32_t load = by.site(card::Site::Kind::Load, card::Space::Shared, 5),
           odd = by.site(card::Site::Kind::Load, card::Space::Global, 6, 16);
  by.object("x", card::Space::Global, 0), by.watch.sites[odd].object = 0;
  by.object("s", card::Space::Shared, 1024), by.watch.sites[load].object = 1;
  const card::WatchedLaunch launch{by.watch, by.config, {{"x", 0, 4096, true}}};
  MemoryObserver memory;
  Eyes eyes(card::findProfile("a100").value(), memory);
  for (card::Observer *observer : eyes.all())
    observer->begins(launch);
  for (card::Observer *observer : eyes.all())
    observer->access(by.access(load, strided(8))), observer->access(by.access(odd, strided(16, 4)));
  Seen seen;
  seen.where = kernel;
  eyes.tell(seen, Launched{});
  ASSERT_EQ(seen.shared.size(), 1u);
  EXPECT_EQ(seen.shared[0].taken, 2u);
  ASSERT_EQ(seen.global.size(), 1u);
  EXPECT_EQ(seen.global[0].taken, 17u);
  std::vector<std::string> kinds;
  for (const Finding &fault : seen.faults)
    kinds.push_back(fault.kind);
  EXPECT_THAT(kinds, testing::UnorderedElementsAre("misaligned", "uninitialised"));
}

} // namespace
} // namespace opsight::sight
