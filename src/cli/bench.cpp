// opsight bench: the whole search of a port as a table and a plot.
#include "cli/interrupt.h"
#include "cli/judging.h"
#include "report/bench_report.h"
#include <cstdio>
#include <unistd.h>

namespace opsight::cli {

namespace {

Result<std::string> benched(const JudgingOptions &o) {
  Result<port::Request> request = requestOf(o);
  if (!request)
    return std::unexpected(request.error());
  if (request->declared)
    return unsupported("a bench of a kernel without an operator: nothing says what it should be compared with");
  Result<Carried> carried = carriedOut(port::Verb::Bench, std::move(*request), o, "-bench");
  if (!carried)
    return std::unexpected(carried.error());
  auto &[folder, outcome] = *carried;
  const std::pair<const char *, std::string> files[] = {{"bench.json", report::benchJson(outcome)},
                                                        {"bench.svg", report::benchSvg(outcome)},
                                                        {"bench.txt", report::benchText(outcome, {})}};
  for (const auto &[name, text] : files)
    if (Status written = folder.write(name, text); !written)
      return std::unexpected(written.error());
  if (Status committed = folder.commit(); !committed)
    return std::unexpected(committed.error());
  removeOnInterrupt({});
  if (o.json)
    return report::benchJson(outcome);
  return report::benchText(outcome, {colored(o.color, STDOUT_FILENO), columnsOf(STDOUT_FILENO)}) +
         "\nPlot: " + (folder.path() / "bench.svg").string() + "\n";
}

} // namespace

Verb addBench(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("bench", "every candidate of a port beside the reference, as a table and a plot");
  command->description("Example:\n  opsight bench examples/sdpa/port.toml\n  opsight bench examples/sdpa/port.toml "
                       "--tune-seconds 300\n\n"
                       "Searches as `opsight port` does, but shows everything that was measured, this time and before "
                       "(--retune: this time alone). The exit code is 0 whatever is found.");
  auto options = std::make_shared<JudgingOptions>();
  addJudgingOptions(*command, *options);
  command->get_option("--json")->description("print the figures as JSON and nothing else");
  command->get_option("-o")->description(
      "folder for bench.json, bench.svg and bench.txt; opsight-out/NAME-bench unless told");
  return {command, [options] {
            Result<std::string> text = benched(*options);
            if (!text)
              return complain(text.error(), options->color);
            std::fwrite(text->data(), 1, text->size(), stdout);
            return 0;
          }};
}

} // namespace opsight::cli
