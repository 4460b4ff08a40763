#include "card/worker/pool.h"
#include <algorithm>
#include <sched.h>

namespace opsight::card {

unsigned usableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return 1;
}

Pool::Pool(uint64_t stackBytes, const Job &prepare) {
  unsigned wanted = usableProcessors();
  seats_.reserve(wanted);
  job_ = &prepare;
  round_ = 1;
  for (unsigned i = 0; i < wanted; ++i) {
    seats_.push_back({this, i});
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, stackBytes);
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

void Pool::run(const Job &job) {
  std::unique_lock lock(mutex_);
  job_ = &job;
  running_ = size();
  ++round_;
  posted_.notify_all();
  finished_.wait(lock, [&] { return running_ == 0; });
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
    lock.unlock();
    job(seat.index);
    lock.lock();
    if (--pool.running_ == 0)
      pool.finished_.notify_one();
  }
}

} // namespace opsight::card
