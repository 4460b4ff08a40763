// What the verbs that take a FILE have in common: their options, the request they make, and, of `port` and `verify`, the way
// to a verdict on the screen.
#pragma once
#include "cli/screen.h"
#include "cli/verbs.h"
#include "port/output_folder.h"
#include "port/port.h"

namespace opsight::cli {

/// Options of the verbs, as typed.
struct JudgingOptions {
  std::string file;
  port::Overrides overrides;
  // What a port file says, for a .cu file.
  std::string operatorName, kernel, grid, block, shared;
  std::vector<std::string> arguments, defines, options, limits;
  std::string output;
  bool json = false, quiet = false;
  Color color = Color::Auto;
};

void addJudgingOptions(CLI::App &command, JudgingOptions &options);
/// What the port file, or the .cu file with its options, asks for; a user error for options that FILE itself says.
Result<port::Request> requestOf(const JudgingOptions &options);
/// What was carried out, and the folder that its results belong in.
struct Carried {
  port::OutputFolder folder;
  port::Outcome outcome;
};
/// Carries `request` out with progress and journal; results go to -o, else to opsight-out/NAME and `suffix`. Until the
/// caller says otherwise, an interrupt removes what is unfinished there.
Result<Carried> carriedOut(port::Verb verb, port::Request request, const JudgingOptions &options,
                           const std::string &suffix = {});
int runJudging(port::Verb verb, const JudgingOptions &options);

} // namespace opsight::cli
