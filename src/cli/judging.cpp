#include "cli/judging.h"
#include "cli/interrupt.h"
#include "port/port_file.h"
#include "port/source_request.h"
#include "port/verdict_log.h"
#include "report/result_files.h"
#include "report/terminal.h"
#include "report/verdict_json.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace opsight::cli {

static const std::map<std::string, Color> colorNames = {
    {"auto", Color::Auto}, {"always", Color::Always}, {"never", Color::Never}};

/// CLI11's own ranges let NaN through, and no verdict holds against NaN.
static const CLI::Validator positive(
    [](std::string &text) -> std::string {
      char *end = nullptr;
      double value = std::strtod(text.c_str(), &end);
      bool fits = !text.empty() && *end == 0 && std::isfinite(value) && value > 0;
      return fits ? "" : "'" + text + "' is no number above 0";
    },
    "above 0");

static void addFileOptions(CLI::App &command, JudgingOptions &o) {
  const char *group = "For a .cu file, what a port file would say";
  command.add_option("--operator", o.operatorName, "operator that the kernel computes; see: opsight ops")->group(group);
  command.add_option("--kernel", o.kernel, "__global__ function, or a template's instance \"flash<64, 64>\"")->group(group);
  command.add_option("--grid", o.grid, "up to three expressions: \"ceil_div(L, 64), H, B\"")->group(group);
  command.add_option("--block", o.block, "up to three expressions: 256")->group(group);
  command.add_option("--shared", o.shared, "bytes of dynamic shared memory, an expression")->group(group);
  command.add_option("--argument", o.arguments, "NAME=VALUE: what a kernel parameter receives")->group(group)->allow_extra_args(false);
  command.add_option("--define", o.defines, "NAME=EXPRESSION: a macro, built for each value")->group(group)->allow_extra_args(false);
  command.add_option("--option", o.options, "NAME=VALUE of the operator, such as causal=top-left")->group(group)->allow_extra_args(false);
  command.add_option("--limit", o.limits, "EXPRESSION=VALUE[,VALUE]: the cases that the kernel takes")->group(group)->allow_extra_args(false);
}

void addJudgingOptions(CLI::App &command, JudgingOptions &o) {
  command.add_option("FILE", o.file, "a port file (.toml), or a .cu file with options that say the same")->required();
  command.add_option("--card", o.overrides.card, "card to run on; see: opsight cards");
  command.add_option("--ask", o.overrides.asks, "what is wanted, in plain Chinese or English; repeatable")->allow_extra_args(false);
  command.add_option("--hint", o.overrides.hints, "KEY=VALUE: softmax, tile, reduce-stride, kv, order; repeatable")->allow_extra_args(false);
  command.add_option("--max-error", o.overrides.maxError, "largest error accepted")->check(positive);
  command.add_option("--min-speed", o.overrides.minSpeed, "least speed accepted, as a share of the reference's")->check(positive);
  command.add_option("--reference", o.overrides.reference, "what speed is compared with: vendor, source, or a figures.toml recorded on another card");
  command.add_option("--mapping", o.overrides.mapping, "of recipes: simt or simd")->check(CLI::IsMember({"simt", "simd"}));
  command.add_flag("--accuracy-only", o.overrides.accuracyOnly, "measure no speed");
  command.add_option("--case", o.overrides.cases, "B=1,H=8,L=1024,…: one more case; repeatable")->allow_extra_args(false);
  command.add_option("--seed", o.overrides.seed, "of the inputs; a new one each time unless told");
  command.add_option("--timeout", o.overrides.timeoutSeconds, "seconds one kernel run may take; 30 unless told")->check(positive & CLI::Range(0.001, 86400.0));
  command.add_option("--tune-seconds", o.overrides.tuneSeconds, "seconds that the search of `port` may take; 60 unless told")->check(positive & CLI::Range(0.001, 86400.0));
  command.add_flag("--retune", o.overrides.retune, "search anew, whatever an earlier `port` of this request found");
  command.add_option("-o", o.output, "folder for the results; opsight-out/NAME unless told");
  command.add_flag("--json", o.json, "print the verdict as JSON and nothing else");
  command.add_flag("--quiet", o.quiet, "show no progress");
  command.add_option("--color", o.color, "auto, always or never")->transform(CLI::CheckedTransformer(colorNames, CLI::ignore_case));
  addFileOptions(command, o);
}

/// The options that only make sense beside a .cu file would be dropped silently beside a port file.
static Status checkFileOptions(const JudgingOptions &o) {
  bool given = !o.operatorName.empty() || !o.kernel.empty() || !o.grid.empty() || !o.block.empty() || !o.shared.empty() ||
               !o.arguments.empty() || !o.defines.empty() || !o.options.empty() || !o.limits.empty();
  if (!given || std::filesystem::path(o.file).extension() == ".cu")
    return {};
  return userError("--operator, --kernel, --grid, --block, --shared, --argument, --define, --option and --limit go with a .cu file",
                   "'" + o.file + "' says these things itself");
}

Result<port::Request> requestOf(const JudgingOptions &o) {
  if (Status fits = checkFileOptions(o); !fits)
    return std::unexpected(fits.error());
  if (std::filesystem::path(o.file).extension() != ".cu")
    return port::readPortFile(o.file);
  port::SourceOptions said{o.operatorName, o.kernel, o.grid, o.block, o.shared, o.arguments, o.defines, o.options, o.limits};
  return port::requestForSource(o.file, said);
}

Result<Carried> carriedOut(port::Verb verb, port::Request request, const JudgingOptions &o, const std::string &suffix) {
  std::filesystem::path path = o.output;
  if (path.empty())
    path = std::filesystem::path("opsight-out") / (std::filesystem::path(o.file).stem().string() + suffix);
  Result<port::OutputFolder> folder = port::OutputFolder::open(path);
  if (!folder)
    return std::unexpected(folder.error());
  removeOnInterrupt(folder->removable());
  port::Plan plan(progressListener(o.quiet, o.color), folder->journal());
  Result<port::Outcome> outcome = port::carryOut(verb, std::move(request), o.overrides, path, plan);
  if (!outcome)
    return std::unexpected(outcome.error());
  return Carried{std::move(*folder), std::move(*outcome)};
}

static Result<port::Outcome> judged(port::Verb verb, const JudgingOptions &o) {
  Result<port::Request> request = requestOf(o);
  if (!request)
    return std::unexpected(request.error());
  Result<Carried> carried = carriedOut(verb, std::move(*request), o);
  if (!carried)
    return std::unexpected(carried.error());
  port::Outcome &outcome = carried->outcome;
  if (Status written = report::writeResults(carried->folder, outcome); !written)
    return std::unexpected(written.error());
  removeOnInterrupt({});
  if (std::filesystem::path log = port::verdictLogFile(); !log.empty())
    if (Status recorded = port::recordVerdict(outcome, log); !recorded && !o.quiet)
      fmt::print(stderr, "note: {}\n", recorded.error().what);
  std::string text = o.json ? report::verdictJson(outcome)
                            : report::terminalReport(outcome, carried->folder.path().string(),
                                                     {colored(o.color, STDOUT_FILENO), columnsOf(STDOUT_FILENO)});
  std::fwrite(text.data(), 1, text.size(), stdout);
  return std::move(outcome);
}

int runJudging(port::Verb verb, const JudgingOptions &options) {
  Result<port::Outcome> outcome = judged(verb, options);
  if (!outcome)
    return complain(outcome.error(), options.color);
  return outcome->verdict.pass ? 0 : 1;
}

} // namespace opsight::cli
