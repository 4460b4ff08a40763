// See grid_meeting.h.
#include "card/cpu/grid_meeting.h"
#include "card/cpu/abi.h"
#include <sched.h>

namespace opsight::card::native {

/// Looks before the processor is left to others: a meeting of threads that all run takes less.
constexpr int patience = 2000;

static void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

template <class Compare> static void keepExtreme(std::atomic<uint64_t> &kept, uint64_t state, Compare isMore) {
  uint64_t seen = kept.load(std::memory_order_relaxed);
  while (isMore(state, seen) && !kept.compare_exchange_weak(seen, state, std::memory_order_relaxed)) {
  }
}

uint64_t GridMeeting::meet(uint64_t state) {
  uint64_t number = number_.load(std::memory_order_relaxed); // changes only once this call has asked, too
  Round &round = rounds_[number & 1], &next = rounds_[(number + 1) & 1];
  keepExtreme(round.largest, state, [](uint64_t a, uint64_t b) { return a > b; });
  keepExtreme(round.smallest, state, [](uint64_t a, uint64_t b) { return a < b; });
  if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    uint64_t largest = round.largest.load(std::memory_order_relaxed);
    round.answer = largest == round.smallest.load(std::memory_order_relaxed) ? largest : largest | meetingParted;
    next.largest.store(0, std::memory_order_relaxed);
    next.smallest.store(~0ull, std::memory_order_relaxed);
    missing_.store(calls_, std::memory_order_relaxed);
    number_.store(number + 1, std::memory_order_release);
    return round.answer;
  }
  for (int looks = 0; number_.load(std::memory_order_acquire) == number; ++looks) {
    // Who has met may have left since: then the round is over, which is seen now at the latest.
    if (left_.load(std::memory_order_acquire) && number_.load(std::memory_order_acquire) == number)
      return meetingParted;
    looks < patience ? pause() : static_cast<void>(::sched_yield());
  }
  return round.answer;
}

} // namespace opsight::card::native
