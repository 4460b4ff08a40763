// What a check (check.cpp) finds in order of the words that shadow memory has of a unit.
//
// Everything that MemoryObserver or RaceObserver (src/sight) would tell is suspect here; little else is. The rules, of
// a unit's last write W and its readers R, for who comes by now:
//   load    W must be of an earlier phase of the block, the thread's own, or of its warp before a __syncwarp(); of
//   global
//           memory that holds data also nobody's. R becomes the thread, or several of its warp, or several warps.
//   store   W and R must be nobody's or as for a load; of shared memory also of any earlier block. W becomes the
//   thread. atomic  as both at once, where other atomics are no matter.
#pragma once
#include "card/shadow.h"

namespace opsight::checks {
using namespace card;

template <unsigned count> using Words = uint32_t __attribute__((vector_size(4 * count)));
template <unsigned count> using Holds = int32_t __attribute__((vector_size(4 * count))); // -1 or 0

template <unsigned count> [[gnu::always_inline]] inline Words<count> load(const uint32_t *from) {
  Words<count> words;
  __builtin_memcpy(&words, from, sizeof words);
  return words;
}
template <unsigned count> [[gnu::always_inline]] inline void store(uint32_t *to, Words<count> words) {
  __builtin_memcpy(to, &words, sizeof words);
}
using Lanes = bool __attribute__((ext_vector_type(32)));
using Indices = int32_t __attribute__((ext_vector_type(32)));
using Apart = uint32_t __attribute__((ext_vector_type(32))); // Words<32>, as gathers know them
[[gnu::always_inline]] inline Lanes lanesOf(uint32_t mask) { return __builtin_bit_cast(Lanes, mask); }
[[gnu::always_inline]] inline uint32_t bitsOf(Holds<32> holds) {
  return __builtin_bit_cast(uint32_t, __builtin_convertvector(holds != 0, Lanes));
}
/// Words of the lanes in `mask` alone; the others' are 0.
[[gnu::always_inline]] inline Words<32> gather(const uint32_t *from, Indices indices, uint32_t mask) {
  return Words<32>(__builtin_masked_gather(lanesOf(mask), indices, from, Apart(0)));
}
[[gnu::always_inline]] inline void scatter(uint32_t *to, Indices indices, uint32_t mask, Words<32> words) {
  __builtin_masked_scatter(lanesOf(mask), indices, Apart(words), to);
}
template <unsigned count> [[gnu::always_inline]] inline Words<count> all(uint32_t word) {
  return Words<count>{} + word;
}
template <unsigned count> [[gnu::always_inline]] inline Words<count> numbers() {
  Words<count> result;
  for (unsigned i = 0; i < count; ++i)
    result[i] = i;
  return result;
}

/// An access of `count` units by threads of one warp, what the compiler knows of it in `how`.
struct Check {
  ShadowHeader *header;
  const ShadowObject *object;
  uint32_t how, floor, present;

  [[gnu::always_inline]] Check(ShadowHeader *header, const ShadowObject *object, uint32_t warp, uint32_t how)
      : header(header), object(object), how(how), floor(header->floor), present(header->clocks[warp & 31].present) {}

  [[gnu::always_inline]] bool is(uint32_t flag) const { return (how & flag) != 0; }
  [[gnu::always_inline]] uint32_t kind() const { return how & how::kind; }
  [[gnu::always_inline]] uint32_t *at(uint64_t offset, uint64_t unit) const {
    return reinterpret_cast<uint32_t *>(reinterpret_cast<char *>(header) + offset) + unit;
  }

