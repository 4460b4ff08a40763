#include "report/bench_report.h"
#include "base/text.h"
#include "report/findings_text.h"
#include "report/width.h"
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace opsight::report {

namespace {

/// A bar of the plot.
struct Line {
  std::string name, parameters, state;
  double ratio = 0, low = 0, high = 0, gflops = 0, fractionOfPeak = 0;
  bool isReference = false;
};

/// What was timed, of this run or of one before; none for what was not.
std::optional<Line> lineOf(const port::CandidateResult &candidate) {
  Line line{candidate.name, port::parametersText(candidate.parameters), candidate.state};
  if (candidate.verdict && candidate.verdict->speed && candidate.verdict->speed->notMeasured.empty()) {
    const judge::Speed &speed = *candidate.verdict->speed;
    line.ratio = speed.ratio, line.low = speed.low, line.high = speed.high;
    line.gflops = speed.gflops, line.fractionOfPeak = speed.fractionOfPeak;
    return line;
  }
  if (!candidate.recorded || !candidate.recorded->ratio)
    return std::nullopt;
  const port::TrialLine &trial = *candidate.recorded;
  line.ratio = *trial.ratio, line.low = trial.low.value_or(line.ratio), line.high = trial.high.value_or(line.ratio);
  line.gflops = trial.gflops.value_or(0), line.fractionOfPeak = trial.fractionOfPeak.value_or(0);
  line.state += " " + trial.day;
  return line;
}

/// The reference as the winner's race had it.
std::optional<Line> referenceOf(const port::Outcome &outcome) {
  const auto &speed = outcome.verdict.speed;
  if (!speed || speed->cases.empty())
    return std::nullopt;
  const judge::SpeedCase &timed = speed->cases.front();
  Line line{speed->reference, "", "reference", 1, 1, 1};
  const double faster = timed.referenceSeconds > 0 ? timed.candidateSeconds / timed.referenceSeconds : 0;
  line.gflops = timed.gflops * faster, line.fractionOfPeak = timed.fractionOfPeak * faster;
  line.isReference = true;
  return line;
}

std::vector<Line> linesOf(const port::Outcome &outcome) {
  std::vector<Line> lines;
  for (const port::CandidateResult &candidate : outcome.candidates)
    if (std::optional<Line> line = lineOf(candidate))
      lines.push_back(std::move(*line));
  if (std::optional<Line> reference = referenceOf(outcome))
    lines.push_back(std::move(*reference));
  std::ranges::stable_sort(lines, std::greater(), &Line::ratio);
  return lines;
}

std::string label(const Line &line) {
  std::string text = line.parameters.empty() ? line.name : line.name + ", " + line.parameters;
  return line.state.starts_with("recorded") ? text + ", " + line.state : text;
}

double longest(const std::vector<Line> &lines) {
  double most = 0;
  for (const Line &line : lines)
    most = std::max(most, line.high);
  return most > 0 ? most : 1;
}

/// Those that have no speed, and why.
std::vector<std::vector<std::string>> untimed(const port::Outcome &outcome) {
  std::vector<std::vector<std::string>> rows;
  for (const port::CandidateResult &candidate : outcome.candidates)
    if (!lineOf(candidate))
      rows.push_back({candidate.name, port::parametersText(candidate.parameters),
                      candidate.verdict ? "FAIL: " + join(candidate.verdict->reasons, ", ") : candidate.why});
  return rows;
}

std::string xml(std::string_view text) {
  std::string escaped;
  for (char c : text)
    c == '&' ? escaped += "&amp;" : c == '<' ? escaped += "&lt;" : c == '>' ? escaped += "&gt;" : escaped += c;
  return escaped;
}

std::string caseName(const port::Outcome &outcome) {
  const auto &speed = outcome.verdict.speed;
  return speed && !speed->cases.empty() ? speed->cases.front().c.name : "";
}

} // namespace

std::string benchText(const port::Outcome &outcome, const TerminalStyle &style) {
  constexpr size_t barWidth = 12;
  const std::vector<Line> lines = linesOf(outcome);
  const double most = longest(lines);
  std::vector<std::vector<std::string>> rows = {{"candidate", "", "ratio", "GFLOP/s", "peak"}};
  for (const Line &line : lines)
    rows.push_back({label(line), bar(line.ratio / most, barWidth),
                    line.isReference ? "1" : fmt::format("{:.2f} [{:.2f}, {:.2f}]", line.ratio, line.low, line.high),
                    fmt::format("{:.0f}", line.gflops), fmt::format("{:.0f} %", 100 * line.fractionOfPeak)});
  std::string text = fmt::format("{} on {} ({}), {}; ratio: how many times as fast as the reference\n",
                                 std::string(outcome.request.op->name()), outcome.profile.name,
                                 outcome.verdict.device.device, caseName(outcome)) +
                     table(rows, 2, style.columns);
  if (auto others = untimed(outcome); !others.empty())
    text += "\nNot timed\n" + table(others, 2, style.columns);
  for (const std::string &note : outcome.notes)
    text += "\n" + table({{note}}, 0, style.columns);
  return text;
}

std::string benchJson(const port::Outcome &outcome) {
  using Json = nlohmann::ordered_json;
  Json json = {{"schema", "opsight.bench/1"},
               {"operator", outcome.request.op->name()},
               {"card", outcome.profile.name},
               {"device", outcome.verdict.device.device},
               {"case", caseName(outcome)}};
  json["lines"] = Json::array();
  for (const Line &line : linesOf(outcome))
    json["lines"].push_back({{"name", line.name},
                             {"parameters", line.parameters},
                             {"state", line.state},
                             {"reference", line.isReference},
                             {"ratio", line.ratio},
                             {"low", line.low},
                             {"high", line.high},
                             {"gflops", line.gflops},
                             {"fraction_of_peak", line.fractionOfPeak}});
  json["not_timed"] = Json::array();
  for (const std::vector<std::string> &row : untimed(outcome))
    json["not_timed"].push_back({{"name", row[0]}, {"parameters", row[1]}, {"why", row[2]}});
  json["notes"] = outcome.notes;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string benchSvg(const port::Outcome &outcome) {
  constexpr int rowHeight = 24, labelWidth = 300, plotWidth = 420, textWidth = 230, top = 40;
  const std::vector<Line> lines = linesOf(outcome);
  const double scale = plotWidth / longest(lines);
  const int height = top + rowHeight * int(lines.size()) + 16;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      labelWidth + plotWidth + textWidth, height);
  svg += fmt::format("<text x=\"8\" y=\"22\" font-size=\"14\">{}</text>\n",
                     xml(fmt::format("{} on {}, {}: times the reference", std::string(outcome.request.op->name()),
                                     outcome.verdict.device.device, caseName(outcome))));
  int y = top;
  for (const Line &line : lines) {
    const double width = line.ratio * scale, low = labelWidth + line.low * scale, high = labelWidth + line.high * scale;
    svg += fmt::format("<text x=\"8\" y=\"{}\">{}</text>\n", y + 15, xml(label(line)));
    svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"14\" fill=\"{}\"/>\n", labelWidth, y + 4,
                       width, line.isReference ? "#999999" : "#3b7dd8");
    if (!line.isReference)
      svg += fmt::format(
          "<path d=\"M{0:.1f} {2} V{3} M{0:.1f} {4} H{1:.1f} M{1:.1f} {2} V{3}\" stroke=\"#222222\" fill=\"none\"/>\n",
          low, high, y + 6, y + 16, y + 11);
    svg += fmt::format("<text x=\"{}\" y=\"{}\">{:.2f}, {:.0f} GFLOP/s, {:.0f} % of the peak</text>\n",
                       labelWidth + plotWidth + 12, y + 15, line.ratio, line.gflops, 100 * line.fractionOfPeak);
    y += rowHeight;
  }
  return svg + "</svg>\n";
}

} // namespace opsight::report
