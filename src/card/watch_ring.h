// The memory through which code under watch publishes: one writer, the kernel's thread; one reader, the tool. Plain
// data, so that the bitcode of src/lower/watch/publish can share it. Nothing in it can be trusted by the reader: a
// kernel that scribbles may write anything here.
//
// Layout: WatchHeader, BlockVisits for each basic block, then, aligned to 64 bytes, the ring of `capacity` words.
#pragma once
#include <cstdint>

namespace opsight::card {

struct WatchHeader {
  alignas(64) uint64_t written;  // words, ever; by the kernel
  alignas(64) uint64_t read;     // words, ever; by the tool
  alignas(64) uint64_t capacity; // words, a power of two
  uint64_t ringOffset;           // bytes from the header
};

/// How often warps came by a basic block, and with how many threads in sum.
struct BlockVisits {
  uint64_t warps, threads;
};

/// First word of an event: bits 0–7 Event, 8–15 Form, 16–31 the warp, 32–63 the site (Array: the object). Second: the
/// block. Third: the mask in its low half, what else there is in its high half (WarpSync: the members). Then the
/// payload.
enum class Event : uint8_t { Access, Barrier, WarpSync, Fence, Array, GridBarrier };

/// What follows the first three words. Each address has 64 bits, each value 32.
enum Form : uint8_t {
  Straight = 1, // two words: lane 0's address, what each next lane adds; else 32 words, one address a lane
  Values = 2,   // then 16 words of two values each
  Place = 4,    // Array: one word, its address
};

inline constexpr uint32_t eventHeaderWords = 3, warpLanes = 32;
inline constexpr uint64_t watchCapacity = 1u << 20; // words: 8 MiB

constexpr uint64_t watchRingOffset(uint64_t blocks) {
  return (sizeof(WatchHeader) + blocks * sizeof(BlockVisits) + 63) / 64 * 64;
}
constexpr uint64_t watchBytes(uint64_t blocks) { return watchRingOffset(blocks) + watchCapacity * 8; }

} // namespace opsight::card
