#include "report/account_text.h"
#include "base/text.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <regex>

namespace opsight::report {

std::string errorText(double value) {
  if (!std::isfinite(value))
    return "NaN or infinity";
  return std::regex_replace(fmt::format("{:.2g}", value), std::regex("e([-+])0"), "e$1");
}

std::string headline(const port::Outcome &outcome) {
  return outcome.verdict.pass ? "PASS" : "FAIL: " + join(outcome.verdict.reasons, ", ");
}

namespace {

using Rows = std::vector<std::vector<std::string>>;

Section asked(const port::Outcome &outcome) {
  Section section{"Asked", {}};
  for (const port::Understood &part : outcome.request.understood)
    section.rows.push_back({part.said, part.meaning});
  return section;
}

std::string percentText(double share) { return fmt::format("{:.0f} %", share * 100); }

std::string accuracyText(const judge::Accuracy &accuracy) {
  size_t passed = std::ranges::count_if(accuracy.cases, [](const judge::CaseResult &c) { return c.pass; });
  std::string text = fmt::format("largest error {} (limit {}) in {}; {} of {} cases right", errorText(accuracy.maxError),
                                 errorText(accuracy.limit), accuracy.worstCase.empty() ? "no case" : accuracy.worstCase,
                                 passed, accuracy.cases.size());
  if (!accuracy.notTried.empty())
    text += fmt::format(", {} not tried", accuracy.notTried.size());
  return text;
}

std::string speedText(const port::Outcome &outcome) {
  const judge::Verdict &verdict = outcome.verdict;
  if (outcome.request.declared)
    return "not measured: a kernel without an operator is judged for accuracy alone";
  if (!verdict.speed)
    return "not asked for (--accuracy-only)";
  const judge::Speed &speed = *verdict.speed;
  if (!speed.notMeasured.empty())
    return "not measured: " + speed.notMeasured;
  return fmt::format("{:.2f} times {} (95 % interval {:.2f} to {:.2f}, limit {:.2f}); {:.0f} GFLOP/s, {} of the peak "
                     "measured in the same run",
                     speed.ratio, speed.reference, speed.low, speed.high, speed.limit, speed.gflops,
                     percentText(speed.fractionOfPeak));
}

Section result(const port::Outcome &outcome) {
  const judge::Verdict &verdict = outcome.verdict;
  const std::string parameters = port::parametersText(verdict.parameters);
  std::string candidate = verdict.candidate + (parameters.empty() ? "" : " (" + parameters + ")");
  std::string card = fmt::format("{}: {}, {}", outcome.profile.name, verdict.device.device, verdict.device.driver);
  if (verdict.peakGflops > 0)
    card += fmt::format(", peak {:.0f} GFLOP/s fp32", verdict.peakGflops);
  return {"Result",
          {{"operator", std::string(outcome.request.op->name())},
           {"kernel", fmt::format("{} ({}:{})", outcome.account.kernel, outcome.account.where.file, outcome.account.where.line)},
           {"card", card},
           {"candidate", candidate},
           {"accuracy", accuracyText(verdict.accuracy)},
           {"speed", speedText(outcome)}}};
}

std::string indexText(const std::vector<int64_t> &index) {
  std::vector<std::string> parts;
  for (int64_t i : index)
    parts.push_back(std::to_string(i));
  return "[" + join(parts, ", ") + "]";
}

/// What went wrong, the worst first; the terminal shows a few, the files all.
Section failures(const port::Outcome &outcome, size_t most) {
  Section section{"What failed", {}};
  std::vector<const judge::CaseResult *> failed;
  for (const judge::CaseResult &each : outcome.verdict.accuracy.cases)
    if (!each.pass)
      failed.push_back(&each);
  std::ranges::sort(failed, std::greater(), [](const judge::CaseResult *each) { return each->error; });
  for (size_t i = 0; i < std::min(most, failed.size()); ++i) {
    const judge::CaseResult &each = *failed[i];
    std::string text = fmt::format("{}: error {} (limit {})", join(each.reasons, ", "), errorText(each.error), errorText(each.limit));
    if (each.where)
      text += fmt::format("; {}{} is {}, must be {}; phase {}: {}", each.where->tensor, indexText(each.where->index),
                          each.where->got, each.where->want, each.where->phase, each.where->because);
    if (!each.detail.empty())
      text += "; " + each.detail;
    section.rows.push_back({each.c.name, text});
  }
  if (failed.size() > most)
    section.rows.push_back({fmt::format("and {} more", failed.size() - most), "see report.md"});
  return section;
}

Section hints(const port::Outcome &outcome) {
  Section section{"Hints", {}};
  for (const port::HintResult &result : outcome.hints)
    section.rows.push_back({result.hint.key + "=" + result.hint.value,
                            result.kept ? (*result.kept ? "kept" : "NOT KEPT") : "no bearing", result.evidence});
  return section;
}

Section checks(const port::Outcome &outcome) {
  Section section{"Checks", {}};
  for (const judge::Check &check : outcome.verdict.checks)
    section.rows.push_back({check.name, check.pass ? (*check.pass ? "pass" : "FAIL") : "cannot tell", check.detail});
  return section;
}

Section candidates(const port::Outcome &outcome) {
  Section section{"Candidates", {}};
  for (const port::CandidateResult &candidate : outcome.candidates) {
    std::string text = candidate.why;
    if (candidate.verdict) {
      text = (candidate.verdict->pass ? "PASS" : "FAIL: " + join(candidate.verdict->reasons, ", ")) + ", error " +
             errorText(candidate.verdict->accuracy.maxError);
      if (candidate.verdict->speed && candidate.verdict->speed->notMeasured.empty())
        text += fmt::format(", {:.2f} times the reference", candidate.verdict->speed->ratio);
    }
    if (candidate.recorded && candidate.recorded->ratio)
      text += fmt::format(", {:.2f} times the reference", *candidate.recorded->ratio);
    section.rows.push_back({candidate.name, port::parametersText(candidate.parameters), candidate.state, text});
  }
  if (auto screened = std::ranges::find(outcome.candidates, "screened", &port::CandidateResult::state); screened != outcome.candidates.end())
    section.rows.push_back({"screened: judged in " + screened->why});
  return section;
}

Section kernelFacts(const port::Outcome &outcome) {
  Section section{"The kernel", {}};
  for (const auto &[subject, text] : outcome.account.lines)
    section.rows.push_back({subject, text});
  return section;
}

/// Worth a word where it can matter.
std::string othersText(const judge::SpeedCase &timed) {
  constexpr double worthSaying = 0.05;
  if (timed.othersShare.value_or(0) < worthSaying)
    return "";
  return ", others had " + percentText(*timed.othersShare) + " of the processors";
}

Section speedCases(const port::Outcome &outcome) {
  Section section{"Speed by case", {}, true};
  if (outcome.verdict.speed)
    for (const judge::SpeedCase &each : outcome.verdict.speed->cases)
      section.rows.push_back({each.c.name, fmt::format("{:.3f} ({:.3f} to {:.3f})", each.ratio, each.low, each.high),
                              fmt::format("{:.3f} ms against {:.3f} ms, first call {:.3f} ms", each.candidateSeconds * 1e3,
                                          each.referenceSeconds * 1e3, each.firstSeconds * 1e3),
                              fmt::format("{:.1f} GFLOP/s, {}, {} pairs{}", each.gflops, percentText(each.fractionOfPeak),
                                          each.pairs, each.implausible ? ", implausible" : "") +
                                  othersText(each)});
  return section;
}

Section allCases(const port::Outcome &outcome) {
  Section section{"Cases", {}, true};
  for (const judge::CaseResult &each : outcome.verdict.accuracy.cases)
    section.rows.push_back({each.c.name, each.pass ? "pass" : "FAIL", errorText(each.error), errorText(each.limit),
                            each.wellConditioned ? "" : "ill-conditioned: four times a plain fp32 evaluation"});
  return section;
}

Section notTried(const port::Outcome &outcome) {
  Section section{"Not tried", {}, true};
  for (const judge::NotTried &each : outcome.verdict.accuracy.notTried)
    section.rows.push_back({each.name, each.why});
  return section;
}

Section lines(const std::string &heading, const std::vector<std::string> &texts) {
  Section section{heading, {}};
  for (const std::string &text : texts)
    section.rows.push_back({text});
  return section;
}

} // namespace

std::vector<Section> sectionsOf(const port::Outcome &outcome, const std::string &folder) {
  std::vector<Section> all = {asked(outcome)};
  if (outcome.verb == "verify")
    all.push_back(kernelFacts(outcome));
  Section everyFailure = failures(outcome, SIZE_MAX), firstFailures = failures(outcome, 3);
  everyFailure.heading = "Every failure";
  everyFailure.detail = true;
  for (Section section : {result(outcome), firstFailures, hints(outcome), checks(outcome), candidates(outcome),
                          speedCases(outcome), allCases(outcome), everyFailure, notTried(outcome),
                          lines("Notes", outcome.notes), lines("What would help", outcome.advice)})
    all.push_back(std::move(section));
  all.push_back({"Files", {{"results", folder}, {"took", fmt::format("{:.1f} s", outcome.seconds)}}});
  std::erase_if(all, [](const Section &section) { return section.rows.empty(); });
  return all;
}

} // namespace opsight::report
