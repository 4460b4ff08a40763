#include "report/verdict_json.h"
#include <cmath>
#include <nlohmann/json.hpp>

namespace opsight::report {

using Json = nlohmann::ordered_json;

namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

template <class Value> Json optional(const std::optional<Value> &value) { return value ? Json(*value) : Json(nullptr); }

Json shapeJson(const ops::Case &c) {
  Json shape = Json::object();
  for (const auto &[symbol, value] : c.symbols)
    shape[symbol] = value;
  return shape;
}

Json whereJson(const judge::Where &where) {
  return {{"tensor", where.tensor},    {"index", where.index}, {"got", number(where.got)},
          {"want", number(where.want)}, {"phase", where.phase}, {"because", where.because}};
}

Json caseJson(const judge::CaseResult &result) {
  Json json = {{"name", result.c.name},           {"shape", shapeJson(result.c)},
               {"options", result.c.options},     {"distribution", result.c.distribution},
               {"error", number(result.error)},   {"limit", number(result.limit)},
               {"pass", result.pass},             {"well_conditioned", result.wellConditioned}};
  if (!result.reasons.empty())
    json["reasons"] = result.reasons;
  if (result.where)
    json["where"] = whereJson(*result.where);
  if (!result.detail.empty())
    json["detail"] = result.detail;
  return json;
}

Json accuracyJson(const judge::Accuracy &accuracy) {
  Json json = {{"pass", accuracy.pass},
               {"max_error", number(accuracy.maxError)},
               {"limit", number(accuracy.limit)},
               {"worst_case", accuracy.worstCase},
               {"cases", Json::array()},
               {"not_tried", Json::array()}};
  for (const judge::CaseResult &result : accuracy.cases)
    json["cases"].push_back(caseJson(result));
  for (const judge::NotTried &skipped : accuracy.notTried)
    json["not_tried"].push_back({{"name", skipped.name}, {"why", skipped.why}});
  return json;
}

Json speedCaseJson(const judge::SpeedCase &speed) {
  return {{"name", speed.c.name},
          {"shape", shapeJson(speed.c)},
          {"ratio", number(speed.ratio)},
          {"low", number(speed.low)},
          {"high", number(speed.high)},
          {"candidate_seconds", number(speed.candidateSeconds)},
          {"reference_seconds", number(speed.referenceSeconds)},
          {"first_seconds", number(speed.firstSeconds)},
          {"gflops", number(speed.gflops)},
          {"fraction_of_peak", number(speed.fractionOfPeak)},
          {"others_busy", speed.othersShare ? number(*speed.othersShare) : Json(nullptr)},
          {"pairs", speed.pairs},
          {"implausible", speed.implausible}};
}

Json speedJson(const judge::Speed &speed) {
  Json json = {{"pass", speed.pass}, {"limit", number(speed.limit)}, {"reference", speed.reference}};
  if (!speed.notMeasured.empty()) {
    json["not_measured"] = speed.notMeasured;
  } else {
    json["ratio"] = number(speed.ratio);
    json["low"] = number(speed.low);
    json["high"] = number(speed.high);
    json["gflops"] = number(speed.gflops);
    json["fraction_of_peak"] = number(speed.fractionOfPeak);
  }
  json["cases"] = Json::array();
  for (const judge::SpeedCase &each : speed.cases)
    json["cases"].push_back(speedCaseJson(each));
  return json;
}

Json checksJson(const std::vector<judge::Check> &checks) {
  Json json = Json::array();
  for (const judge::Check &check : checks)
    json.push_back({{"name", check.name}, {"pass", optional(check.pass)}, {"detail", check.detail}});
  return json;
}

/// The part of a verdict that is about one candidate.
void addVerdict(Json &json, const judge::Verdict &verdict) {
  json["accuracy"] = accuracyJson(verdict.accuracy);
  json["checks"] = checksJson(verdict.checks);
  if (verdict.speed)
    json["speed"] = speedJson(*verdict.speed);
  else
    json["speed"] = nullptr;
}

Json cardJson(const port::Outcome &outcome) {
  const judge::Verdict &verdict = outcome.verdict;
  return {{"name", outcome.profile.name},
          {"device", verdict.device.device},
          {"driver", verdict.device.driver},
          {"ir", outcome.profile.ir},
          {"peak_gflops_fp32", verdict.peakGflops > 0 ? number(verdict.peakGflops) : Json(nullptr)}};
}

Json candidateHead(const port::CandidateResult &candidate) {
  return {{"name", candidate.name}, {"proposer", candidate.proposer}, {"parameters", candidate.parameters}};
}

/// How far the candidate came, and what was said of it.
void addState(Json &json, const port::CandidateResult &candidate) {
  json["state"] = candidate.state;
  if (!candidate.why.empty())
    json["why"] = candidate.why;
  if (candidate.verdict) {
    json["verdict"] = candidate.verdict->pass ? "PASS" : "FAIL";
    json["reasons"] = candidate.verdict->reasons;
  }
}

/// What each candidate came to, in one line of figures.
Json summary(const port::CandidateResult &candidate) {
  Json json = candidateHead(candidate);
  addState(json, candidate);
  if (candidate.verdict) {
    json["max_error"] = number(candidate.verdict->accuracy.maxError);
    if (candidate.verdict->speed && candidate.verdict->speed->notMeasured.empty())
      json["ratio"] = number(candidate.verdict->speed->ratio);
  }
  if (candidate.recorded) {
    json["max_error"] = number(candidate.recorded->maxError);
    if (candidate.recorded->ratio)
      json["ratio"] = number(*candidate.recorded->ratio);
  }
  return json;
}

Json hintsJson(const std::vector<port::HintResult> &hints) {
  Json json = Json::array();
  for (const port::HintResult &result : hints)
    json.push_back({{"key", result.hint.key},
                    {"value", result.hint.value},
                    {"said", result.hint.said},
                    {"kept", optional(result.kept)},
                    {"evidence", result.evidence}});
  return json;
}

Json askedJson(const std::vector<port::Understood> &parts) {
  static constexpr const char *kinds[] = {"demand", "hint", "reason"};
  Json json = Json::array();
  for (const port::Understood &part : parts)
    json.push_back({{"said", part.said}, {"meaning", part.meaning}, {"as", kinds[static_cast<size_t>(part.as)]}});
  return json;
}

std::string dumped(const Json &json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

} // namespace

std::string verdictJson(const port::Outcome &outcome) {
  const judge::Verdict &verdict = outcome.verdict;
  Json json = {{"schema", "opsight.verdict/1"},
               {"verdict", verdict.pass ? "PASS" : "FAIL"},
               {"reasons", verdict.reasons},
               {"operator", outcome.request.op->name()},
               {"card", cardJson(outcome)}};
  json["candidate"] = {{"name", verdict.candidate}, {"proposer", verdict.proposer}, {"parameters", verdict.parameters}};
  addVerdict(json, verdict);
  json["hints"] = hintsJson(outcome.hints);
  json["asked"] = askedJson(outcome.request.understood);
  json["candidates"] = Json::array();
  for (const port::CandidateResult &candidate : outcome.candidates)
    json["candidates"].push_back(summary(candidate));
  json["notes"] = outcome.notes;
  json["advice"] = outcome.advice;
  json["seed"] = outcome.seed;
  json["seconds"] = number(outcome.seconds);
  json["replay"] = outcome.replay;
  return dumped(json);
}

std::string candidateJson(const port::Outcome &outcome, const port::CandidateResult &candidate) {
  Json json = {{"schema", "opsight.verdict/1"}, {"operator", outcome.request.op->name()}, {"card", cardJson(outcome)}};
  json["candidate"] = candidateHead(candidate);
  addState(json, candidate);
  if (candidate.verdict)
    addVerdict(json, *candidate.verdict);
  return dumped(json);
}

} // namespace opsight::report
