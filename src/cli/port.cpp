// opsight port: a candidate for the card, judged, under the engineer's constraints.
#include "cli/judging.h"

namespace opsight::cli {

Verb addPort(CLI::App &app) {
  CLI::App *command = app.add_subcommand("port", "read, see, translate, verify, improve, report; ends with a verdict");
  command->description("Example:\n  opsight port examples/sdpa/port.toml\n  opsight port flash.toml --card cpu --ask "
                       "\"64x64 tiles for the matrix products\" --hint reduce-stride=4\n\n"
                       "Ports a CUDA kernel to a card and judges the result. Exit code 0: PASS, 1: FAIL.");
  auto options = std::make_shared<JudgingOptions>();
  addJudgingOptions(*command, *options);
  return {command, [options] { return runJudging(port::Verb::Port, *options); }};
}

} // namespace opsight::cli
