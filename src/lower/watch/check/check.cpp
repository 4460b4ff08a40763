// What code under checks calls, compiled to bitcode and linked into the kernel: looks at an access before it happens
// and remembers it (card/shadow.h). Functions opsight_check_… become part of the kernel at every site, where most
// arguments are constants; opsight_look_… stay functions.
#include "lower/watch/check/rules.h"

namespace {
using namespace opsight::checks;

[[gnu::always_inline]] inline const ShadowObject *objectAt(ShadowHeader *header, uint32_t object) {
  return reinterpret_cast<const ShadowObject *>(header + 1) + object;
}

[[gnu::always_inline]] inline void suspect(ShadowHeader *header, uint32_t site) {
  if (header->suspect == 0)
    header->suspect = site + 1;
}

[[gnu::always_inline]] inline uint32_t shiftOf(uint32_t how) { return how >> how::shiftAt & 3; }

/// `bytes` bytes from `offset` on do not lie in `size`, or not at a multiple of `alignment` and of a unit.
[[gnu::always_inline]] inline bool isOutside(uint64_t offset, uint64_t bytes, uint64_t size, uint32_t how,
                                             uint64_t alignment) {
  uint64_t room = size - bytes - offset; // sizes are small: what wraps has its highest bit set
  uint64_t skew = how >> how::skewAt & 15, unit = (1u << shiftOf(how)) - 1;
  return (int64_t(offset | room) < 0) | (((offset + skew) & (alignment - 1)) != 0) | ((offset & unit) != 0);
}

using Wide = uint64_t __attribute__((ext_vector_type(32)));
[[gnu::always_inline]] inline Wide wide(const uint64_t *from) {
  Wide words;
  __builtin_memcpy(&words, from, sizeof words);
  return words;
}

/// The same of any lane in `mask`.
[[gnu::always_inline]] inline bool isAnyOutside(const uint64_t *offsets, uint32_t mask, uint64_t size, uint32_t how,
                                                uint64_t bytes, uint64_t alignment) {
  Wide at = wide(offsets), room = size - bytes - at;
  uint64_t skew = how >> how::skewAt & 15, unit = (1u << shiftOf(how)) - 1;
  Wide wrong = (at | room) >> 63 | ((at + skew) & (alignment - 1)) | (at & unit);
  return (__builtin_bit_cast(uint32_t, __builtin_convertvector(wrong != 0, Lanes)) & mask) != 0;
}

/// Threads of a row, one beside the other, from lane `how::laneAt` on; bit i of `mask` is set where the ith takes part.
/// Thread i accesses `bytes` bytes from `offset` + i * bytes on.
template <unsigned count> [[gnu::always_inline]] inline void checkRow(ShadowHeader *header, uint32_t number,
                                                                      uint64_t extent, uint64_t offset, uint32_t mask,
                                                                      uint32_t site, uint32_t warp, uint32_t how,
                                                                      uint32_t bytes, uint32_t alignment) {
  const ShadowObject *object = objectAt(header, number);
  bool isWhole = (how & how::whole) != 0;
  uint32_t first = 0, last = count - 1;
  if (!isWhole) {
    if (mask == 0)
      return;
    first = uint32_t(__builtin_ctz(mask)), last = 31 - uint32_t(__builtin_clz(mask));
  }
  uint64_t size = extent ? extent : object->bytes;
  if (isOutside(offset + first * uint64_t(bytes), (last - first + 1) * bytes, size, how, alignment)) {
    suspect(header, site);
    return;
  }
  if (!(how & how::cells))
    return;
  Check check(header, object, warp, how);
  uint32_t shift = shiftOf(how), lane = how >> how::laneAt & 31, units = how >> how::unitsAt & 7;
  uint64_t unit = uint64_t(int64_t(offset) >> shift); // of a thread that is not there, perhaps: within the padding
  uint32_t now = header->clocks[warp & 31].now;
  bool good = true;
#pragma clang loop unroll(disable)
  for (uint32_t done = 0; done < count << units; done += count) {
    Words<count> from = (numbers<count>() + done) >> units;
    Words<count> own = how & how::several ? all<count>(now | stamp::severalLanes) : from + (now | lane);
    Holds<count> active = Holds<count>(all<count>(mask) >> from) << 31 >> 31;
    good &= isWhole ? check.pass<count, true>(unit + done, own, active)
                    : check.pass<count, false>(unit + done, own, active);
  }
  if (!good)
    suspect(header, site);
}

/// One place for all threads of `mask`: `count` units.
template <unsigned count> [[gnu::always_inline]] inline void checkPlace(ShadowHeader *header, uint32_t number,
                                                                        uint64_t extent, uint64_t offset, uint32_t mask,
                                                                        uint32_t site, uint32_t warp, uint32_t how,
                                                                        uint32_t bytes, uint32_t alignment) {
  if (mask == 0)
    return;
  const ShadowObject *object = objectAt(header, number);
  if (isOutside(offset, bytes, extent ? extent : object->bytes, how, alignment)) {
    suspect(header, site);
    return;
  }
  if (!(how & how::cells))
    return;
  Check check(header, object, warp, how);
  bool isOne = (mask & (mask - 1)) == 0;
  // Several threads that update what several have read are not those alone: their stamp is like no other.
  uint32_t many = check.kind() == how::Atomic ? stamp::severalLanes + 1 : stamp::severalLanes;
  uint32_t own = header->clocks[warp & 31].now | (isOne ? uint32_t(__builtin_ctz(mask)) : many);
  bool good = check.pass<count, true>(offset >> shiftOf(how), all<count>(own), Holds<count>{});
  good &= isOne | (check.kind() != how::Store); // several write at once
  if (!good)
    suspect(header, site);
}

/// What distinguishes the checks of threads whose addresses have nothing in common; the rest is taken as if it could
/// be.
constexpr uint32_t distinct = how::kind | how::shared | how::readers;

/// One thread's access, of any length.
template <uint32_t fixed> [[gnu::always_inline]] inline bool passOne(ShadowHeader *header, const ShadowObject *object,
                                                                     uint64_t offset, uint32_t how, uint32_t bytes,
                                                                     uint32_t warp, uint32_t lane) {
  Check check(header, object, warp, fixed | how::phases | how::epochs);
  uint32_t shift = shiftOf(how), own = header->clocks[warp & 31].now | lane;
  uint64_t unit = offset >> shift, end = unit + (bytes >> shift);
  bool good = true;
  for (; unit < end; ++unit)
    good &= check.pass<1, true>(unit, all<1>(own), Holds<1>{});
  return good;
}

template <uint32_t fixed> void lookLanes(ShadowHeader *header, const ShadowObject *object, uint64_t size,
                                         const uint64_t *offsets, uint32_t mask, uint32_t site, uint32_t warp,
                                         uint32_t how, uint32_t bytes, uint32_t alignment) {
  Check check(header, object, warp, fixed | how::phases | how::epochs);
  Indices units = __builtin_convertvector(wide(offsets) >> shiftOf(how), Indices);
  Words<32> own = numbers<32>() + header->clocks[warp & 31].now;
  bool good = !isAnyOutside(offsets, mask, size, how, bytes, alignment);
  for (uint32_t done = 0; good && done < bytes >> shiftOf(how); ++done)
    good = check.passApart(units + int32_t(done), own, mask);
  if (!good)
    suspect(header, site);
}

/// `function`<fixed> for `distinct` of `how`.
#define OPSIGHT_BY_KIND(function, flags, ...)                                                                          \
  switch ((flags)&distinct) {                                                                                          \
    OPSIGHT_KINDS(function, 0, __VA_ARGS__)                                                                            \
    OPSIGHT_KINDS(function, how::shared, __VA_ARGS__)                                                                  \
    OPSIGHT_KINDS(function, how::readers, __VA_ARGS__)                                                                 \
    OPSIGHT_KINDS(function, how::shared | how::readers, __VA_ARGS__)                                                   \
  }
#define OPSIGHT_KINDS(function, memory, ...)                                                                           \
  case (memory) | how::Load:                                                                                           \
    function((memory) | how::Load, __VA_ARGS__);                                                                       \
    break;                                                                                                             \
  case (memory) | how::Store:                                                                                          \
    function((memory) | how::Store, __VA_ARGS__);                                                                      \
    break;                                                                                                             \
  case (memory) | how::Atomic:                                                                                         \
    function((memory) | how::Atomic, __VA_ARGS__);                                                                     \
    break;
#define OPSIGHT_LOOK(fixed, ...) lookLanes<(fixed)>(__VA_ARGS__)
#define OPSIGHT_PASS(fixed, into, ...) into = passOne<(fixed)>(__VA_ARGS__)
} // namespace

