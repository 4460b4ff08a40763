// The memory in which code under checks (lower::Watched::Checked) remembers who last touched what: shadow memory, as a
// sanitizer has it. Plain data, so that the bitcode of src/lower/watch/check can share it. One thread of the worker
// writes it; the tool fills it before the launch (shadow_plan.h) and reads `suspect` and `undecided` after it. Nothing
// else in it is believed: a kernel that scribbles may write anything here.
//
// Layout: ShadowHeader, ShadowObject for each of Watch::objects, then, aligned to 64 bytes, the cells: two words for
// each unit of an object's memory, last write and readers, in arrays of their own with `shadowPad` words at each end.
#pragma once
#include <cstdint>

namespace opsight::card {

/// A word says when and who: bits 15–31 the phase, 12–14 the warp's epoch, 0–11 who. 0: never.
///
/// A phase is what lies between two barriers of one block; later blocks have later ones. An epoch is what lies between
/// two __syncwarp() of a whole warp; its number is cut short, so that two may look the same, never one like two.
namespace stamp {
inline constexpr uint32_t laneBits = 6, epochShift = 12, phaseShift = 15;
inline constexpr uint32_t phase = 1u << phaseShift, epoch = 1u << epochShift, epochs = phase - epoch;
inline constexpr uint32_t who = epoch - 1, lane = (1u << laneBits) - 1, warp = 31u << laneBits;
inline constexpr uint32_t severalLanes = 32;  // of one warp, in place of the lane
inline constexpr uint32_t special = 1u << 11; // no warp:
inline constexpr uint32_t severalWarps = who, atomic = special;
/// What was there before the phases were counted anew: of an earlier block.
inline constexpr uint32_t old = phase, firstPhase = 2 * phase;
/// From here on a new block counts anew; a block has this many phases at least.
inline constexpr uint32_t renewAt = 1u << 31, last = ~0u - 2 * phase;
} // namespace stamp

struct ShadowObject {
  uint64_t start = 0;   // address in the worker; of a shared array the kernel says it
  uint64_t bytes = 0;   // that may be accessed
  uint64_t writes = 0;  // bytes from the header to the word of the first unit's last write; 0: no site writes here
  uint64_t readers = 0; // the same of its readers; 0: none are remembered
  uint64_t units = 0;
  uint32_t virgin = 0;  // what the write's word of a unit that may be read unwritten is: 0, or what no word ever is
  uint32_t how = 0;     // of accesses to it that know no object (namespace how): shared, readers, shift, skew
  uint64_t reach = 0;   // bytes from `start` in which such accesses find it; 0: not by address
};
inline constexpr uint32_t shadowNever = 1; // a phase that is none

struct ShadowHeader {
  uint32_t suspect;     // number of the first site at which something may be wrong, + 1
  uint32_t undecided;   // more phases in a block than can be told apart
  uint64_t block;       // at work, + 1
  uint32_t floor, next; // first phase of that block, and of the next one
  uint32_t objects, warps;
  struct Clock {
    uint32_t present, now; // the warp's phase; and its epoch and number with it
  } clocks[32];
};

/// Words before and behind each array of cells: what the checks of a whole warp may look at beside those they mean.
inline constexpr uint64_t shadowPad = 32 * 16;

/// What the compiler knows of a check, in one number, so that the check is compiled for it.
namespace how {
enum Kind : uint32_t { Load, Store, Atomic };
inline constexpr uint32_t kind = 3;
inline constexpr uint32_t shared = 1u << 2;  // a block's own; what no barrier of it ordered does not matter
inline constexpr uint32_t cells = 1u << 3;   // the object has words at all
inline constexpr uint32_t readers = 1u << 4; // … of readers
inline constexpr uint32_t phases = 1u << 5;  // the kernel has barriers
inline constexpr uint32_t epochs = 1u << 6;  // … or __syncwarp()
inline constexpr uint32_t several = 1u << 7; // every unit is accessed by several lanes
inline constexpr uint32_t whole = 1u << 8;   // every lane takes part
inline constexpr uint32_t shiftAt = 9;       // log2 of a unit's bytes, 2 bits
inline constexpr uint32_t laneAt = 11;       // the first lane, 5 bits
inline constexpr uint32_t unitsAt = 16;      // log2 of the units that a thread accesses, 3 bits
inline constexpr uint32_t skewAt = 19;       // what an address is before a multiple of 16 where the offset is 0, 4 bits
} // namespace how

} // namespace opsight::card
