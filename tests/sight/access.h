// Accesses of a warp as tests write them: thread i at base + stride * i.
#pragma once
#include "card/watch.h"

namespace opsight::sight {

using Addresses = std::array<uint64_t, 32>;

template <class Place> Addresses addressesOf(Place &&place) {
  Addresses all;
  for (uint32_t i = 0; i < 32; ++i)
    all[i] = uint64_t(place(i));
  return all;
}
inline Addresses strided(uint64_t bytes, uint64_t base = 0) {
  return addressesOf([&](uint32_t i) { return base + bytes * i; });
}

inline card::Access accessOf(const card::Site &site, uint32_t number, const Addresses &addresses, uint32_t mask = ~0u) {
  card::Access access{{site, number, 0, 0, mask}, site.space, site.object};
  access.addresses = addresses;
  access.summarise(std::nullopt);
  return access;
}

} // namespace opsight::sight
