// Threads over all processors that this process may use, which run one job at a time together.
#pragma once
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
  /// Runs `job` on every thread and waits for all.
  void run(const Job &job);
  unsigned size() const { return static_cast<unsigned>(threads_.size()); }

private:
  struct Seat {
    Pool *pool;
    unsigned index;
  };
  static void *work(void *seat);

  std::mutex mutex_;
  std::condition_variable posted_, finished_;
  const Job *job_ = nullptr;
  uint64_t round_ = 0;
  unsigned running_ = 0;
  std::vector<Seat> seats_;
  std::vector<pthread_t> threads_; // never joined: the worker ends by _exit
};

/// Processors in this process's affinity mask.
unsigned usableProcessors();

} // namespace opsight::card
