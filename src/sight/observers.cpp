#include "sight/observers.h"
#include <algorithm>

namespace opsight::sight {

void Banks::access(const card::Access &access) {
  if (access.space != card::Space::Shared || access.mask == 0)
    return;
  const bool exclusive = access.site.kind == card::Site::Kind::Atomic;
  const Wavefronts result = cache.of(access, geometry.rowBytes(), exclusive, [&](const auto &addresses) {
    return wavefrontsOf(addresses, access.mask, access.site.bytes, geometry, exclusive);
  });
  tally.add(access, result.taken, result.ideal);
}

void Coalescing::access(const card::Access &access) {
  if (access.space != card::Space::Global || access.mask == 0)
    return;
  const Sectors result = cache.of(access, sectorBytes, 0, [&](const auto &addresses) {
    return sectorsOf(addresses, access.mask, access.site.bytes, sectorBytes);
  });
  tally.add(access, result.taken, result.ideal);
}

void Counts::begins(const card::WatchedLaunch &launch) {
  watch = &launch.watch;
  tally.begins(launch);
  lines.clear();
}

void Counts::access(const card::Access &access) {
  if (access.space == card::Space::Local && access.mask != 0)
    tally.add(access, 0, 0);
}

void Counts::ends(std::span<const card::BlockVisits> visits) {
  std::map<std::pair<std::string, unsigned>, LineWork> all;
  std::map<const LineWork *, double> lanes; // thread instructions
  for (size_t block = 0; block < std::min(visits.size(), watch->blocks.size()); ++block)
    for (const card::LineCounts &counts : watch->blocks[block]) {
      const card::BlockVisits &by = visits[block];
      if (by.warps == 0)
        continue;
      auto [found, isNew] = all.try_emplace({counts.where.file, counts.where.line});
      LineWork &line = found->second;
      if (isNew)
        line.where = counts.where;
      line.where.column = std::min(line.where.column, counts.where.column);
      line.instructions += counts.instructions * by.warps;
      lanes[&line] += double(counts.instructions) * double(by.threads);
      line.flops += counts.flops * by.threads, line.loads += counts.loads * by.threads;
      line.stores += counts.stores * by.threads, line.atomics += counts.atomics * by.threads;
      line.integers += counts.integers * by.threads, line.specials += counts.specials * by.threads;
      line.branches += counts.branches * by.threads;
    }
  lines.clear();
  for (auto &[key, line] : all) {
    line.threads = line.instructions ? lanes[&line] / (32.0 * double(line.instructions)) : 0;
    lines.push_back(std::move(line));
  }
}

Totals totalsOf(std::span<const LineAccesses> accesses, std::span<const LineWork> work, uint32_t sectorBytes) {
  Totals totals;
  for (const LineAccesses &line : accesses) {
    (line.space == card::Space::Global ? totals.globalBytes : totals.sharedBytes) +=
        line.space == card::Space::Local ? 0 : line.bytes;
    totals.movedBytes += line.sectors * sectorBytes;
  }
  double instructions = 0, lanes = 0;
  for (const LineWork &line : work) {
    totals.flops += line.flops;
    instructions += double(line.instructions), lanes += double(line.instructions) * line.threads;
  }
  totals.intensity = totals.movedBytes ? double(totals.flops) / double(totals.movedBytes) : 0;
  totals.lanesActive = instructions > 0 ? lanes / instructions : 1;
  return totals;
}

} // namespace opsight::sight
