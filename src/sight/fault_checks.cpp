#include "sight/fault_checks.h"
#include "sight/place_names.h"
#include <fmt/format.h>

namespace opsight::sight {

using End = card::Launched::End;

constexpr const char *kinds[] = {"out_of_bounds", "misaligned", "uninitialised", "race", "barrier"};

static judge::Check checkOf(const char *kind, const card::Launched &launched, std::span<const Finding> found,
                            const std::string &caseName) {
  judge::Check check{kind, true, "no such fault under watch on the cpu card (case '" + caseName + "')"};
  std::vector<std::string> faults, benign;
  for (const Finding &finding : found)
    if (finding.kind == kind)
      (finding.isFault ? faults : benign).push_back(lineName(finding.where) + ": " + finding.what);
  if (std::string_view(kind) == "barrier" && launched.end == End::Barrier)
    faults.push_back(launched.detail);
  check.pass = faults.empty();
  if (!faults.empty())
    check.detail = fmt::format(
        "{}{} (case '{}', watched on the cpu card)", faults[0],
        faults.size() > 1 ? fmt::format("; {} more line{}", faults.size() - 1, faults.size() == 2 ? "" : "s") : "",
        caseName);
  else if (!benign.empty())
    check.detail = "benign: " + benign[0];
  return check;
}

std::vector<judge::Check> faultChecks(const card::Launched &launched, std::span<const Finding> found,
                                      const std::string &caseName) {
  std::vector<judge::Check> checks;
  bool whole = launched.end == End::Done || launched.end == End::Assert;
  for (const char *kind : kinds) {
    judge::Check check = checkOf(kind, launched, found, caseName);
    if (check.pass == true && !whole)
      check = {kind, std::nullopt, "the watched run did not come to its end"};
    checks.push_back(std::move(check));
  }
  return checks;
}

std::vector<judge::Check> faultChecksNotMade(const std::string &why) {
  std::vector<judge::Check> checks;
  for (const char *kind : kinds)
    checks.push_back({kind, std::nullopt, why});
  return checks;
}

} // namespace opsight::sight