extern "C" {

#define OPSIGHT_ROW(count)                                                                                             \
  void opsight_check_row##count(ShadowHeader *header, uint32_t object, uint64_t extent, uint64_t offset,               \
                                uint32_t mask, uint32_t site, uint32_t warp, uint32_t how, uint32_t bytes,             \
                                uint32_t alignment) {                                                                  \
    checkRow<count>(header, object, extent, offset, mask, site, warp, how, bytes, alignment);                          \
  }
OPSIGHT_ROW(2)
OPSIGHT_ROW(4)
OPSIGHT_ROW(8) OPSIGHT_ROW(16) OPSIGHT_ROW(32)

#define OPSIGHT_PLACE(count)                                                                                           \
  void opsight_check_place##count(ShadowHeader *header, uint32_t object, uint64_t extent, uint64_t offset,             \
                                  uint32_t mask, uint32_t site, uint32_t warp, uint32_t how, uint32_t bytes,           \
                                  uint32_t alignment) {                                                                \
    checkPlace<count>(header, object, extent, offset, mask, site, warp, how, bytes, alignment);                        \
  }
    OPSIGHT_PLACE(1) OPSIGHT_PLACE(2) OPSIGHT_PLACE(4) OPSIGHT_PLACE(8) OPSIGHT_PLACE(16)

    /// Thread 32 * warp + i accesses `bytes` bytes from offsets[i] on, where bit i of `mask` is set.
    void opsight_look_lanes(ShadowHeader *header, uint32_t number, uint64_t extent, const uint64_t *offsets,
                            uint32_t mask, uint32_t site, uint32_t warp, uint32_t how, uint32_t bytes,
                            uint32_t alignment) {
  const ShadowObject *object = objectAt(header, number);
  uint64_t size = extent ? extent : object->bytes;
  OPSIGHT_BY_KIND(OPSIGHT_LOOK, how, header, object, size, offsets, mask, site, warp, how, bytes, alignment)
}

