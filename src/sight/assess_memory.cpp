// Findings of memory: conflicts of banks, sectors that are moved for little, arrays that live in local memory.
#include "sight/assessment.h"
#include "sight/padding.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace opsight::sight {

namespace {

using Sites = std::vector<const SiteAccesses *>;

std::string verbOf(card::Site::Kind kind) {
  return kind == card::Site::Kind::Load ? "loads" : kind == card::Site::Kind::Store ? "stores" : "atomics";
}

/// Sites of one line and kind, as byLine has them.
std::vector<Sites> grouped(const std::vector<SiteAccesses> &sites) {
  std::map<std::tuple<std::string, unsigned, card::Site::Kind, std::string>, Sites> lines;
  for (const SiteAccesses &site : sites)
    lines[{site.site.where.file, site.site.where.line, site.site.kind, site.site.where.line == 0 ? site.variable : ""}]
        .push_back(&site);
  std::vector<Sites> all;
  for (auto &[key, group] : lines)
    all.push_back(std::move(group));
  return all;
}

/// The sum of a line, the variables that it accesses ("'a' and 'b'"), and the site that exceeds its ideal most.
struct Line {
  LineAccesses sum;
  std::string variables;
  uint64_t taken = 0, ideal = 0;
  const SiteAccesses *worst = nullptr;
  explicit Line(const Sites &sites) {
    worst = *std::ranges::max_element(sites, {}, [](const SiteAccesses *site) { return site->taken - site->ideal; });
    sum.where = worst->site.where, sum.op = worst->site.kind;
    std::set<std::string> names;
    for (const SiteAccesses *site : sites) {
      names.insert(site->variable);
      sum.requests += site->requests, sum.threads += site->threads, sum.bytes += site->bytes();
      taken += site->taken, ideal += site->ideal;
    }
    if (!names.contains(""))
      for (const std::string &name : names)
        variables += (variables.empty() ? "'" : " and '") + name + "'";
  }
  double excess() const { return double(taken - ideal); }
};

const DeclaredArray *declared(const Seen &seen, const std::string &name) {
  const auto found = std::ranges::find(seen.arrays, name, &DeclaredArray::name);
  return found == seen.arrays.end() ? nullptr : &*found;
}

/// "floats" of an array whose element type is known, else "elements of 4 bytes".
std::string elements(const DeclaredArray *array, uint32_t bytes) {
  return array ? array->element + "s" : fmt::format("elements of {} bytes", bytes);
}

std::string whyBanks(const Assessment &in, const Line &line) {
  const std::optional<int64_t> even = evenStride(line.worst->samples);
  const uint64_t step = even ? uint64_t(std::abs(*even)) : usualStep(line.worst->samples), row = in.banks.rowBytes();
  if (line.sum.op == card::Site::Kind::Atomic)
    return "atomics on one word take turns, and so do those on different words of one bank";
  if (step == 0 || line.worst->site.bytes > step)
    return "threads of a warp ask for different words of the same banks";
  const uint64_t places = row / std::max<uint64_t>(std::gcd(step, row), in.banks.width);
  const uint64_t words = std::max(1u, line.worst->site.bytes / in.banks.width); // of a thread
  const uint64_t served = std::min<uint64_t>(in.banks.banks, places * words);
  return fmt::format(
      "neighbouring threads are {} bytes apart, and banks repeat every {} bytes, so a warp's addresses lie in {} of "
      "the {} banks and wait for each other",
      step, row, served, in.banks.banks);
}

void proposePadding(const Assessment &in, const Line &line, Finding &finding) {
  finding.change = "let neighbouring threads take neighbouring words, or store the array so that they do (swizzle the "
                   "column by the row)";
  const int32_t object = line.worst->object;
  if (line.sum.op == card::Site::Kind::Atomic)
    finding.change = "spread the threads over more words: copies of the array for parts of the block, added up at its "
                     "end; or reduce within the warp first";
  if (object < 0 || line.sum.op == card::Site::Kind::Atomic)
    return;
  const card::WatchedObject &array = in.seen.objects[size_t(object)];
  const DeclaredArray *shape = declared(in.seen, array.name);
  uint64_t row = 0;
  if (shape && shape->extents.size() > 1)
    row = shape->extents.back() * (shape->bytes / std::accumulate(shape->extents.begin(), shape->extents.end(),
                                                                  uint64_t(1), std::multiplies()));
  const std::optional<Padding> padding = bestPadding(in.seen.shared, object, array, row, in.banks);
  if (!padding)
    return;
  finding.change = fmt::format("pad the row{} from {} to {} {}: {} wavefronts for all its accesses instead of {}",
                               array.name.empty() ? "" : " of '" + array.name + "'", padding->rowElements,
                               padding->rowElements + padding->elements, elements(shape, array.elementBytes),
                               count(padding->after), count(padding->before));
  if (padding->moreBytes)
    finding.change += fmt::format(", for {} bytes more of shared memory", padding->moreBytes);
  finding.hint = fmt::format("pad={}", padding->elements);
  finding.evidence["padded_wavefronts"] = padding->after, finding.evidence["row"] = double(padding->rowElements);
}

std::string whySectors(const Assessment &in, const Line &line, Finding &finding) {
  const std::optional<int64_t> even = evenStride(line.worst->samples);
  const uint64_t step = even ? uint64_t(std::abs(*even)) : usualStep(line.worst->samples),
                 width = line.worst->site.bytes;
  if (even)
    finding.evidence["stride"] = double(*even);
  const std::string used = fmt::format("of each sector of {} bytes {:.1f} are used", in.sectorBytes,
                                       double(line.ideal) / double(line.taken) * in.sectorBytes);
  if (step == width) {
    finding.change = fmt::format(
        "begin at multiples of {} bytes: pad the rows of the buffer to such a length, or shift the threads by "
        "the part that is over",
        in.sectorBytes);
    return fmt::format(
        "neighbouring threads take neighbouring elements, but a warp's first address is no multiple of {} bytes, so "
        "its run touches a sector more; {}",
        in.sectorBytes, used);
  }
  if (step >= in.sectorBytes) {
    finding.change = "let threadIdx.x run along the dimension that is contiguous in memory; where the algorithm needs "
                     "the other one, load a tile by rows and turn it in shared memory";
    return fmt::format("neighbouring threads are {} bytes apart, so each has a sector to itself; {} (a cache may keep "
                       "the rest until a later access wants it: "
                       "the model has none)",
                       count(double(step)), used);
  }
  if (step > width) {
    finding.change = "load what a thread needs as one vector (float2, float4), or give each member an array of its own";
    return fmt::format("neighbouring threads are {} bytes apart and take {} each; {}", step, width, used);
  }
  finding.change =
      "sort the work so that neighbouring threads take neighbouring elements, or gather through shared memory";
  return "the addresses of a warp are scattered; " + used;
}

} // namespace

