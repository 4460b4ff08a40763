// The checks that a kernel makes of itself, held against the observers on random accesses: whatever observers find, the
// checks suspect; and they suspect little else.
#include "card/shadow_plan.h"
#include "lower/watch/check/check.cpp" // the functions themselves, as they are linked into kernels
#include "sight/launches.h"
#include "sight/memory_observer.h"
#include "sight/race_observer.h"
#include <gtest/gtest.h>
#include <random>

namespace opsight::sight {
namespace {

using card::Site, card::Space;
namespace how = card::how;
namespace stamp = card::stamp;

/// One launch of two warps a block, told to the checks and to the observers alike.
class Both {
public:
  explicit Both(ByHand &made, std::vector<card::Region> regions)
      : made_(made), launch_{made.watch, made.config, std::move(regions)}, uses_(card::shadowUses(made.watch)) {
    auto planned = card::LaunchShadow::plan(launch_, 1 << 24);
    if (auto *why = std::get_if<std::string>(&planned)) {
      ADD_FAILURE() << *why;
      return;
    }
    shadow_ = std::get<card::LaunchShadow>(planned);
    words_.resize(shadow_->bytes() / 8 + 64);
    shadow_->fill(memory());
    memory_.begins(launch_);
    race_.begins(launch_);
  }

  void block(uint64_t number) {
    block_ = number;
    for (uint32_t warp = 0; warp < launch_.warps(); ++warp)
      opsight_check_enter(header(), warp, number);
  }

  /// `first` and each lane's distance to the one before; 0: one place for all.
  void straight(uint32_t site, uint32_t warp, uint64_t first, uint64_t step, uint32_t mask) {
    Addresses offsets{};
    for (uint32_t lane = 0; lane < 32; ++lane)
      offsets[lane] = first + lane * step;
    uint32_t bytes = made_.watch.sites[site].bytes, units = bytes >> uses_[object(site)].shift;
    uint32_t whole = mask == ~0u ? how::whole : 0;
    if (units > 16)
      lanes(site, warp, offsets, mask);
    else if (step == 0)
      place(site, warp, first, mask, units);
    else if (step == bytes)
      opsight_check_row32(header(), object(site), 0, first, mask, site, warp,
                          howOf(site) | whole | uint32_t(std::countr_zero(units)) << how::unitsAt, bytes, bytes);
    else
      lanes(site, warp, offsets, mask);
    observe(site, warp, offsets, mask);
  }

  void scattered(uint32_t site, uint32_t warp, const Addresses &offsets, uint32_t mask) {
    lanes(site, warp, offsets, mask);
    observe(site, warp, offsets, mask);
  }

  /// By address alone; of global memory.
  void unknown(uint32_t site, uint32_t warp, const Addresses &addresses, uint32_t mask) {
    const Site &at = made_.watch.sites[site];
    opsight_look_anywhere(header(), addresses.data(), mask, site, warp, kindOf(at), at.bytes, at.bytes);
    tell(site, warp, addresses, mask, Space::Global);
  }

  void barrier(uint32_t site, uint32_t warp) {
    opsight_check_barrier(header(), warp, ~0u);
    race_.barrier({made_.watch.sites[site], site, block_, warp, ~0u});
  }
  void sync(uint32_t site, uint32_t warp, uint32_t members, uint32_t mask) {
    opsight_check_sync(header(), warp, members & mask, ~0u);
    race_.warpSync({made_.watch.sites[site], site, block_, warp, mask}, members);
  }

