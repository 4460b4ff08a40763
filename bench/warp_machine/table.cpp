#include "table.h"
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace opsight::bench {
namespace {

std::string milliseconds(const Part &part) {
  if (!part.contender)
    return "no device";
  if (!part.failure.empty())
    return part.isWrong ? "WRONG" : "refused";
  return fmt::format("{:.3f}", part.seconds.median * 1e3);
}

std::string ratio(const Part &part) {
  if (part.ratio.median == 0)
    return "-";
  return fmt::format("{:.2f} [{:.2f} {:.2f}]", part.ratio.median, part.ratio.low, part.ratio.high);
}

struct Mean {
  double logs = 0;
  int count = 0, won = 0;
};
Mean geometricMean(const std::vector<Outcome> &outcomes, size_t part, bool usesWarps) {
  Mean mean;
  for (const Outcome &outcome : outcomes)
    if (double median = outcome.parts[part].ratio.median; median > 0 && outcome.usesWarps == usesWarps) {
      mean.logs += std::log(median);
      mean.won += median > 1;
      ++mean.count;
    }
  return mean;
}

} // namespace

std::string tableHead(const std::vector<Part> &parts) {
  std::string line = fmt::format("{:<20} {:<23}", "kernel", "size");
  for (const Part &part : parts)
    line += fmt::format(" {:>12}", part.label);
  for (size_t i = 1; i < parts.size(); ++i)
    line += fmt::format("  {:>20}", parts[i].label + " / " + parts[0].label);
  return line + fmt::format("  {:>24}  {}\n{:<20} {:<23}{}\n", "rate of " + parts[0].label, "share [95 %]", "", "",
                            fmt::format(" {:>12}", "ms a launch"));
}

std::string tableRow(const Outcome &outcome) {
  std::string line = fmt::format("{:<20} {:<23}", outcome.name + (outcome.usesWarps ? " *" : ""), outcome.size);
  for (const Part &part : outcome.parts)
    line += fmt::format(" {:>12}", milliseconds(part));
  for (size_t i = 1; i < outcome.parts.size(); ++i)
    line += fmt::format("  {:>20}", ratio(outcome.parts[i]));
  const Part &first = outcome.parts.front();
  if (outcome.roof != Roof::None && first.seconds.median > 0)
    line += fmt::format("  {:>7.1f} of {:>6.1f} {:<7}  {:.0f} % [{:.0f} {:.0f}] of the {}",
                        outcome.work / first.seconds.median / 1e9, outcome.roofRate.median,
                        outcome.roof == Roof::Peak ? "GFLOP/s" : "GB/s", 100 * outcome.share.median,
                        100 * outcome.share.low, 100 * outcome.share.high,
                        outcome.roof == Roof::Peak ? "peak" : "copy");
  line += "\n";
  for (const Part &part : outcome.parts)
    if (!part.failure.empty())
      line += fmt::format("  {}: {}\n", part.label, part.failure);
  for (const Part &part : outcome.parts)
    if (std::string suspicion = part.suspicion(); !suspicion.empty())
      line += fmt::format("  {}: {}\n", part.label, suspicion);
  return line;
}

std::string tableEnd(const std::vector<Outcome> &outcomes) {
  std::string text;
  for (bool usesWarps : {false, true})
    for (size_t i = 1; !outcomes.empty() && i < outcomes[0].parts.size(); ++i)
      if (Mean mean = geometricMean(outcomes, i, usesWarps); mean.count)
        text += fmt::format("geometric mean of {} / {}: {:.2f} over the {} kernels {} warp operations{}, {} of them over 1\n",
                            outcomes[0].parts[i].label, outcomes[0].parts[0].label, std::exp(mean.logs / mean.count),
                            mean.count, usesWarps ? "with" : "without", usesWarps ? " (*)" : "", mean.won);
  return text;
}

std::string json(const std::vector<Outcome> &outcomes, const std::string &machine) {
  using Json = nlohmann::ordered_json;
  auto interval = [](const judge::Interval &i) { return Json{i.median, i.low, i.high}; };
  Json kernels = Json::array(), means = Json::object();
  for (const Outcome &outcome : outcomes) {
    Json parts = Json::object();
    for (const Part &part : outcome.parts) {
      Json &row = parts[part.label];
      row["status"] = !part.contender ? "no device" : part.failure.empty() ? "right" : part.isWrong ? "wrong" : "refused";
      row["notes"] = part.notes;
      if (!part.failure.empty())
        row["why"] = part.failure;
      if (!part.turns.empty())
        row.update(Json{{"seconds", interval(part.seconds)}, {"ratio", interval(part.ratio)}, {"turns", part.turns}});
    }
    Json row{{"kernel", outcome.name}, {"size", outcome.size}, {"uses_warps", outcome.usesWarps}, {"machines", parts}};
    if (outcome.roof != Roof::None && outcome.share.median > 0)
      row.update(Json{{"roof", outcome.roof == Roof::Peak ? "peak" : "copy"},
                      {outcome.roof == Roof::Peak ? "flops" : "bytes", outcome.work},
                      {"roof_giga_per_second", interval(outcome.roofRate)},
                      {"share", interval(outcome.share)}});
    kernels.push_back(std::move(row));
  }
  for (size_t i = 1; !outcomes.empty() && i < outcomes[0].parts.size(); ++i)
    for (bool usesWarps : {false, true})
      if (Mean mean = geometricMean(outcomes, i, usesWarps); mean.count)
        means[outcomes[0].parts[i].label][usesWarps ? "with_warp_operations" : "without"] = std::exp(mean.logs / mean.count);
  Json all{{"schema", "opsight.bench.warp_machine/1"}, {"machine", machine}, {"kernels", kernels},
           {"geometric_means", means}};
  return all.dump(1) + "\n";
}

} // namespace opsight::bench
