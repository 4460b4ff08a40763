// Warps come by the same few patterns of addresses over and over: what a model says of one is kept. A pattern is where
// each thread stands from the first one, the first one's place within `period` bytes (where the model repeats itself),
// the mask and the width; a match is exact, never by hash alone.
#pragma once
#include "card/watch.h"
#include <bit>
#include <vector>

namespace opsight::sight {

struct Pattern {
  std::array<int32_t, 32> steps{}; // from the first thread that takes part; of absent threads 0
  uint32_t mask = 0, bytes = 0, phase = 0, flags = 0;
  bool operator==(const Pattern &) const = default;

  /// Of `access`; false where two threads are more than 2 GiB apart.
  bool read(const card::Access &access, uint32_t period, uint32_t flag) {
    const uint64_t base = access.addresses[std::countr_zero(access.mask)];
    mask = access.mask, bytes = access.site.bytes, phase = uint32_t(base % period), flags = flag;
    uint64_t far = 0;
    for (uint32_t i = 0; i < 32; ++i) {
      const uint64_t present = -uint64_t(access.mask >> i & 1), step = (access.addresses[i] - base) & present;
      far |= (step + (1ull << 31)) >> 32;
      steps[i] = int32_t(step);
    }
    return far == 0;
  }

  uint64_t hash() const {
    uint64_t lanes[4] = {mask, bytes, phase, flags};
    for (uint32_t i = 0; i < 32; i += 8)
      for (uint32_t j = 0; j < 4; ++j) {
        const uint64_t pair = uint64_t(uint32_t(steps[i + 2 * j])) << 32 | uint32_t(steps[i + 2 * j + 1]);
        lanes[j] = (lanes[j] ^ pair) * 0x9E3779B97F4A7C15ull;
        lanes[j] ^= lanes[j] >> 32;
      }
    const uint64_t all = (lanes[0] * 3 + lanes[1] * 5 + lanes[2] * 7 + lanes[3]) * 0xD6E8FEB86659FD93ull;
    return all ^ all >> 32;
  }
};

template <class Answer> class PatternCache {
public:
  /// What `model` says of the addresses in `access`.
  template <class Model> Answer of(const card::Access &access, uint32_t period, uint32_t flags, Model &&model) {
    Pattern pattern;
    if (!pattern.read(access, period, flags))
      return model(access.addresses);
    Slot &slot = slots[pattern.hash() % slots.size()];
    if (!slot.used || slot.pattern != pattern)
      slot = {pattern, model(access.addresses), true};
    return slot.answer;
  }

private:
  struct Slot {
    Pattern pattern;
    Answer answer{};
    bool used = false;
  };
  std::vector<Slot> slots = std::vector<Slot>(1024);
};

} // namespace opsight::sight