  bool isSuspect() { return card::LaunchShadow::suspectSite(memory()).has_value(); }
  bool isUndecided() { return card::LaunchShadow::isUndecided(memory()); }
  bool isFound() const { return !memory_.findings().empty() || !race_.findings().empty(); }
  std::string firstFinding() const {
    auto all = memory_.findings();
    for (Finding &finding : race_.findings())
      all.push_back(std::move(finding));
    return all.empty() ? "" : all[0].kind + ": " + all[0].what;
  }
  card::ShadowHeader *header() { return reinterpret_cast<card::ShadowHeader *>(words_.data()); }
  bool isWritten(size_t number) { return shadow_->isWritten(memory(), number); }

private:
  std::span<std::byte> memory() { return std::as_writable_bytes(std::span(words_)); }
  uint32_t object(uint32_t site) const { return uint32_t(made_.watch.sites[site].object); }
  static uint32_t kindOf(const Site &at) {
    return at.kind == Site::Kind::Load ? how::Load : at.kind == Site::Kind::Store ? how::Store : how::Atomic;
  }
  uint32_t howOf(uint32_t site) const {
    const Site &at = made_.watch.sites[site];
    return kindOf(at) | card::howOf(uses_[object(site)], at.space) | how::phases | how::epochs;
  }
  void place(uint32_t site, uint32_t warp, uint64_t offset, uint32_t mask, uint32_t units) {
    auto call = units == 1   ? opsight_check_place1
                : units == 2 ? opsight_check_place2
                : units == 4 ? opsight_check_place4
                : units == 8 ? opsight_check_place8
                             : opsight_check_place16;
    uint32_t bytes = made_.watch.sites[site].bytes;
    call(header(), object(site), 0, offset, mask, site, warp, howOf(site), bytes, bytes);
  }
  void lanes(uint32_t site, uint32_t warp, const Addresses &offsets, uint32_t mask) {
    const Site &at = made_.watch.sites[site];
    auto call = howOf(site) & how::cells ? opsight_look_lanes : opsight_check_bounds;
    call(header(), object(site), 0, offsets.data(), mask, site, warp, howOf(site), at.bytes, at.bytes);
  }
  /// Of offsets in the site's object.
  void observe(uint32_t site, uint32_t warp, Addresses offsets, uint32_t mask) {
    const card::WatchedObject &at = made_.watch.objects[object(site)];
    int32_t region = launch_.regionOf(at);
    for (uint64_t &offset : offsets)
      offset += region < 0 ? at.offset : launch_.regions[size_t(region)].address;
    tell(site, warp, offsets, mask, at.space);
  }
  void tell(uint32_t site, uint32_t warp, const Addresses &addresses, uint32_t mask, Space space) {
    if (mask == 0)
      return;
    card::Access access = made_.access(site, addresses, mask);
    access.block = block_, access.warp = warp, access.space = space;
    memory_.access(access);
    race_.access(access);
  }

  ByHand &made_;
  card::WatchedLaunch launch_;
  std::vector<card::ShadowUse> uses_;
  std::optional<card::LaunchShadow> shadow_;
  std::vector<uint64_t> words_;
  uint64_t block_ = 0;
  MemoryObserver memory_;
  RaceObserver race_;
};

constexpr uint64_t bufferAddress = 1 << 20, bufferBytes = 4096, sharedBytes = 2048;

/// A launch of random accesses, mostly of a thread's own places.
class Random {
public:
  Random(uint64_t seed, bool isExact) : random_(seed), isExact_(isExact) {
    made_.config = {{1 + pick(3), 1, 1}, {64, 1, 1}};
    int32_t array = made_.object("array", Space::Shared, sharedBytes, pick(2) * 48),
            buffer = made_.object("buffer", Space::Global, 0);
    using Kind = Site::Kind;
    for (uint32_t n = 2 + pick(5); n > 0; --n) {
      Kind kind = isExact ? (pick(2) ? Kind::Load : Kind::Store) : Kind(pick(3));
      bool isShared = pick(2);
      uint32_t bytes = 1u << (pick(4) ? 2 : pick(5));
      sites_.push_back(made_.site(kind, isShared ? Space::Shared : Space::Global, n, bytes, isShared ? array : buffer));
    }
    if (!isExact && pick(4) == 0)
      unknown_ = made_.site(Kind(pick(3)), Space::Global, 90, 4);
    clear_ = made_.site(Kind::Store, Space::Shared, 99, 4, array);
    barrier_ = made_.site(Kind::Barrier, Space::Global, 100, 0),
    sync_ = made_.site(Kind::WarpSync, Space::Global, 101, 0);
    isInitialised_ = pick(8) != 0;
  }

