#include "report/findings_text.h"
#include "report/findings_json.h"
#include "report/width.h"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace opsight::report {

namespace {

using Rows = std::vector<std::vector<std::string>>;
constexpr size_t barWidth = 16, shortBar = 12;

std::string place(const SourcePlace &where) {
  if (where.line == 0)
    return "(merged)"; // by the compiler, from several lines
  return fmt::format("{}:{}", std::filesystem::path(where.file).filename().string(), where.line);
}

std::string percent(double part) {
  return part < 0.0995 ? fmt::format("{:.1f} %", 100 * part) : fmt::format("{:.0f} %", 100 * part);
}

/// "786 k", to be followed by what it counts.
std::string withUnit(double value) {
  static constexpr std::pair<double, const char *> units[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto &[unit, name] : units)
    if (value >= 10 * unit)
      return fmt::format("{:.0f} {}", value / unit, name);
  return fmt::format("{:.0f} ", value);
}

/// For a column whose heading says of what.
std::string figure(double value) {
  std::string text = withUnit(value);
  return text.ends_with(' ') ? text.substr(0, text.size() - 1) : text;
}

void addOccupancy(Rows &rows, const sight::Findings &of) {
  if (!of.occupancy) {
    rows.push_back({"occupancy", "unknown on this profile"});
    return;
  }
  const sight::Occupancy &occupancy = *of.occupancy;
  rows.push_back({"occupancy", bar(occupancy.percent / 100, barWidth) +
                                   fmt::format(" {:>5.0f} %: {} warps in {} block{} on an SM, limited by {}",
                                               occupancy.percent, occupancy.warpsPerSm, occupancy.blocksPerSm,
                                               occupancy.blocksPerSm == 1 ? "" : "s", occupancy.limitedBy)});
  std::string needs = occupancy.registers
                          ? fmt::format("{} registers a thread ({})", *occupancy.registers, occupancy.registersSource)
                          : "registers unknown (" + occupancy.registersSource + ")";
  needs += fmt::format(", {} bytes of shared memory a block", occupancy.sharedBytes);
  if (occupancy.localBytes)
    needs += fmt::format(", {} bytes of local memory a thread", occupancy.localBytes);
  rows.push_back({"", needs});
}

/// What takes how much of the time that the longest takes.
void addModel(Rows &rows, const sight::Model &model) {
  double most = 0;
  for (const auto &[resource, seconds] : model.seconds)
    most = std::max(most, seconds);
  if (model.boundBy.empty()) {
    rows.push_back({"bound by", "unknown on this profile"});
    return;
  }
  std::vector<std::pair<std::string, double>> sorted(model.seconds.begin(), model.seconds.end());
  std::ranges::sort(sorted, std::greater(), [](const auto &each) { return each.second; });
  for (const auto &[resource, seconds] : sorted)
    rows.push_back({resource == sorted.front().first ? "bound by" : "",
                    bar(seconds / most, barWidth) + fmt::format(" {:>7} {}", percent(seconds / most), resource)});
}

Rows head(const sight::Findings &of) {
  Rows rows = {{"card", of.card + " (profile)"}, {"watched", of.caseName}};
  addOccupancy(rows, of);
  addModel(rows, of.model);
  std::string intensity = fmt::format("{:.2f} flops a byte moved ({}flop, {}B)", of.totals.intensity,
                                      withUnit(double(of.totals.flops)), withUnit(double(of.totals.movedBytes)));
  if (of.model.ridge)
    intensity += fmt::format("; the card's arithmetic wants {:.1f}", *of.model.ridge);
  rows.push_back({"intensity", intensity});
  rows.push_back(
      {"threads", bar(of.totals.lanesActive, barWidth) +
                      fmt::format(" {:>7} of a warp take part in the mean", percent(of.totals.lanesActive))});
  return rows;
}

std::string costText(const sight::Finding &finding) {
  if (finding.isFault)
    return "fault";
  if (!finding.isCostKnown)
    return "cost unknown";
  return finding.cost > 0 ? "saves up to " + percent(finding.cost) : "";
}

/// The lines that memory was accessed on; the bar shows how much of what was moved was needed.
Rows accessRows(const sight::Findings &of) {
  // The last column is never narrowed, so all figures stand in it.
  auto cells = [](const std::string &requests, const std::string &moved, const std::string &needed) {
    return padded(requests, 10) + padded(moved, 18) + needed;
  };
  Rows rows = {{"line", "access", cells("requests", "moved", "of it needed")}};
  for (const sight::LineAccesses &line : of.accesses) {
    const bool isShared = line.space == card::Space::Shared;
    const uint64_t taken = isShared ? line.wavefronts : line.sectors,
                   ideal = isShared ? line.idealWavefronts : line.idealSectors;
    std::string name = fmt::format("{} {}", nameOf(line.space), nameOf(line.op));
    if (!line.variable.empty())
      name += " " + line.variable;
    std::string moved, needed;
    if (taken) {
      moved = figure(double(taken)) + (isShared ? " wavefronts" : " sectors");
      needed = bar(double(ideal) / double(taken), shortBar) +
               (taken == ideal ? "" : fmt::format(" {:.1f} times ideal", double(taken) / double(ideal)));
    }
    rows.push_back({place(line.where), name, cells(figure(double(line.requests)), moved, needed)});
  }
  return rows;
}

/// The lines that most instructions were issued on.
Rows workRows(const sight::Findings &of) {
  constexpr size_t most = 12;
  std::vector<const sight::LineWork *> lines;
  double all = 0;
  for (const sight::LineWork &line : of.work)
    lines.push_back(&line), all += double(line.instructions);
  std::ranges::sort(lines, std::greater(), [](const sight::LineWork *line) { return line->instructions; });
  if (lines.size() > most)
    lines.resize(most);
  std::ranges::sort(lines, {},
                    [](const sight::LineWork *line) { return std::pair(line->where.file, line->where.line); });
  Rows rows = {{"line", "instructions of warps", "flops", "threads of a warp"}};
  for (const sight::LineWork *line : lines)
    rows.push_back({place(line->where),
                    bar(double(line->instructions) / all, shortBar) +
                        fmt::format(" {:>6}", percent(double(line->instructions) / all)),
                    figure(double(line->flops)), fmt::format("{:.1f} of 32", 32 * line->threads)});
  return rows;
}

class Text {
public:
  explicit Text(const TerminalStyle &style) : style(style) {}
  void launch(const sight::Findings &of);
  std::string text;

private:
  void heading(const std::string &words) { text += painted(words, "1") + "\n"; }
  void finding(const sight::Finding &finding);
  void section(const std::string &words, const Rows &rows) {
    heading(words);
    text += table(rows, 2, style.columns) + "\n";
  }
  std::string painted(const std::string &words, const char *code) const {
    return style.color ? std::string("\x1b[") + code + "m" + words + "\x1b[0m" : words;
  }
  const TerminalStyle &style;
};

void Text::finding(const sight::Finding &finding) {
  const std::string cost = costText(finding);
  const char *code = finding.isFault ? "1;31" : finding.cost >= 0.1 ? "1;33" : "1";
  text += painted(finding.kind, code) + "  " + place(finding.where) + (cost.empty() ? "" : "  " + cost) +
          (finding.isBenign ? "  benign" : "") + "\n";
  Rows rows = {{"what", finding.what}};
  for (const auto &[words, more] : {std::pair("why", finding.why), std::pair("change", finding.change)})
    if (!more.empty())
      rows.push_back({words, more});
  if (!finding.hint.empty())
    rows.push_back({"hint", finding.hint});
  text += table(rows, 2, style.columns) + "\n";
}

void Text::launch(const sight::Findings &of) {
  text += painted(of.kernel, "1") + "\n" + table(head(of), 2, style.columns) + "\n";
  for (const sight::Finding &each : of.findings)
    finding(each);
  if (of.findings.empty())
    text += of.model.boundBy.empty() ? "Nothing found.\n\n"
                                     : "Nothing found that would save a hundredth of the modelled time.\n\n";
  if (!of.accesses.empty())
    section("Memory by line", accessRows(of));
  if (!of.work.empty())
    section("Instructions by line", workRows(of));
  Rows notes;
  for (const std::string &note : of.notes)
    notes.push_back({note});
  if (!notes.empty())
    section("Notes", notes);
}

} // namespace

std::string bar(double part, size_t width) {
  const double clamped = std::isfinite(part) ? std::clamp(part, 0.0, 1.0) : 0;
  const size_t filled = clamped > 0 ? std::max<size_t>(1, size_t(std::lround(clamped * double(width)))) : 0;
  std::string cells;
  for (size_t i = 0; i < width; ++i)
    cells += i < filled ? "█" : "░";
  return cells;
}

std::string findingsText(std::span<const sight::Findings> launches, const TerminalStyle &style) {
  Text text(style);
  for (const sight::Findings &of : launches)
    text.launch(of);
  return std::move(text.text);
}

} // namespace opsight::report
