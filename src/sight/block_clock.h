// What orders the accesses of threads: barriers of the block, __syncwarp, and, between blocks, a fence before an atomic
// operation on a word that the other block then operates on; and barriers of the whole grid, which order everything. The
// machine runs one block after another between those, so only the block at work has barriers to count.
#pragma once
#include "card/watch.h"
#include <unordered_map>

namespace opsight::sight {

/// A warp between two barriers of a block: the number of what lies between them, which no other block and no other time
/// of the launch has, and the warp. 0: nobody.
struct Stamp {
  static constexpr uint32_t warpBits = 6; // 32 warps at most, and `several`
  static constexpr uint32_t several = (1u << warpBits) - 1;
  uint32_t value = 0;

  static Stamp of(uint32_t phase, uint32_t warp) { return {phase << warpBits | warp}; }
  uint32_t phase() const { return value >> warpBits; }
  uint32_t warp() const { return value & several; }
  bool operator==(const Stamp &) const = default;
};

/// When a thread did something, as exactly as orders can be told.
struct Moment {
  Stamp stamp{};
  uint32_t time = 0; // of the launch: counts events
  uint16_t tick = 0; // times that threads of the warp had met since the block's last barrier
  uint8_t lane = 0;
};

class BlockClock {
public:
  void begins(const card::WatchedLaunch &launch);
  /// Now, for the warp of a passage.
  Moment now(const card::Passage &passage);
  void barrier(const card::Passage &passage);
  void gridBarrier(const card::Passage &passage);
  void warpSync(const card::Passage &passage, uint32_t members);
  void fence(const card::Passage &passage);
  /// An atomic operation or volatile access on the word at `address` of global memory.
  void meet(const card::Passage &passage, uint64_t address);

  /// Whether what a thread did at `before` comes before what one does at `after`, now; the two are different threads.
  bool ordered(const Moment &before, const Moment &after) const;
  /// The first phase of the block at work.
  uint32_t firstPhase() const { return first_; }
  uint64_t blockOf(Stamp stamp) const;

private:
  struct Meeting {
    uint32_t tick = 0, members = 0;
  };
  struct Warp {
    uint32_t phase = 0, tick = 0;
    std::vector<Meeting> meetings; // of the phase
  };
  struct Begin {
    uint32_t phase;
    uint64_t block;
  };
  using Known = std::unordered_map<uint64_t, uint32_t>; // block to the time up to which it is known
  void enter(uint64_t block);

  uint64_t warpsOfGrid_ = 0, met_ = 0; // met_: times that one of them has come to a barrier of the grid
  uint32_t metAt_ = 0;                 // when all of them last had: what is not later comes before what follows
  uint32_t time_ = 0, first_ = 1, next_ = 1; // next_: of the following block
  uint64_t block_ = ~0ull;
  std::vector<Warp> warps_;
  std::vector<Begin> blocks_;
  std::unordered_map<uint64_t, uint32_t> fenced_; // block to its last fence
  std::unordered_map<uint64_t, Known> known_;     // by block
  std::unordered_map<uint64_t, Known> left_;      // by address: what those who met there knew
};

} // namespace opsight::sight
