#include "sight/assess.h"
#include "sight/assessment.h"
#include "sight/observers.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <tuple>

namespace opsight::sight {

std::string count(double value) {
  if (value != std::floor(value) && value < 100)
    return fmt::format("{:.1f}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (size_t at = digits.size(); at > 3;)
    digits.insert(at -= 3, ",");
  return digits;
}

std::string share(double part) {
  return part < 0.1 ? fmt::format("{:.1f} %", 100 * part) : fmt::format("{:.0f} %", 100 * part);
}

std::optional<DeclaredArray> DeclaredArray::parse(const std::string &text, uint64_t bytes) {
  const size_t bracket = text.find('['), space = text.rfind(' ', bracket);
  if (bracket == text.npos || space == text.npos)
    return std::nullopt;
  DeclaredArray array{text.substr(space + 1, bracket - space - 1), text.substr(0, space), {}, bytes};
  for (size_t at = bracket; at < text.size();) {
    const size_t end = text.find(']', at);
    uint64_t extent = 0;
    if (text[at] != '[' || end == text.npos ||
        std::from_chars(text.data() + at + 1, text.data() + end, extent).ptr != text.data() + end || extent == 0)
      return std::nullopt;
    array.extents.push_back(extent);
    at = end + 1;
  }
  return array;
}

void Assessment::add(Finding finding, const Load &saved) {
  const std::optional<double> cost = roofline.cost(load, saved, issueShare);
  finding.cost = cost.value_or(0);
  finding.isCostKnown = cost.has_value();
  if (!cost || *cost >= leastCost)
    keep(std::move(finding));
}

void Assessment::keep(Finding finding) {
  if (finding.where.line == 0) {
    finding.where = seen.where;
    finding.what += " (on lines that the compiler has merged; the place is the kernel's)";
  }
  result.findings.push_back(std::move(finding));
}

namespace {

/// Threads that are not there cost a warp's arithmetic as much as those that are.
Load loadOf(const Findings &result, uint32_t sectorBytes) {
  Load load;
  for (const LineAccesses &line : result.accesses) {
    load.bytes += double(line.sectors) * sectorBytes;
    load.wavefronts += line.space == card::Space::Local ? double(line.bytes) / 128 : double(line.wavefronts);
  }
  for (const LineWork &line : result.work) {
    load.instructions += double(line.instructions);
    load.flops += line.threads > 0 ? double(line.flops) / line.threads : 0;
  }
  return load;
}

void noteWhatIsUnknown(const Seen &seen, const card::Profile &profile, Findings &result) {
  auto note = [&](std::string text) { result.notes.push_back(std::move(text)); };
  if (!seen.registers)
    note("registers are unknown: " + seen.registersWhy +
         (result.occupancy ? "; occupancy is told as if they limited nothing" : ""));
  if (!result.occupancy)
    note("occupancy is unknown on this profile: it lacks the figures");
  for (const std::string &resource : result.model.unknown)
    note(resource + ": unknown on this profile, so no cost counts it");
  if (!profile.figure("shared_banks"))
    note("bank conflicts are unknown on this profile: the table's wavefronts are those of 32 banks of 4 bytes");
  if (!profile.figure("sector_bytes"))
    note("sectors are unknown on this profile: the table's are of 32 bytes");
}

void sortFindings(std::vector<Finding> &findings) {
  std::ranges::sort(findings, {}, [](const Finding &finding) {
    return std::tuple(!finding.isFault, finding.isBenign, -finding.cost, finding.where.file, finding.where.line,
                      finding.kind);
  });
}

void tellOccupancy(const Seen &seen, const card::Profile &profile, Findings &result) {
  const std::optional<SmLimits> sm = SmLimits::of(profile);
  if (!sm)
    return;
  BlockNeeds needs{seen.launch.block.count(), seen.staticSharedBytes + seen.launch.dynamicSharedBytes, {}};
  if (seen.registers)
    needs.registers = seen.registers->registers;
  result.occupancy = occupancyOf(*sm, needs);
  result.occupancy->registersSource = seen.registers ? "ptxas" : seen.registersWhy;
  if (seen.registers)
    result.occupancy->localBytes = seen.registers->stackBytes,
    result.occupancy->spillBytes = seen.registers->spillStores + seen.registers->spillLoads;
}

/// With W warps that each wait for their own instruction, an SM issues W / latency of them a clock.
double issueShareOf(const Findings &result, const card::Profile &profile) {
  const std::optional<double> needed = profile.figure("warps_to_hide_arithmetic");
  if (!needed || !result.occupancy || result.occupancy->warpsPerSm == 0)
    return 1;
  return std::min(1.0, result.occupancy->warpsPerSm / *needed);
}

} // namespace

Findings assess(const Seen &seen, const card::Profile &profile) {
  Findings result;
  result.kernel = seen.kernel, result.card = profile.name, result.caseName = seen.caseName;
  result.work = seen.work;
  for (const std::vector<LineAccesses> &lines : {byLine(seen.shared, true), byLine(seen.global, false), seen.local})
    result.accesses.insert(result.accesses.end(), lines.begin(), lines.end());
  std::ranges::sort(result.accesses, {}, [](const LineAccesses &line) {
    return std::tuple(line.where.file, line.where.line, line.space, line.op, line.variable);
  });
  tellOccupancy(seen, profile, result);

  Assessment assessment{seen, profile, Roofline(profile), {}, 1, 32, {}, result};
  assessment.sectorBytes = uint32_t(profile.figure("sector_bytes").value_or(32));
  assessment.banks = {uint32_t(profile.figure("shared_banks").value_or(32)),
                      uint32_t(profile.figure("shared_bank_bytes").value_or(4))};
  assessment.load = loadOf(result, assessment.sectorBytes);
  assessment.issueShare = issueShareOf(result, profile);
  result.totals = totalsOf(result.accesses, result.work, assessment.sectorBytes);
  result.model = assessment.roofline.model(assessment.load, assessment.issueShare);
  result.findings = seen.faults;
  for (auto piece : {assessLimits, assessBanks, assessSectors, assessLocalMemory, assessOccupancy, assessIdleThreads})
    piece(assessment);
  sortFindings(result.findings);
  noteWhatIsUnknown(seen, profile, result);
  return result;
}

} // namespace opsight::sight
