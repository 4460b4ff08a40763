// One thread for each processor that this process may use, held there, which run one job at a time together. Left to
// themselves two of them may share a processor for a whole measurement while another is idle.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace opsight::card {

class Pool {
public:
  using Job = std::function<void(unsigned thread)>;
  /// `prepare` runs once on every thread, before the constructor returns.
  Pool(uint64_t stackBytes, const Job &prepare);
  /// Runs `job` on every thread and waits for all. Seconds from the moment when every thread is awake to the end of the
  /// last: what waking sleepers costs is no property of the job.
  double run(const Job &job);
  unsigned size() const { return static_cast<unsigned>(threads_.size()); }

private:
  struct Seat {
    Pool *pool;
    unsigned index;
  };
  using Clock = std::chrono::steady_clock;
  static void *work(void *seat);
  void startTogether();

  std::mutex mutex_;
  std::condition_variable posted_, finished_;
  const Job *job_ = nullptr;
  uint64_t round_ = 0;
  unsigned running_ = 0;
  bool together_ = false;
  std::atomic<unsigned> awake_{0};
  Clock::time_point started_, ended_;
  std::vector<Seat> seats_;
  std::vector<pthread_t> threads_; // never joined: the worker ends by _exit
};

} // namespace opsight::card
