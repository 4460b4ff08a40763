// Accesses to where nothing is: out of bounds of buffers, shared and local arrays; vector accesses at addresses they
// may not have; reads of shared memory or of a buffer that nobody has written.
#pragma once
#include "sight/findings.h"
#include "sight/written_bytes.h"

namespace opsight::sight {

class MemoryObserver final : public card::Observer {
public:
  void begins(const card::WatchedLaunch &launch) override;
  void access(const card::Access &access) override;
  void gridBarrier(const card::Passage &passage) override;

  /// One a line and kind of fault: its first, and how many there were. Several launches may be watched in a row; what
  /// one has written the next may read.
  std::vector<Finding> findings() const;

private:
  /// Where an access may go: `bytes` bytes from `start`, as Access::addresses has them.
  struct Extent {
    uint64_t start = 0, bytes = 0;
    bool isKnown = false;
  };
  struct Fault {
    Finding finding;
    uint64_t count = 0;
  };

  void enter(uint64_t block);
  Extent extentOf(const card::Access &access, uint64_t address) const;
  void checkBounds(const card::Access &access, uint32_t lane);
  void checkAlignment(const card::Access &access);
  void checkInitialised(const card::Access &access);
  void record(const char *kind, const card::Access &access, uint32_t lane, std::string what, const char *why,
              const char *change);

  const card::WatchedLaunch *launch_ = nullptr;
  std::vector<Extent> extents_; // beside Watch::objects
  uint64_t block_ = ~0ull;
  WrittenBytes shared_;                      // of the block at work
  std::map<uint64_t, WrittenBytes> waiting_; // of blocks that have waited for the whole grid
  std::map<uint64_t, WrittenBytes> buffers_; // by address, those that held nothing
  std::vector<WrittenBytes *> writtenOf_;    // beside Watch::objects; null: all of it holds data
  std::map<std::tuple<std::string, std::string, unsigned, unsigned>, Fault> faults_; // by kind and place
};

} // namespace opsight::sight
