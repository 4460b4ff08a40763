// What orders the accesses of threads: barriers of the block, __syncwarp, and, between blocks, a fence before an atomic
// operation on a word that the other block then operates on. The machine runs one block after another, so only the
// block at work has barriers to count.
#pragma once
#include "card/watch.h"
#include <unordered_map>

namespace opsight::sight {

/// When and by whom: enough to say whether something later was ordered behind it.
struct Moment {
  uint64_t time = 0; // of the launch: counts events
  uint64_t block = 0;
  uint32_t warp = 0;
  uint32_t phase = 0; // barriers of the block that the warp had passed
  uint32_t tick = 0;  // times that threads of the warp had met
};

class BlockClock {
public:
  void begins(const card::WatchedLaunch &launch);
  /// Now, for the warp of a passage.
  Moment now(const card::Passage &passage);
  void barrier(const card::Passage &passage);
  void warpSync(const card::Passage &passage, uint32_t members);
  void fence(const card::Passage &passage);
  /// An atomic operation or volatile access on the word at `address` of global memory.
  void meet(const card::Passage &passage, uint64_t address);

  /// Whether what lane `earlier` did at `before` is ordered before what lane `later` of the warp of `after` does then.
  bool ordered(const Moment &before, uint32_t earlier, const Moment &after, uint32_t later) const;

private:
  struct Meeting {
    uint32_t tick = 0, members = 0;
  };
  struct Warp {
    uint32_t phase = 0, tick = 0;
    std::vector<Meeting> meetings; // of the phase
  };
  using Known = std::unordered_map<uint64_t, uint64_t>; // block to the time up to which it is known
  void enter(uint64_t block);

  uint64_t time_ = 0, block_ = ~0ull;
  std::vector<Warp> warps_;
  std::unordered_map<uint64_t, uint64_t> fenced_; // block to its last fence
  std::unordered_map<uint64_t, Known> known_;     // by block
  std::unordered_map<uint64_t, Known> left_;      // by address: what those who met there knew
};

} // namespace opsight::sight