  void run() {
    both_.emplace(made_, std::vector{card::Region{"buffer", bufferAddress, bufferBytes, isInitialised_}});
    for (uint64_t block = 0; block < made_.config.grid.count(); ++block) {
      both_->block(block);
      if (pick(8))
        clear();
      for (uint32_t round = 1 + pick(3); round > 0; --round) {
        for (uint32_t warp : {0u, 1u})
          for (uint32_t n = pick(5); n > 0; --n)
            act(block, warp);
        for (uint32_t warp : {0u, 1u})
          both_->barrier(barrier_, warp);
      }
    }
  }
  Both &both() { return *both_; }

private:
  uint32_t pick(uint32_t below) { return uint32_t(random_() % below); }
  void clear() {
    for (uint64_t at = 0; at < sharedBytes; at += 128)
      both_->straight(clear_, 0, at, 4, ~0u);
    for (uint32_t warp : {0u, 1u})
      both_->barrier(barrier_, warp);
  }
  void act(uint64_t block, uint32_t warp) {
    if (pick(5) == 0) {
      bool isWhole = isExact_ || pick(3);
      both_->sync(sync_, warp, isWhole ? ~0u : 0xFFFF, ~0u);
      return;
    }
    uint32_t site = sites_[pick(uint32_t(sites_.size()))];
    const Site &at = made_.watch.sites[site];
    uint64_t size = at.space == Space::Shared ? sharedBytes : bufferBytes, own = 32 * at.bytes;
    uint32_t mask = pick(3) ? ~0u : uint32_t(random_()) & (pick(2) ? 0xFFFF : ~0u);
    uint64_t part = at.space == Space::Shared ? warp : block * 2 + warp; // where nobody else comes by
    uint64_t first = part * own;
    if (pick(40) == 0)
      first = pick(uint32_t(size / at.bytes)) * uint64_t(at.bytes); // or anywhere
    if (pick(200) == 0)
      first += pick(2) ? size : pick(at.bytes);
    switch (pick(4)) {
    case 0:
      if (unknown_ && pick(2)) {
        Addresses all{};
        for (uint64_t &address : all)
          address = bufferAddress + first / 4 * 4;
        both_->unknown(*unknown_, warp, all, mask);
      } else {
        both_->straight(site, warp, first, 0, at.kind == Site::Kind::Store && pick(20) ? mask & -mask : mask);
      }
      break;
    case 1: {
      Addresses offsets{};
      bool isTangled = at.kind != Site::Kind::Store || pick(20) == 0;
      for (uint32_t lane = 0; lane < 32; ++lane)
        offsets[lane] = first + (isTangled ? pick(32) : lane) * uint64_t(at.bytes);
      both_->scattered(site, warp, offsets, mask);
      break;
    }
    default:
      both_->straight(site, warp, first, at.bytes, mask);
    }
  }

