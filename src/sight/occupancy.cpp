#include "sight/occupancy.h"
#include "base/text.h"
#include <algorithm>

namespace opsight::sight {

namespace {

uint64_t roundUp(uint64_t value, uint64_t unit) { return unit ? (value + unit - 1) / unit * unit : value; }
uint64_t roundDown(uint64_t value, uint64_t unit) { return unit ? value / unit * unit : value; }

uint64_t byRegisters(const SmLimits &sm, uint64_t warpsOfBlock, uint32_t registers) {
  if (registers > sm.registersPerThread)
    return 0;
  const uint64_t ofWarp = roundUp(uint64_t(registers) * sm.warpWidth, sm.registerUnit);
  if (ofWarp == 0)
    return UINT64_MAX;
  const uint64_t warps = roundDown(sm.registersPerBlock / ofWarp, sm.warpGranularity);
  return warps / warpsOfBlock * (sm.registers / sm.registersPerBlock);
}

uint64_t byShared(const SmLimits &sm, uint64_t bytes) {
  if (bytes > sm.sharedPerBlock)
    return 0;
  const uint64_t ofBlock = roundUp(bytes + sm.sharedReserved, sm.sharedUnit);
  return ofBlock ? sm.shared / ofBlock : UINT64_MAX;
}

} // namespace

std::optional<SmLimits> SmLimits::of(const card::Profile &profile) {
  bool complete = true;
  auto figure = [&](const char *key) -> uint64_t {
    std::optional<double> value = profile.figure(key);
    complete &= value.has_value();
    return uint64_t(value.value_or(0));
  };
  SmLimits sm;
  sm.warpWidth = profile.warpWidth;
  sm.warps = uint32_t(figure("max_warps_per_sm")), sm.blocks = uint32_t(figure("max_blocks_per_sm"));
  sm.threadsPerBlock = uint32_t(figure("max_threads_per_block"));
  sm.registers = uint32_t(figure("registers_per_sm")), sm.registersPerBlock = uint32_t(figure("registers_per_block"));
  sm.registersPerThread = uint32_t(figure("max_registers_per_thread"));
  sm.registerUnit = uint32_t(figure("register_allocation_unit"));
  sm.warpGranularity = uint32_t(figure("warp_allocation_granularity"));
  sm.shared = figure("shared_bytes_per_sm"), sm.sharedPerBlock = figure("shared_bytes_per_block");
  sm.sharedStatic = figure("shared_bytes_static"), sm.sharedReserved = figure("shared_bytes_reserved");
  sm.sharedUnit = figure("shared_allocation_unit");
  return complete ? std::optional(sm) : std::nullopt;
}

Occupancy occupancyOf(const SmLimits &sm, const BlockNeeds &block) {
  const uint64_t warps = std::max<uint64_t>(1, roundUp(block.threads, sm.warpWidth) / sm.warpWidth);
  std::vector<std::pair<std::string, uint64_t>> limits = {
      {"warps", block.threads > sm.threadsPerBlock ? 0 : sm.warps / warps},
      {"blocks", sm.blocks},
      {"shared memory", byShared(sm, block.sharedBytes)}};
  if (block.registers)
    limits.insert(limits.begin(), {"registers", byRegisters(sm, warps, *block.registers)});
  const uint64_t blocks = std::ranges::min_element(limits, {}, &std::pair<std::string, uint64_t>::second)->second;
  std::vector<std::string> tightest;
  for (const auto &[name, most] : limits)
    if (most == blocks)
      tightest.push_back(name);
  Occupancy occupancy;
  occupancy.registers = block.registers, occupancy.sharedBytes = block.sharedBytes;
  occupancy.blocksPerSm = uint32_t(blocks), occupancy.warpsPerSm = uint32_t(blocks * warps);
  occupancy.percent = sm.warps ? 100.0 * double(occupancy.warpsPerSm) / sm.warps : 0;
  occupancy.limitedBy = join(tightest, ", ");
  return occupancy;
}

uint32_t unifiedRegisters(uint32_t vector, uint32_t accumulation) {
  return uint32_t(roundUp(vector, 8)) + accumulation;
}

} // namespace opsight::sight