/// The same of an object of which nothing is remembered.
void opsight_check_bounds(ShadowHeader *header, uint32_t number, uint64_t extent, const uint64_t *offsets,
                          uint32_t mask, uint32_t site, uint32_t, uint32_t how, uint32_t bytes, uint32_t alignment) {
  if (isAnyOutside(offsets, mask, extent ? extent : objectAt(header, number)->bytes, how, bytes, alignment))
    suspect(header, site);
}

/// The same where it is not known what the addresses lead into. Threads that reach different shared arrays at once are
/// suspect, as the observers take the first one's for all.
void opsight_look_anywhere(ShadowHeader *header, const uint64_t *addresses, uint32_t mask, uint32_t site, uint32_t warp,
                           uint32_t how, uint32_t bytes, uint32_t alignment) {
  uint32_t count = header->objects, first = ~0u;
  bool good = true;
  for (; mask; mask &= mask - 1) {
    uint32_t lane = uint32_t(__builtin_ctz(mask)), found = ~0u;
    uint64_t address = addresses[lane];
    for (uint32_t i = 0; i < count && found == ~0u; ++i)
      if (address - objectAt(header, i)->start < objectAt(header, i)->reach)
        found = i;
    bool isKnown = found != ~0u;
    const ShadowObject *object = objectAt(header, isKnown ? found : 0);
    first = first == ~0u ? found : first;
    good &= isKnown && (found == first || !((object->how | objectAt(header, first)->how) & how::shared));
    if (!good)
      break;
    uint64_t offset = address - object->start;
    uint32_t own = how | object->how;
    good = !isOutside(offset, bytes, object->bytes, own, alignment);
    if (good && object->writes)
      OPSIGHT_BY_KIND(OPSIGHT_PASS, own, good, header, object, offset, own, bytes, warp, lane)
  }
  if (!good)
    suspect(header, site);
}

/// Every unit that somebody has touched becomes one of an earlier block's.
void opsight_look_renew(ShadowHeader *header) {
  for (uint32_t i = 0; i < header->objects; ++i) {
    const ShadowObject *object = objectAt(header, i);
    const uint64_t arrays[] = {object->writes, object->readers};
    for (uint64_t array : arrays) {
      uint32_t *words = reinterpret_cast<uint32_t *>(reinterpret_cast<char *>(header) + array);
      for (uint64_t unit = 0; array && unit < object->units; ++unit)
        words[unit] = words[unit] ? stamp::old | (words[unit] & stamp::who) : 0;
    }
  }
  header->next = stamp::firstPhase;
}

/// A warp begins its work for a block.
void opsight_check_enter(ShadowHeader *header, uint32_t warp, uint64_t block) {
  if (header->block != block + 1) {
    if (header->next >= stamp::renewAt)
      opsight_look_renew(header);
    header->block = block + 1;
    header->floor = header->next;
    header->next = header->floor + stamp::phase;
  }
  warp &= 31;
  header->clocks[warp].present = header->floor;
  header->clocks[warp].now = header->floor | warp << stamp::laneBits;
}

void opsight_check_array(ShadowHeader *header, uint32_t object, uint64_t address) {
  const_cast<ShadowObject *>(objectAt(header, object))->start = address;
}

/// Threads of `mask` come to a barrier of the block.
void opsight_check_barrier(ShadowHeader *header, uint32_t warp, uint32_t mask) {
  if (mask == 0)
    return;
  warp &= 31;
  uint32_t present = header->clocks[warp].present;
  if (present >= stamp::last)
    header->undecided = 1;
  else
    present += stamp::phase;
  header->clocks[warp].present = present;
  header->clocks[warp].now = present | warp << stamp::laneBits;
  if (header->next <= present)
    header->next = present + stamp::phase;
}

/// `met` of the warp's `existing` threads have waited for each other.
void opsight_check_sync(ShadowHeader *header, uint32_t warp, uint32_t met, uint32_t existing) {
  uint32_t now = header->clocks[warp & 31].now;
  if ((met & existing) == existing)
    header->clocks[warp & 31].now = (now & ~stamp::epochs) | ((now + stamp::epoch) & stamp::epochs);
}

} // extern "C"