  std::mt19937_64 random_;
  bool isExact_, isInitialised_ = true;
  ByHand made_;
  std::vector<uint32_t> sites_;
  std::optional<uint32_t> unknown_;
  uint32_t clear_ = 0, barrier_ = 0, sync_ = 0;
  std::optional<Both> both_;
};

TEST(Checks, SuspectWhateverObserversFind) {
  int found = 0, spared = 0, launches = 30'000;
  for (int seed = 0; seed < launches; ++seed) {
    Random random(uint64_t(seed), false);
    random.run();
    Both &both = random.both();
    found += both.isFound();
    spared += !both.isSuspect();
    ASSERT_TRUE(both.isSuspect() || !both.isFound()) << "seed " << seed << ": " << both.firstFinding();
  }
  EXPECT_GT(found, launches / 10);
  EXPECT_GT(spared, launches / 10);
}

// The observers take a warp that reads again what it has read for settled, whichever lanes they are, and so miss the
// odd race that the checks see.
TEST(Checks, SuspectHardlyAnythingElseOfLoadsAndStoresWhereWholeWarpsMeet) {
  int clean = 0, wrongly = 0, launches = 30'000;
  for (int seed = 0; seed < launches; ++seed) {
    Random random(uint64_t(seed), true);
    random.run();
    Both &both = random.both();
    clean += !both.isFound();
    wrongly += !both.isFound() && both.isSuspect();
    ASSERT_TRUE(both.isSuspect() || !both.isFound()) << "seed " << seed << ": " << both.firstFinding();
  }
  EXPECT_GT(clean, launches / 10);
  EXPECT_LT(wrongly, clean / 50);
}

/// One warp's sites on one array and one buffer of ints.
struct Small : ByHand {
  int32_t array = object("array", Space::Shared, 256), buffer = object("buffer", Space::Global, 0);
  uint32_t load = site(Site::Kind::Load, Space::Shared, 1, 4, array),
           store = site(Site::Kind::Store, Space::Shared, 2, 4, array);
  uint32_t read = site(Site::Kind::Load, Space::Global, 3, 4, buffer),
           write = site(Site::Kind::Store, Space::Global, 4, 4, buffer);
  uint32_t add = site(Site::Kind::Atomic, Space::Global, 5, 4, buffer);
  uint32_t wait = site(Site::Kind::Barrier, Space::Global, 6, 0),
           meet = site(Site::Kind::WarpSync, Space::Global, 7, 0);
  std::vector<card::Region> regions(bool isInitialised = true) const {
    return {{"buffer", bufferAddress, 256, isInitialised}};
  }
};

TEST(Checks, EpochsWrapToFalseAlarmsNeverToMisses) {
  for (int syncs = 0; syncs < 20; ++syncs) {
    Small made;
    Both both(made, made.regions());
    both.block(0);
    both.straight(made.store, 0, 0, 4, ~0u);
    for (int i = 0; i < syncs; ++i)
      both.sync(made.meet, 0, ~0u, ~0u);
    both.straight(made.load, 0, 0, 0, ~0u);
    EXPECT_EQ(both.isSuspect(), syncs % 8 == 0) << syncs;
  }
}

TEST(Checks, PartOfAWarpThatMeetsOrdersNothing) {
  Small made;
  Both both(made, made.regions());
  both.block(0);
  both.straight(made.store, 0, 0, 4, ~0u);
  both.sync(made.meet, 0, 0x7FFFFFFF, ~0u);
  both.sync(made.meet, 0, ~0u, 0x7FFFFFFF);
  both.straight(made.load, 0, 0, 0, ~0u);
  EXPECT_TRUE(both.isSuspect());
}

TEST(Checks, ManyBlocksAreCountedAnewAndStillToldApart) {
  Small made;
  made.config.grid.x = 1 << 18;
  Both both(made, made.regions());
  for (uint64_t block = 0; block < 200'000; ++block) {
    both.block(block);
    both.straight(made.store, 0, 0, 4, ~0u);
    both.straight(made.load, 0, 0, 4, ~0u);
    if (block == 0)
      both.straight(made.write, 0, 0, 4, ~0u);
  }
  EXPECT_FALSE(both.isSuspect());
  EXPECT_FALSE(both.isUndecided());
  both.straight(made.read, 0, 0, 4, ~0u); // of the first block, which is long ago
  EXPECT_TRUE(both.isSuspect());
}

TEST(Checks, MoreBarriersThanCountIsUndecided) {
  Small made;
  Both both(made, made.regions());
  both.block(0);
  for (int i = 0; i < (1 << 17); ++i)
    opsight_check_barrier(both.header(), 0, ~0u);
  EXPECT_FALSE(both.isSuspect());
  EXPECT_TRUE(both.isUndecided());
}

TEST(Checks, AtomicsOfSeveralBlocksAreNoRaceAndAPlainReadBetweenThemIs) {
  Small made;
  made.config.grid.x = 3;
  Both both(made, made.regions());
  for (uint64_t block : {0, 1}) {
    both.block(block);
    both.straight(made.add, 0, 0, 0, ~0u);
  }
  EXPECT_FALSE(both.isSuspect());
  both.block(2);
  both.straight(made.read, 0, 0, 0, 1);
  EXPECT_TRUE(both.isSuspect());
}

TEST(Checks, AllWhoReadAPlaceAndThenUpdateItAtomicallyRace) {
  Small made;
  Both both(made, made.regions());
  both.block(0);
  both.straight(made.read, 0, 0, 0, ~0u);
  both.straight(made.add, 0, 0, 0, ~0u);
  EXPECT_TRUE(both.isFound());
  EXPECT_TRUE(both.isSuspect());
}

TEST(Checks, KnowWhetherABufferIsWrittenFromEndToEnd) {
  Small made;
  Both both(made, made.regions(false));
  both.block(0);
  both.straight(made.write, 0, 0, 4, ~0u);
  EXPECT_FALSE(both.isWritten(size_t(made.buffer)));
  both.straight(made.write, 0, 128, 4, ~0u);
  EXPECT_TRUE(both.isWritten(size_t(made.buffer)));
  EXPECT_FALSE(both.isSuspect());
}

TEST(Checks, AreNotMadeWhereAWrittenBufferIsAnotherOnesMemoryOrTooLarge) {
  Small made;
  made.object("other", Space::Global, 0);
  std::vector<card::Region> regions = made.regions();
  regions.push_back({"other", bufferAddress + 128, 256, true});
  card::WatchedLaunch launch{made.watch, made.config, regions};
  auto planned = card::LaunchShadow::plan(launch, 1 << 24);
  ASSERT_TRUE(std::holds_alternative<std::string>(planned));
  EXPECT_EQ(std::get<std::string>(planned), "buffer and other are the same memory");
  launch.regions = made.regions();
  EXPECT_TRUE(std::holds_alternative<card::LaunchShadow>(card::LaunchShadow::plan(launch, 1 << 24)));
  EXPECT_TRUE(std::holds_alternative<std::string>(card::LaunchShadow::plan(launch, 4096)));
}

} // namespace
} // namespace opsight::sight
