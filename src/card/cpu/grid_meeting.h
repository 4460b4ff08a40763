// Where the calls of a launch that waits for its whole grid meet (Launch::meet of abi.h). Kernel threads may make no
// system call that waits for long, so they look again and again; a call that ends, for whatever reason, is waited for
// no more.
#pragma once
#include <atomic>
#include <cstdint>

namespace opsight::card::native {

class GridMeeting {
public:
  explicit GridMeeting(unsigned calls) : calls_(calls), missing_(calls) {}

  /// Launch::meet, of a GridMeeting.
  static uint64_t meet(void *meeting, uint64_t state) { return static_cast<GridMeeting *>(meeting)->meet(state); }
  /// The caller's call has ended.
  void leave() { left_.store(true, std::memory_order_release); }

private:
  /// What the calls have asked with in a round; those of two rounds are never in use at once for more than reading.
  struct Round {
    std::atomic<uint64_t> largest{0}, smallest{~0ull};
    uint64_t answer = 0;
  };
  uint64_t meet(uint64_t state);

  const unsigned calls_;
  alignas(64) std::atomic<unsigned> missing_;
  alignas(64) std::atomic<uint64_t> number_{0}; // of the round at hand
  std::atomic<bool> left_{false};
  Round rounds_[2];
};

} // namespace opsight::card::native
