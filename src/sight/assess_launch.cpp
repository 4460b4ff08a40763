// Findings of the launch: limits of the card that it breaks, warps that do not fit, registers that spill.
#include "sight/assessment.h"
#include <algorithm>
#include <fmt/format.h>

namespace opsight::sight {

namespace {

Finding limitFinding(const Assessment &in, std::string what, double value, double limit) {
  Finding finding{.kind = "launch_limit", .where = in.seen.where, .what = std::move(what), .why = {}, .change = {}};
  finding.evidence = {{"value", value}, {"limit", limit}};
  finding.cost = 1, finding.isFault = true;
  finding.why = fmt::format("{} refuses the launch: the kernel does not run at all there", in.profile.name);
  return finding;
}

void checkThreads(Assessment &in) {
  const double threads = double(in.seen.launch.block.count());
  const std::optional<double> limit = in.profile.figure("max_threads_per_block");
  if (!limit || threads <= *limit)
    return;
  Finding finding =
      limitFinding(in, fmt::format("a block has {} threads; {} are the most", threads, *limit), threads, *limit);
  finding.change = fmt::format("launch blocks of at most {} threads", *limit);
  in.keep(std::move(finding));
}

void checkGrid(Assessment &in) {
  const double most = std::max(in.seen.launch.grid.y, in.seen.launch.grid.z);
  const std::optional<double> limit = in.profile.figure("max_grid_y");
  if (!limit || most <= *limit)
    return;
  Finding finding =
      limitFinding(in, fmt::format("the grid's y or z is {}; {} are the most", most, *limit), most, *limit);
  finding.change = "move the long dimension to x, or loop over it in the kernel";
  in.keep(std::move(finding));
}

void checkShared(Assessment &in) {
  const double fixed = double(in.seen.staticSharedBytes), all = fixed + double(in.seen.launch.dynamicSharedBytes);
  const std::optional<double> forStatic = in.profile.figure("shared_bytes_static"),
                              most = in.profile.figure("shared_bytes_per_block");
  if (forStatic && fixed > *forStatic) {
    Finding finding = limitFinding(
        in, fmt::format("static shared arrays take {} bytes; {} are the most", fixed, *forStatic), fixed, *forStatic);
    finding.change = most && all <= *most
                         ? "make the arrays one `extern __shared__` array, and allow its size by cudaFuncSetAttribute"
                         : "smaller tiles, or narrower elements";
    in.keep(std::move(finding));
  } else if (most && all > *most) {
    Finding finding = limitFinding(
        in, fmt::format("a block asks for {} bytes of shared memory; {} are the most", all, *most), all, *most);
    finding.change = fmt::format("smaller tiles or fewer stages: {} bytes are too many", all - *most);
    in.keep(std::move(finding));
  } else if (forStatic && most && all > *forStatic) {
    Finding finding = limitFinding(
        in,
        fmt::format("a block asks for {} bytes of shared memory, over the {} that a launch gets without asking", all,
                    *forStatic),
        all, *forStatic);
    finding.cost = 0, finding.isFault = false;
    finding.why =
        fmt::format("{} has up to {} bytes for a block, but only for kernels that opt in", in.profile.name, *most);
    finding.change = "the host must call cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, "
                     "bytes) before the launch";
    in.keep(std::move(finding));
  }
}

void checkRegisters(Assessment &in) {
  const std::optional<Occupancy> &occupancy = in.result.occupancy;
  if (!occupancy || occupancy->blocksPerSm > 0 || !in.seen.registers ||
      occupancy->limitedBy.find("registers") == std::string::npos)
    return;
  const double threads = double(in.seen.launch.block.count()), registers = in.seen.registers->registers;
  if (threads > in.profile.figure("max_threads_per_block").value_or(threads))
    return; // told already
  const double limit = in.profile.figure("registers_per_block").value_or(0);
  Finding finding = limitFinding(
      in, fmt::format("{} registers by {} threads of a block are over the {} of an SM", registers, threads, limit),
      registers * threads, limit);
  finding.change =
      fmt::format("say __launch_bounds__({}), so that the compiler keeps to {} registers, or launch smaller blocks",
                  threads, uint32_t(limit / threads) / 8 * 8);
  in.keep(std::move(finding));
}

void checkSpills(Assessment &in) {
  if (!in.seen.registers || in.seen.registers->spillLoads + in.seen.registers->spillStores == 0)
    return;
  const Registers &told = *in.seen.registers;
  const double bytes = double(told.spillLoads + told.spillStores);
  Finding finding{.kind = "spill", .where = in.seen.where, .what = {}, .why = {}, .change = {}};
  finding.what = fmt::format("ptxas spills: {} bytes of stores and {} of loads a thread, with {} registers",
                             told.spillStores, told.spillLoads, told.registers);
  finding.evidence = {{"spill_stores", double(told.spillStores)},
                      {"spill_loads", double(told.spillLoads)},
                      {"registers", double(told.registers)}};
  finding.why = "a value that fits no register goes to local memory and comes back through the L1 cache; the cost is "
                "the least there "
                "is, as if each spill were passed once (how often is not known here)";
  finding.change = "fewer values alive at once: a smaller tile a thread, less unrolling; or a looser __launch_bounds__";
  Load more = in.load;
  more.wavefronts += in.threads() * bytes / 128;
  finding.cost = in.roofline.cost(more, {.wavefronts = in.threads() * bytes / 128}, in.issueShare).value_or(0);
  in.keep(std::move(finding));
}

/// What would let one more block fit, for each limit that binds.
std::string roomForOneMore(const Assessment &in) {
  const SmLimits sm = *SmLimits::of(in.profile);
  const Occupancy &now = *in.result.occupancy;
  std::string text;
  auto say = [&](const std::string &part) { text += (text.empty() ? "" : ", and ") + part; };
  BlockNeeds needs{in.seen.launch.block.count(), now.sharedBytes, now.registers};
  auto moreFit = [&](const BlockNeeds &with) { return occupancyOf(sm, with).blocksPerSm > now.blocksPerSm; };
  for (uint32_t registers = now.registers.value_or(0); registers >= 16; --registers)
    if (BlockNeeds with{needs.threads, 0, registers};
        now.limitedBy.find("registers") != std::string::npos && moreFit(with)) {
      say(fmt::format("at {} registers a thread instead of {} another block would fit (__launch_bounds__({}, {}))",
                      registers, *now.registers, needs.threads, now.blocksPerSm + 1));
      break;
    }
  if (now.limitedBy.find("shared memory") != std::string::npos) {
    const uint64_t each = sm.shared / (now.blocksPerSm + 1) / std::max<uint64_t>(1, sm.sharedUnit) * sm.sharedUnit;
    if (each > sm.sharedReserved)
      say(fmt::format("at {} bytes of shared memory a block instead of {} another would fit: smaller tiles, or fewer",
                      each - sm.sharedReserved, now.sharedBytes));
  }
  if (now.limitedBy.find("blocks") != std::string::npos)
    say(fmt::format("blocks of more than {} threads would bring more warps: an SM holds {} blocks at most",
                    needs.threads, sm.blocks));
  if (now.limitedBy.find("warps") != std::string::npos)
    say(fmt::format("blocks of {} threads leave no room for another among {} warps; smaller ones would", needs.threads,
                    sm.warps));
  return text;
}

} // namespace

void assessLimits(Assessment &in) {
  checkThreads(in);
  checkGrid(in);
  checkShared(in);
  checkRegisters(in);
  checkSpills(in);
}

void assessOccupancy(Assessment &in) {
  const std::optional<Occupancy> &occupancy = in.result.occupancy;
  if (!occupancy || occupancy->blocksPerSm == 0 || in.issueShare >= 1)
    return;
  const std::optional<double> cost = in.roofline.costOfFewWarps(in.load, in.issueShare);
  if (!cost || *cost < leastCost)
    return;
  const double needed = *in.profile.figure("warps_to_hide_arithmetic"), warps = occupancy->warpsPerSm;
  Finding finding{.kind = "low_occupancy", .where = in.seen.where, .what = {}, .cost = *cost, .why = {}, .change = {}};
  finding.what = fmt::format("{} warps fit an SM ({:.1f} %), {} block{}, limited by {}", warps, occupancy->percent,
                             occupancy->blocksPerSm, occupancy->blocksPerSm == 1 ? "" : "s", occupancy->limitedBy);
  finding.evidence = {{"warps", warps}, {"percent", occupancy->percent}, {"needed", needed}};
  finding.why = fmt::format(
      "plain arithmetic has a latency that {} warps hide; with {} an SM issues at most {} of what it could, "
      "where each instruction waits for the one before (independent instructions in a thread make up for it)",
      needed, warps, share(in.issueShare));
  finding.change = roomForOneMore(in);
  in.keep(std::move(finding));
}

} // namespace opsight::sight