void assessBanks(Assessment &in) {
  if (!in.profile.figure("shared_banks"))
    return;
  for (const Sites &sites : grouped(in.seen.shared)) {
    const Line line(sites);
    if (line.excess() <= 0.01 * double(line.ideal))
      continue;
    Finding finding{.kind = "bank_conflict", .where = line.sum.where, .what = {}, .why = {}, .change = {}};
    finding.what =
        fmt::format("{} {} of {} take {} wavefronts of shared memory where {} would do: {:.1f} times as many",
                    count(double(line.sum.requests)), verbOf(line.sum.op),
                    line.variables.empty() ? "shared memory" : line.variables, count(double(line.taken)),
                    count(double(line.ideal)), double(line.taken) / double(line.ideal));
    finding.evidence = {
        {"wavefronts", double(line.taken)}, {"ideal", double(line.ideal)}, {"requests", double(line.sum.requests)}};
    finding.why = whyBanks(in, line);
    proposePadding(in, line, finding);
    in.add(std::move(finding), {.wavefronts = line.excess()});
  }
}

void assessSectors(Assessment &in) {
  if (!in.profile.figure("sector_bytes"))
    return;
  for (const Sites &sites : grouped(in.seen.global)) {
    const Line line(sites);
    if (line.excess() <= 0.01 * double(line.ideal))
      continue;
    Finding finding{.kind = "uncoalesced", .where = line.sum.where, .what = {}, .why = {}, .change = {}};
    finding.what = fmt::format(
        "{} {} of {} move {} sectors of {} bytes where {} would hold what is asked for: {:.1f} times as many",
        count(double(line.sum.requests)), verbOf(line.sum.op),
        line.variables.empty() ? "global memory" : line.variables, count(double(line.taken)), in.sectorBytes,
        count(double(line.ideal)), double(line.taken) / double(line.ideal));
    finding.evidence = {
        {"sectors", double(line.taken)}, {"ideal", double(line.ideal)}, {"requests", double(line.sum.requests)}};
    finding.why = whySectors(in, line, finding);
    in.add(std::move(finding), {.bytes = line.excess() * in.sectorBytes});
  }
}

void assessLocalMemory(Assessment &in) {
  if (in.seen.local.empty() || (in.seen.registers && in.seen.registers->stackBytes == 0))
    return; // nvcc keeps in registers what lies in memory here
  const auto worst = std::ranges::max_element(in.seen.local, {}, &LineAccesses::bytes);
  double bytes = 0, requests = 0;
  for (const LineAccesses &line : in.seen.local)
    bytes += double(line.bytes), requests += double(line.requests);
  Finding finding{.kind = "spill", .where = worst->where, .what = {}, .why = {}, .change = {}};
  finding.what = fmt::format("{} accesses of warps go to {} in local memory", count(requests),
                             worst->variable.empty() ? "arrays" : "'" + worst->variable + "'");
  finding.evidence = {{"requests", requests}, {"bytes", bytes}};
  if (in.seen.registers) {
    finding.what += fmt::format("; ptxas gives each thread {} bytes of it", in.seen.registers->stackBytes);
    finding.evidence["local_bytes"] = double(in.seen.registers->stackBytes);
  }
  finding.why = "registers cannot be indexed: an array whose index is not known when the kernel is compiled lies in "
                "memory, and each "
                "access goes through the L1 cache, however few registers the kernel then counts";
  finding.change = "unroll the loops over its index (#pragma unroll with constant bounds), or keep it in shared memory";
  in.add(std::move(finding), {.wavefronts = bytes / 128});
}

} // namespace opsight::sight
