#include "report/findings_json.h"
#include <nlohmann/json.hpp>

namespace opsight::report {

using Json = nlohmann::ordered_json;

std::string_view nameOf(card::Site::Kind kind) {
  static constexpr std::string_view names[] = {"load", "store", "atomic", "barrier", "warp_sync", "fence"};
  return names[size_t(kind)];
}

std::string_view nameOf(card::Space space) {
  static constexpr std::string_view names[] = {"global", "shared", "local"};
  return names[size_t(space)];
}

namespace {

Json occupancyJson(const std::optional<sight::Occupancy> &occupancy) {
  if (!occupancy)
    return nullptr;
  return {{"registers", occupancy->registers ? Json(*occupancy->registers) : Json(nullptr)},
          {"registers_source", occupancy->registersSource},
          {"local_bytes", occupancy->localBytes},
          {"spill_bytes", occupancy->spillBytes},
          {"shared_bytes", occupancy->sharedBytes},
          {"blocks_per_sm", occupancy->blocksPerSm},
          {"warps_per_sm", occupancy->warpsPerSm},
          {"percent", occupancy->percent},
          {"limited_by", occupancy->limitedBy}};
}

Json lineJson(const sight::LineAccesses &line) {
  Json json = {{"file", line.where.file}, {"line", line.where.line},   {"space", nameOf(line.space)},
               {"op", nameOf(line.op)},   {"variable", line.variable}, {"requests", line.requests},
               {"threads", line.threads}, {"bytes", line.bytes}};
  if (line.space == card::Space::Shared)
    json["wavefronts"] = line.wavefronts, json["ideal_wavefronts"] = line.idealWavefronts;
  if (line.space == card::Space::Global)
    json["sectors"] = line.sectors, json["ideal_sectors"] = line.idealSectors;
  return json;
}

Json workJson(const sight::LineWork &line) {
  return {{"file", line.where.file},      {"line", line.where.line},  {"instructions", line.instructions},
          {"lanes_active", line.threads}, {"flops", line.flops},      {"loads", line.loads},
          {"stores", line.stores},        {"atomics", line.atomics},  {"integers", line.integers},
          {"specials", line.specials},    {"branches", line.branches}};
}

Json modelJson(const sight::Model &model) {
  Json seconds = Json::object();
  for (const auto &[resource, value] : model.seconds)
    seconds[resource] = value;
  return {{"bound_by", model.boundBy},
          {"seconds", seconds},
          {"unknown", model.unknown},
          {"ridge", model.ridge ? Json(*model.ridge) : Json(nullptr)}};
}

Json findingJson(const sight::Finding &finding) {
  Json evidence = Json::object();
  for (const auto &[key, value] : finding.evidence)
    evidence[key] = value;
  for (const auto &[key, value] : finding.said)
    evidence[key] = value;
  Json json = {{"kind", finding.kind},
               {"file", finding.where.file},
               {"line", finding.where.line},
               {"column", finding.where.column},
               {"what", finding.what},
               {"evidence", evidence},
               {"cost", finding.isCostKnown ? Json(finding.cost) : Json(nullptr)},
               {"why", finding.why},
               {"change", finding.change},
               {"fault", finding.isFault},
               {"benign", finding.isBenign}};
  if (!finding.hint.empty())
    json["hint"] = finding.hint;
  return json;
}

Json launchJson(const sight::Findings &findings) {
  Json json = {{"schema", "opsight.findings/1"},
               {"kernel", findings.kernel},
               {"card", findings.card},
               {"case", findings.caseName}};
  json["occupancy"] = occupancyJson(findings.occupancy);
  json["lines"] = json["work"] = Json::array();
  for (const sight::LineAccesses &line : findings.accesses)
    json["lines"].push_back(lineJson(line));
  for (const sight::LineWork &line : findings.work)
    json["work"].push_back(workJson(line));
  const sight::Totals &totals = findings.totals;
  json["totals"] = {{"flops", totals.flops},
                    {"global_bytes", totals.globalBytes},
                    {"shared_bytes", totals.sharedBytes},
                    {"moved_bytes", totals.movedBytes},
                    {"intensity", totals.intensity},
                    {"lanes_active", totals.lanesActive}};
  json["model"] = modelJson(findings.model);
  json["findings"] = Json::array();
  for (const sight::Finding &finding : findings.findings)
    json["findings"].push_back(findingJson(finding));
  json["notes"] = findings.notes;
  return json;
}

} // namespace

std::string findingsJson(std::span<const sight::Findings> launches) {
  Json json = launches.empty() ? Json::object() : launchJson(launches.front());
  if (launches.size() > 1)
    for (const sight::Findings &findings : launches.subspan(1))
      json["then"].push_back(launchJson(findings));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace opsight::report
