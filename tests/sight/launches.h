// A watched launch made by hand: sites and objects as tests name them.
#pragma once
#include "sight/access.h"
#include <string>

namespace opsight::sight {

struct ByHand {
  card::Watch watch;
  card::LaunchConfig config{{1, 1, 1}, {32, 1, 1}};

  uint32_t site(card::Site::Kind kind, card::Space space, unsigned line, uint32_t bytes = 4, int32_t object = -1) {
    watch.sites.push_back({.kind = kind,
                           .space = space,
                           .bytes = bytes,
                           .alignment = bytes,
                           .object = object,
                           .where = {"t.cu", line, 3}});
    return uint32_t(watch.sites.size() - 1);
  }
  int32_t object(const std::string &name, card::Space space, uint64_t bytes, uint64_t offset = 0) {
    watch.objects.push_back({name, space, bytes, 4, offset, false});
    return int32_t(watch.objects.size() - 1);
  }
  card::WatchedLaunch launch() const { return {watch, config, {}}; }
  card::Access access(uint32_t number, const Addresses &addresses, uint32_t mask = ~0u) const {
    return accessOf(watch.sites[number], number, addresses, mask);
  }
};

} // namespace opsight::sight
