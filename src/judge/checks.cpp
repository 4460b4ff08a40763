// A check that a card cannot make is listed as such, so that nobody takes silence for a pass.
#include "judge/checks.h"
#include <fmt/format.h>

namespace opsight::judge {
namespace {

struct CheckRow {
  const char *name, *how;
};
constexpr CheckRow made[] = {
    {"out_of_bounds", "sentinels and guard pages around every buffer"},
    {"input_modified", "inputs compared with a private copy after each run"},
    {"unwritten", "outputs poisoned with two patterns"},
    {"nan", "NaN and infinity never equal a number"},
    {"constant", "one value everywhere is refused"},
    {"not_repeatable", "the same data at other addresses, on the cpu card also in another order of warps and blocks, must give the same bits"},
    {"limits", "every launch's status is looked at"},
    {"crash", "the kernel runs in a process of its own"},
    {"hang", "every launch has a time limit"},
    {"precision", "errors compared with those of a plain evaluation in float"},
};
constexpr CheckRow impossible[] = {
    {"race", "needs a card that watches every access"},
    {"barrier", "needs a card that watches every barrier"},
    {"uninitialised", "needs a card that watches every read"},
};

} // namespace

std::vector<Check> checksOf(const AccuracyResult &seen, const card::DeviceInfo &device) {
  std::vector<Check> checks;
  const Observed &observed = seen.observed;
  bool nothingRan = seen.accuracy.cases.empty();
  for (const CheckRow &row : made) {
    std::string name = row.name;
    bool failed = observed.reasons.contains(name);
    auto detail = observed.details.find(name);
    Check check{name, !failed, failed && detail != observed.details.end() ? detail->second : row.how};
    // Nothing ran, or nothing was comparable: silence is no pass.
    if (!failed && (nothingRan || (name == "not_repeatable" && observed.repeated == 0)))
      check = {name, std::nullopt, "no run allowed it"};
    else if (!failed && name == "precision" && observed.weighed == 0)
      check = {name, std::nullopt, "no plain evaluation in float to hold the errors against"};
    else if (!failed && name == "not_repeatable")
      check.detail += fmt::format(" ({} pairs of runs)", observed.repeated);
    else if (!failed && name == "constant" && observed.sensitive)
      check.detail += ", and the output must change with each input";
    checks.push_back(std::move(check));
  }
  bool watched = device.unconfined.empty();
  checks.push_back({"system_calls", watched ? std::optional(!observed.systemCall) : std::nullopt,
                    watched ? "the worker may not call the system while a kernel runs" : device.unconfined});
  for (const CheckRow &row : impossible)
    if (auto seen = observed.details.find(row.name); seen != observed.details.end())
      checks.push_back({row.name, false, seen->second});
    else if (std::string_view(row.name) == "barrier" && device.watchesBarriers && !nothingRan)
      checks.push_back({row.name, true, "the warps of a block must all arrive at the same barrier, each warp as a whole"});
    else
      checks.push_back({row.name, std::nullopt, std::string(row.how) + "; " + device.card + " is none"});
  return checks;
}

} // namespace opsight::judge
