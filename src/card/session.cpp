// Which worker a card's name means, and with what environment it is started.
#include "card/session.h"
#include "base/file.h"
#include "base/text.h"
#include "card/icd.h"
#include "card/profile.h"
#include "card/worker_session.h"

namespace opsight::card {

namespace {
constexpr const char *anyOpenCl = "opencl";

Result<std::unique_ptr<Session>> openFirst(const char *driver, const Limits &limits) {
  auto profiles = allProfiles();
  if (!profiles)
    return std::unexpected(profiles.error());
  std::string tried;
  for (const Profile &profile : *profiles) {
    if (profile.driver != driver)
      continue;
    auto session = WorkerSession::open(profile, limits);
    if (session || session.error().kind != ErrorKind::NoVerdict)
      return session;
    tried += (tried.empty() ? "" : "; ") + profile.name + ": " + session.error().what;
  }
  return noVerdict(std::string("no ") + driver + " card has a device here (" + tried + ")", "install the package pocl-opencl-icd");
}

std::unexpected<Error> profileOnly(const std::string &name) {
  std::vector<std::string> running;
  if (auto profiles = allProfiles())
    for (const Profile &profile : *profiles)
      if (profile.canRun())
        running.push_back(profile.name);
  return userError("card '" + name + "' has no device here: it is a profile only, for `opsight see`",
                   "cards that run kernels: " + join(running, ", "));
}
} // namespace

Result<std::unique_ptr<Session>> Session::open(const std::string &card, const Limits &limits) {
  if (card == anyOpenCl)
    return openFirst("opencl", limits);
  auto profile = findProfile(card);
  if (!profile)
    return std::unexpected(profile.error());
  if (!profile->canRun())
    return profileOnly(card);
  return WorkerSession::open(*profile, limits);
}

Result<Launched> Session::watch(ProgramId, const LaunchConfig &, std::span<const Argument>, std::span<Observer *const>) {
  return internalError("this session cannot watch its kernels");
}

Result<CheckedLaunch> Session::check(ProgramId, const LaunchConfig &, std::span<const Argument>) {
  return internalError("this session cannot check its kernels");
}

} // namespace opsight::card
