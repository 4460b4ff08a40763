// What code under watch calls, compiled to bitcode and linked into the kernel: writes one event into the ring, waiting
// while the reader is behind.
#include "card/watch_ring.h"

extern "C" int sched_yield(); // kernels may make this system call

namespace {
using opsight::card::Event, opsight::card::Form, opsight::card::WatchHeader;
using opsight::card::eventHeaderWords, opsight::card::warpLanes;

class Writer {
public:
  Writer(WatchHeader *header, uint64_t words)
      : header(header), at(header->written), end(at + words), mask(header->capacity - 1) {
    ring = reinterpret_cast<uint64_t *>(reinterpret_cast<char *>(header) + header->ringOffset);
    while (end - __atomic_load_n(&header->read, __ATOMIC_ACQUIRE) > mask + 1)
      sched_yield(); // the reader has a core of its own, and is soon ahead
  }
  void put(uint64_t word) { ring[at++ & mask] = word; }
  void publish() { __atomic_store_n(&header->written, end, __ATOMIC_RELEASE); }

private:
  WatchHeader *header;
  uint64_t at, end, mask;
  uint64_t *ring;
};

void putHeader(Writer &writer, Event event, unsigned form, uint32_t number, uint32_t warp, uint64_t block,
               uint32_t mask, uint32_t more) {
  writer.put(uint64_t(event) | uint64_t(form) << 8 | uint64_t(warp & 0xFFFF) << 16 | uint64_t(number) << 32);
  writer.put(block);
  writer.put(mask | uint64_t(more) << 32);
}

/// Whether the lanes of `mask` lie on a line: `first` + lane * `step`.
bool isStraight(const uint64_t *addresses, uint32_t mask, uint64_t &first, uint64_t &step) {
  unsigned low = unsigned(__builtin_ctz(mask));
  uint32_t rest = mask & (mask - 1);
  step = 0;
  if (rest) {
    unsigned next = unsigned(__builtin_ctz(rest));
    int64_t apart = int64_t(addresses[next] - addresses[low]), lanes = int64_t(next - low);
    if (lanes != 1 && apart % lanes)
      return false;
    step = uint64_t(apart / lanes);
  }
  first = addresses[low] - low * step;
  uint64_t different = 0;
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    different |= (addresses[lane] ^ (first + lane * step)) & -uint64_t(mask >> lane & 1);
  return different == 0;
}
} // namespace

extern "C" {

/// `addresses`: warpLanes of them; `values`: as many, or null where nothing is written.
__attribute__((noinline)) void opsight_publish_access(WatchHeader *header, uint32_t site, uint32_t warp, uint64_t block,
                                                      uint32_t mask, const uint64_t *addresses,
                                                      const uint32_t *values) {
  if (mask == 0)
    return;
  uint64_t first = 0, step = 0;
  bool straight = isStraight(addresses, mask, first, step);
  Writer writer(header, eventHeaderWords + (straight ? 2 : warpLanes) + (values ? warpLanes / 2 : 0));
  putHeader(writer, Event::Access, (straight ? Form::Straight : 0u) | (values ? Form::Values : 0u), site, warp, block,
            mask, 0);
  if (straight) {
    writer.put(first);
    writer.put(step);
  } else {
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      writer.put(addresses[lane]);
  }
  if (values)
    for (unsigned lane = 0; lane < warpLanes; lane += 2)
      writer.put(values[lane] | uint64_t(values[lane + 1]) << 32);
  writer.publish();
}

__attribute__((noinline)) void opsight_publish_point(WatchHeader *header, uint32_t event, uint32_t site, uint32_t warp,
                                                     uint64_t block, uint32_t mask, uint32_t more) {
  if (mask == 0)
    return;
  Writer writer(header, eventHeaderWords);
  putHeader(writer, Event(event), 0, site, warp, block, mask, more);
  writer.publish();
}

__attribute__((noinline)) void opsight_publish_array(WatchHeader *header, uint32_t object, uint32_t warp,
                                                     uint64_t block, uint32_t mask, uint64_t address) {
  Writer writer(header, eventHeaderWords + 1);
  putHeader(writer, Event::Array, Form::Place, object, warp, block, mask, 0);
  writer.put(address);
  writer.publish();
}

} // extern "C"
