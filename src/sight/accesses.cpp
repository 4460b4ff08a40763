#include "sight/accesses.h"
#include <algorithm>
#include <bit>
#include <tuple>

namespace opsight::sight {

void AccessTally::begins(const card::WatchedLaunch &launch) {
  watch = &launch.watch;
  counters.assign(watch->sites.size() * spaces, {});
}

void AccessTally::sample(Counters &of, const card::Access &access) {
  of.samples.push_back({access.addresses, access.mask});
  const uint64_t next = of.nextSample + of.lastSample;
  of.lastSample = of.nextSample, of.nextSample = next;
}

void AccessTally::add(const card::Access &access, uint64_t taken, uint64_t ideal) {
  Counters &counter = counters[access.number * spaces + size_t(access.space)];
  if (++counter.requests == 1)
    counter.object = access.object;
  counter.mixed |= counter.object != access.object;
  counter.threads += uint64_t(std::popcount(access.mask));
  counter.taken += taken, counter.ideal += ideal;
  if (counter.requests == counter.nextSample)
    sample(counter, access);
}

std::vector<SiteAccesses> AccessTally::sites() const {
  std::vector<SiteAccesses> all;
  for (size_t i = 0; i < counters.size(); ++i) {
    const Counters &from = counters[i];
    if (from.requests == 0)
      continue;
    SiteAccesses site;
    site.site = watch->sites[i / spaces], site.space = card::Space(i % spaces);
    site.object = from.mixed ? -1 : from.object;
    if (site.object >= 0)
      site.variable = watch->objects[size_t(site.object)].name;
    site.requests = from.requests, site.threads = from.threads, site.taken = from.taken, site.ideal = from.ideal;
    site.samples = from.samples;
    all.push_back(std::move(site));
  }
  return all;
}

std::vector<LineAccesses> byLine(std::span<const SiteAccesses> sites, bool inWavefronts) {
  std::map<std::tuple<std::string, unsigned, card::Space, card::Site::Kind, std::string>, LineAccesses> lines;
  for (const SiteAccesses &from : sites) {
    const SourcePlace &where = from.site.where;
    const std::string apart =
        where.line == 0 ? from.variable : ""; // lines that the compiler merged are told by variable
    auto [found, isNew] = lines.try_emplace({where.file, where.line, from.space, from.site.kind, apart});
    LineAccesses &line = found->second;
    if (isNew)
      line.where = where, line.space = from.space, line.op = from.site.kind, line.variable = from.variable;
    else if (line.variable != from.variable)
      line.variable.clear();
    line.where.column = std::min(line.where.column, where.column);
    line.requests += from.requests, line.threads += from.threads, line.bytes += from.bytes();
    if (inWavefronts)
      line.wavefronts += from.taken, line.idealWavefronts += from.ideal;
    else if (from.space == card::Space::Global)
      line.sectors += from.taken, line.idealSectors += from.ideal;
  }
  std::vector<LineAccesses> all;
  for (auto &[key, line] : lines)
    all.push_back(std::move(line));
  return all;
}

/// Calls `see` with the distance between each two neighbours that both take part.
template <class See> static void neighbours(const Sample &passage, See &&see) {
  for (uint32_t i = 1; i < 32; ++i)
    if ((passage.mask >> (i - 1) & 3) == 3)
      see(int64_t(passage.addresses[i] - passage.addresses[i - 1]));
}

std::optional<int64_t> evenStride(std::span<const Sample> samples) {
  std::optional<int64_t> stride;
  bool even = true;
  for (const Sample &passage : samples)
    neighbours(passage, [&](int64_t step) {
      even &= !stride || *stride == step;
      stride = step;
    });
  return even ? stride : std::nullopt;
}

uint64_t usualStep(std::span<const Sample> samples) {
  std::map<uint64_t, uint64_t> seen;
  for (const Sample &passage : samples)
    neighbours(passage, [&](int64_t step) {
      if (step != 0)
        ++seen[uint64_t(std::abs(step))];
    });
  auto most = std::ranges::max_element(seen, {}, [](const auto &entry) { return entry.second; });
  return most == seen.end() ? 0 : most->first;
}

} // namespace opsight::sight
