#include "card/worker/pool.h"
#include <sched.h>

namespace opsight::card {

/// The numbers of the processors in this process's affinity mask; on machines that no cpu_set_t can describe, one that
/// is not to be held to.
static std::vector<int> usableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set))
        processors.push_back(i);
  return processors.empty() ? std::vector<int>{-1} : processors;
}

static void holdTo(pthread_attr_t &attributes, int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (processor < 0)
    return;
  CPU_SET(processor, &set);
  ::pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
}

Pool::Pool(uint64_t stackBytes, const Job &prepare) {
  std::vector<int> processors = usableProcessors();
  seats_.reserve(processors.size());
  job_ = &prepare;
  round_ = 1;
  for (int processor : processors) {
    seats_.push_back({this, static_cast<unsigned>(threads_.size())});
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, stackBytes);
    holdTo(attributes, processor);
    pthread_t thread;
    {
      std::lock_guard lock(mutex_);
      ++running_;
    }
    if (::pthread_create(&thread, &attributes, work, &seats_.back()) == 0) {
      threads_.push_back(thread);
    } else {
      std::lock_guard lock(mutex_);
      --running_;
    }
    ::pthread_attr_destroy(&attributes);
  }
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return running_ == 0; });
}

double Pool::run(const Job &job) {
  std::unique_lock lock(mutex_);
  job_ = &job;
  together_ = true;
  awake_ = 0;
  running_ = size();
  ++round_;
  posted_.notify_all();
  finished_.wait(lock, [&] { return running_ == 0; });
  return std::chrono::duration<double>(ended_ - started_).count();
}

void Pool::startTogether() {
  if (awake_.fetch_add(1) + 1 == size()) {
    started_ = Clock::now();
    awake_.fetch_add(1); // releases the others
  }
  while (awake_.load(std::memory_order_acquire) <= size())
    ::sched_yield();
}

void *Pool::work(void *argument) {
  Seat seat = *static_cast<Seat *>(argument);
  Pool &pool = *seat.pool;
  uint64_t done = 0;
  std::unique_lock lock(pool.mutex_);
  while (true) {
    pool.posted_.wait(lock, [&] { return pool.round_ != done; });
    done = pool.round_;
    const Job &job = *pool.job_;
    bool together = pool.together_;
    lock.unlock();
    if (together)
      pool.startTogether();
    job(seat.index);
    lock.lock();
    if (--pool.running_ == 0) {
      pool.ended_ = Clock::now();
      pool.finished_.notify_one();
    }
  }
}

} // namespace opsight::card
