// Accesses to where nothing is: out of bounds of buffers, shared and local arrays; vector accesses at addresses they
// may not have; reads of shared memory or of a buffer that nobody has written.
#pragma once
#include "sight/findings.h"

namespace opsight::sight {

class MemoryObserver final : public card::Observer {
public:
  void begins(const card::WatchedLaunch &launch) override;
  void access(const card::Access &access) override;

  /// One a line and kind of fault: its first, and how many there were. Several launches may be watched in a row; what
  /// one has written the next may read.
  std::vector<Finding> findings() const;

private:
  /// Where an access may go: `bytes` bytes from `start`, as Access::addresses has them.
  struct Extent {
    uint64_t start = 0, bytes = 0;
    int32_t region = -1; // Global: index into the launch's regions
    bool isKnown = false;
  };
  struct Fault {
    Finding finding;
    uint64_t count = 0;
  };

  Extent extentOf(const card::Access &access, uint64_t address) const;
  void checkBounds(const card::Access &access, uint32_t lane);
  void checkAlignment(const card::Access &access);
  void checkInitialised(const card::Access &access);
  std::vector<uint8_t> *written(const card::Access &access, const Extent &extent);
  void enterBlock(uint64_t block);
  void record(const char *kind, const card::Access &access, uint32_t lane, std::string what, const char *why,
              const char *change);

  const card::WatchedLaunch *launch_ = nullptr;
  std::vector<Extent> extents_; // beside Watch::objects
  uint64_t block_ = ~0ull;
  std::vector<uint8_t> sharedWritten_;                     // by byte of the block at work
  std::map<uint64_t, std::vector<uint8_t>> globalWritten_; // by address of buffers that held nothing
  std::map<std::tuple<std::string, std::string, unsigned, unsigned>, Fault> faults_; // by kind and place
};

} // namespace opsight::sight
