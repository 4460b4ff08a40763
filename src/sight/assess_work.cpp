// Findings of work: instructions that a warp issues for few of its threads.
#include "sight/assessment.h"
#include <cmath>
#include <fmt/format.h>

namespace opsight::sight {

namespace {

/// Neighbouring lines that as many threads take part in: one region of the source.
struct Region {
  const LineWork *first = nullptr, *last = nullptr;
  double instructions = 0, idle = 0, idleFlops = 0; // idle: as many instructions as the absent threads would fill

  explicit Region(const LineWork &line) : first(&line), last(&line) { add(line); }
  bool takes(const LineWork &line) const {
    return line.where.file == first->where.file && std::abs(line.threads - first->threads) < 0.02;
  }
  void add(const LineWork &line) {
    last = &line;
    instructions += double(line.instructions), idle += double(line.instructions) * (1 - line.threads);
    idleFlops += line.threads > 0 ? double(line.flops) * (1 / line.threads - 1) : 0;
  }
};

std::vector<Region> regionsOf(const std::vector<LineWork> &work) {
  std::vector<Region> regions;
  for (const LineWork &line : work)
    if (!regions.empty() && regions.back().takes(line))
      regions.back().add(line);
    else
      regions.emplace_back(line);
  return regions;
}

} // namespace

void assessIdleThreads(Assessment &in) {
  if (in.profile.warpWidth == 1)
    return;
  const uint64_t rest = in.seen.launch.block.count() % 32;
  for (const Region &region : regionsOf(in.seen.work)) {
    if (region.idle <= 0.01 * region.instructions)
      continue;
    Finding finding{.kind = "divergence", .where = region.first->where, .what = {}, .why = {}, .change = {}};
    const double taking = 1 - region.idle / region.instructions;
    const std::string lines = region.first == region.last
                                  ? fmt::format("line {}", region.first->where.line)
                                  : fmt::format("lines {} to {}", region.first->where.line, region.last->where.line);
    finding.what =
        fmt::format("on {} {:.1f} of a warp's 32 threads take part in the mean, over {} instructions of warps", lines,
                    32 * taking, count(region.instructions));
    finding.evidence = {{"threads", 32 * taking},
                        {"instructions", region.instructions},
                        {"last_line", double(region.last->where.line)}};
    finding.why = fmt::format("a warp issues an instruction once, whoever takes part: {} of these slots do nothing",
                              share(1 - taking));
    finding.change = "let whole warps go one way: branch on threadIdx.x / 32 rather than on the lane, or give "
                     "neighbouring threads like work";
    if (rest != 0) {
      finding.why += fmt::format("; a block of {} threads leaves {} of its last warp empty",
                                 in.seen.launch.block.count(), 32 - rest);
      finding.change = "make the block a multiple of 32 threads; " + finding.change;
    }
    in.add(std::move(finding), {.flops = region.idleFlops, .instructions = region.idle});
  }
}

} // namespace opsight::sight
