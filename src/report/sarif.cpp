#include "report/sarif.h"
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace opsight::report {

using Json = nlohmann::ordered_json;

namespace {
namespace fs = std::filesystem;

struct Rule {
  std::string_view kind, name, what;
};
constexpr Rule rules[] = {
    {"bank_conflict", "BankConflict", "Threads of a warp wait for each other at a bank of shared memory"},
    {"uncoalesced", "Uncoalesced", "A warp's access moves more sectors of global memory than it uses"},
    {"low_occupancy", "LowOccupancy", "Too few warps fit a processor to hide the latency of arithmetic"},
    {"divergence", "Divergence", "Instructions are issued for few of a warp's threads"},
    {"spill", "Spill", "Values or arrays lie in local memory instead of registers"},
    {"race", "Race", "Two threads access a word, one of them writes, and no barrier lies between"},
    {"out_of_bounds", "OutOfBounds", "An access beyond its array or buffer"},
    {"barrier", "Barrier", "A barrier that not all threads of the block reach"},
    {"uninitialised", "Uninitialised", "A read of what nobody has written"},
    {"misaligned", "Misaligned", "An address that is no multiple of what its access needs"},
    {"launch_limit", "LaunchLimit", "A launch over a limit of the card"},
};

/// What a URI may hold as it is (RFC 3986: unreserved, and what a path uses); all else by its bytes.
std::string encoded(const std::string &path) {
  constexpr std::string_view plain = "-._~/!$&'()*+,;=@";
  std::string uri;
  for (unsigned char c : path)
    uri += std::isalnum(c) || plain.find(char(c)) != plain.npos ? std::string(1, char(c)) : fmt::format("%{:02X}", c);
  return uri;
}

Json artifactOf(const std::string &file, const fs::path &root) {
  const fs::path whole =
      fs::path(file).is_absolute() ? fs::path(file).lexically_normal() : (root / file).lexically_normal();
  const fs::path inside = whole.lexically_relative(root);
  if (!inside.empty() && *inside.begin() != "..")
    return {{"uri", encoded(inside.generic_string())}, {"uriBaseId", "%SRCROOT%"}};
  return {{"uri", "file://" + encoded(whole.generic_string())}};
}

Json ruleJson(const std::string &kind) {
  const Rule *known = std::ranges::find(rules, kind, &Rule::kind);
  const bool isKnown = known != std::end(rules);
  return {{"id", kind},
          {"name", isKnown ? std::string(known->name) : kind},
          {"shortDescription", {{"text", isKnown ? std::string(known->what) : kind}}}};
}

std::string levelOf(const sight::Finding &finding) {
  if (finding.isFault)
    return "error";
  return finding.isBenign || !finding.isCostKnown || finding.cost == 0 ? "note" : "warning";
}

Json resultJson(const sight::Finding &finding, const sight::Findings &of, size_t rule, const fs::path &root) {
  Json evidence = Json::object();
  for (const auto &[key, value] : finding.evidence)
    evidence[key] = value;
  for (const auto &[key, value] : finding.said)
    evidence[key] = value;
  Json region = {{"startLine", std::max(1u, finding.where.line)}};
  if (finding.where.column > 0)
    region["startColumn"] = finding.where.column;
  std::string text = finding.what + ".";
  for (const std::string *more : {&finding.why, &finding.change})
    if (!more->empty())
      text += (more == &finding.change ? " Change: " : " Why: ") + *more + ".";
  Json properties = {{"card", of.card}, {"kernel", of.kernel}, {"case", of.caseName}, {"evidence", evidence}};
  properties["cost"] = finding.isCostKnown ? Json(finding.cost) : Json(nullptr);
  if (!finding.hint.empty())
    properties["hint"] = finding.hint;
  return {{"ruleId", finding.kind},
          {"ruleIndex", rule},
          {"level", levelOf(finding)},
          {"message", {{"text", text}}},
          {"locations",
           Json::array({{{"physicalLocation",
                          {{"artifactLocation", artifactOf(finding.where.file, root)}, {"region", region}}}}})},
          {"properties", properties}};
}

} // namespace

std::string findingsSarif(std::span<const sight::Findings> launches, const fs::path &root) {
  std::vector<std::string> kinds;
  for (const sight::Findings &findings : launches)
    for (const sight::Finding &finding : findings.findings)
      if (std::ranges::find(kinds, finding.kind) == kinds.end())
        kinds.push_back(finding.kind);
  Json used = Json::array(), results = Json::array();
  for (const std::string &kind : kinds)
    used.push_back(ruleJson(kind));
  for (const sight::Findings &findings : launches)
    for (const sight::Finding &finding : findings.findings)
      results.push_back(
          resultJson(finding, findings, size_t(std::ranges::find(kinds, finding.kind) - kinds.begin()), root));
  Json driver = {{"name", "opsight"}, {"version", OPSIGHT_VERSION}, {"rules", used}};
  Json run = {{"tool", {{"driver", driver}}}, {"columnKind", "utf16CodeUnits"}, {"results", results}};
  Json log = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
  return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace opsight::report