  /// Of an earlier phase of this block.
  template <unsigned count> [[gnu::always_inline]] Holds<count> isEarlier(Words<count> word) const {
    return Holds<count>(word - floor < all<count>(present - floor));
  }
  /// By this thread now, or by its warp before it met.
  template <unsigned count> [[gnu::always_inline]] Holds<count> isOrdered(Words<count> word, Words<count> own) const {
    Words<count> apart = word ^ own;
    Holds<count> ordered = apart == 0;
    if (is(how::epochs))
      ordered |= ((apart & ~(stamp::epochs | stamp::lane)) == 0) & Holds<count>(apart >= stamp::epoch);
    return ordered;
  }
  /// What a store finds in order.
  template <unsigned count> [[gnu::always_inline]] Holds<count> isQuiet(Words<count> word, Words<count> own) const {
    Holds<count> quiet = isOrdered<count>(word, own);
    if (is(how::shared))
      return quiet | Holds<count>(word < present);
    quiet |= word == 0;
    return is(how::phases) ? quiet | isEarlier<count>(word) : quiet;
  }
  template <unsigned count> [[gnu::always_inline]] Holds<count> mayRead(Words<count> word, Words<count> own) const {
    Holds<count> may = isOrdered<count>(word, own);
    if (is(how::phases))
      may |= isEarlier<count>(word);
    if (!is(how::shared))
      may |= word == all<count>(object->virgin);
    return may;
  }
  template <unsigned count> [[gnu::always_inline]] Holds<count> mayUpdate(Words<count> word, Words<count> own) const {
    Holds<count> isAtomic = (word & stamp::who) == stamp::atomic;
    if (is(how::shared))
      isAtomic &= Holds<count>(word >= floor);
    return isAtomic | mayRead<count>(word, own);
  }
  /// What readers become when `own` reads, too.
  template <unsigned count> [[gnu::always_inline]] Words<count> joined(Words<count> readers, Words<count> own) const {
    Words<count> apart = readers ^ own;
    Words<count> result = apart < stamp::lane + 1 ? (own & ~stamp::lane) | stamp::severalLanes
                                                  : all<count>(present | stamp::severalWarps);
    Holds<count> isOver = apart == 0;
    if (is(how::epochs))
      isOver |= ((apart & ~(stamp::epochs | stamp::lane)) == 0) & Holds<count>(apart >= stamp::epoch);
    if (is(how::shared)) {
      isOver |= Holds<count>(readers < present);
    } else {
      isOver |= readers == 0;
      if (is(how::phases))
        isOver |= isEarlier<count>(readers);
      result = readers - 1 < all<count>(floor - 1) ? readers : result; // of an earlier block: any write is suspect
    }
    return isOver ? own : result;
  }

  /// False where something may be wrong with one of `count` units from `unit` on, of those that `active` names.
  template <unsigned count, bool isWhole>
  [[gnu::always_inline]] bool pass(uint64_t unit, Words<count> own, Holds<count> active) const {
    uint32_t *writes = at(object->writes, unit), *readers = at(object->readers, unit);
    Words<count> word = load<count>(writes);
    Holds<count> good;
    if (kind() == how::Load) {
      good = mayRead<count>(word, own);
      if (is(how::readers)) {
        Words<count> before = load<count>(readers), after = joined<count>(before, own);
        store<count>(readers, isWhole ? after : active ? after : before);
      }
    } else {
      good = kind() == how::Atomic ? mayUpdate<count>(word, own) : isQuiet<count>(word, own);
      if (is(how::readers))
        good &= isQuiet<count>(load<count>(readers), own);
      Words<count> after = kind() == how::Atomic ? all<count>(present | stamp::atomic) : own;
      store<count>(writes, isWhole ? after : active ? after : word);
    }
    Holds<count> bad = isWhole ? ~good : ~good & active;
    return __builtin_reduce_or(bad) == 0;
  }

  /// The same of a unit a lane, where they lie anywhere, two lanes' perhaps in one place.
  [[gnu::always_inline]] bool passApart(Indices units, Words<32> own, uint32_t mask) const {
    uint32_t *writes = at(object->writes, 0), *readers = at(object->readers, 0);
    Words<32> word = gather(writes, units, mask);
    Holds<32> good;
    if (kind() == how::Load) {
      good = mayRead<32>(word, own);
      if (is(how::readers)) {
        Words<32> before = gather(readers, units, mask), after = joined<32>(before, own);
        uint32_t changed = bitsOf(after != before) & mask;
        if (changed) {
          scatter(readers, units, changed, after);
          uint32_t lost = bitsOf(gather(readers, units, changed) != after) & changed;
          for (; lost; lost &= lost - 1) {
            uint32_t lane = uint32_t(__builtin_ctz(lost)), unit = uint32_t(units[lane]);
            readers[unit] = joined<1>(all<1>(readers[unit]), all<1>(own[lane]))[0];
          }
        }
      }
    } else {
      good = kind() == how::Atomic ? mayUpdate<32>(word, own) : isQuiet<32>(word, own);
      if (is(how::readers))
        good &= isQuiet<32>(gather(readers, units, mask), own);
      Words<32> after = kind() == how::Atomic ? all<32>(present | stamp::atomic) : own;
      scatter(writes, units, mask, after);
      if (kind() == how::Store) // of several that write one place only the last one's stays
        good &= gather(writes, units, mask) == after;
    }
    return (bitsOf(~good) & mask) == 0;
  }
};

} // namespace opsight::checks
