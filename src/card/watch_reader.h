// Reads what a kernel under watch publishes, on a thread of its own while the kernel runs, and tells the observers.
#pragma once
#include "card/watch.h"
#include <atomic>
#include <map>
#include <thread>

namespace opsight::card {

class WatchReader {
public:
  /// `memory` is the ring's (watch_ring.h), made new here; all that is referred to outlives the reader.
  WatchReader(std::span<std::byte> memory, const WatchedLaunch &launch, std::span<Observer *const> observers);
  ~WatchReader() { finish(); }
  WatchReader(const WatchReader &) = delete;

  /// To be called when the kernel has ended: reads the rest, tells the observers the end. False where what was
  /// published cannot be true: the kernel wrote over it.
  bool finish();

private:
  struct Head {
    uint32_t number, warp, mask, more;
    uint64_t block;
    unsigned form;
    Event event;
  };
  void follow();
  bool readAll();
  bool readEvent(uint64_t available);
  bool readAccess(const Head &head, uint64_t available);
  bool readPoint(const Head &head);
  bool resolve(Access &access);
  int32_t arrayAt(uint64_t address) const;
  uint64_t word(uint64_t ahead) const { return ring_[(read_ + ahead) & (watchCapacity - 1)]; }

  const WatchedLaunch &launch_;
  std::vector<Observer *> observers_;
  WatchHeader *header_;
  const BlockVisits *visits_;
  const uint64_t *ring_;
  uint64_t read_ = 0;            // ours: the one in the header is for the kernel alone
  std::vector<uint64_t> arrays_; // where the block at work has each object; 0: not told
  uint64_t block_ = 0;           // at work
  std::map<uint64_t, std::vector<uint64_t>> waiting_; // the arrays of blocks that have waited for the whole grid
  bool hasShared_ = false, sound_ = true;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

} // namespace opsight::card
