// What the verbs that take a FILE have in common: their options, the request they make, and, of `port` and `verify`, the way
// to a verdict on the screen.
#pragma once
#include "cli/screen.h"
#include "cli/verbs.h"
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
int runJudging(port::Verb verb, const JudgingOptions &options);

} // namespace opsight::cli
