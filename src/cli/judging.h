// What `port` and `verify` have in common: their options, and the way from them to a verdict on the screen.
#pragma once
#include "cli/screen.h"
#include "cli/verbs.h"
#include "port/port.h"

namespace opsight::cli {

/// Options of both verbs, as typed.
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
int runJudging(port::Verb verb, const JudgingOptions &options);

} // namespace opsight::cli
