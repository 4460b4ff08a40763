#include "port/replay.h"
#include "port/artifact_files.h"
#include "port/contains.h"
#include <fmt/format.h>

namespace opsight::port {

/// The winner's own port file holds everything but what the command line may change. Where the verdict rests on more than
/// the winner alone (a source that it was compared with, a hint that it lost), the whole port is replayed.
std::string replayCommand(const Outcome &outcome, const CandidateResult &winner, const std::filesystem::path &folder) {
  const Request &request = outcome.request;
  bool bySource = outcome.referenceName == "source";
  bool whole = contains(outcome.verdict.reasons, std::string("hint_not_kept")) || (bySource && winner.proposer != "faithful");
  std::filesystem::path file = folder / "candidates" / (whole ? "faithful" : folderOf(winner)) / "port.toml";
  std::string command = std::string(whole ? "opsight port " : "opsight verify ") + shellQuoted(file.string()) + " --card " +
                        request.card + " --seed " + std::to_string(outcome.seed);
  if (request.accept.accuracyOnly)
    command += " --accuracy-only";
  if (bySource)
    command += " --reference source";
  if (request.timeoutSeconds != Request().timeoutSeconds)
    command += fmt::format(" --timeout {}", request.timeoutSeconds);
  if (!whole)
    return command;
  if (!request.mapping.empty())
    command += " --mapping " + request.mapping;
  for (const Hint &hint : request.hints)
    command += " --hint " + shellQuoted(hint.key + "=" + hint.value);
  return command;
}

} // namespace opsight::port
