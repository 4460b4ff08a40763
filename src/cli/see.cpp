// opsight see: what a kernel does to a card's memory and threads, line by line, and what is worth changing.
#include "port/see.h"
#include "base/file.h"
#include "cli/interrupt.h"
#include "cli/judging.h"
#include "port/output_folder.h"
#include "report/findings_json.h"
#include "report/findings_text.h"
#include "report/sarif.h"
#include <cstdio>
#include <unistd.h>

namespace opsight::cli {

namespace {

struct SeeOptions {
  JudgingOptions shared;
  bool wantsSarif = false;
  std::string sarif; // a file; empty: standard output
};

std::string sarifOf(const std::vector<sight::Findings> &findings) {
  return report::findingsSarif(findings, std::filesystem::current_path());
}

/// What standard output gets.
std::string shown(const SeeOptions &o, const std::vector<sight::Findings> &findings) {
  if (o.shared.json)
    return report::findingsJson(findings);
  if (o.wantsSarif && o.sarif.empty())
    return sarifOf(findings);
  return report::findingsText(findings, {colored(o.shared.color, STDOUT_FILENO), columnsOf(STDOUT_FILENO)});
}

Status writeFiles(const SeeOptions &o, const std::vector<sight::Findings> &findings) {
  if (!o.sarif.empty())
    if (Status written = writeFile(o.sarif, sarifOf(findings)); !written)
      return written;
  if (o.shared.output.empty())
    return {};
  Result<port::OutputFolder> folder = port::OutputFolder::open(o.shared.output);
  if (!folder)
    return std::unexpected(folder.error());
  removeOnInterrupt(folder->removable());
  const std::pair<const char *, std::string> files[] = {{"findings.json", report::findingsJson(findings)},
                                                        {"findings.sarif", sarifOf(findings)},
                                                        {"findings.txt", report::findingsText(findings, {})}};
  for (const auto &[name, text] : files)
    if (Status written = folder->write(name, text); !written)
      return written;
  removeOnInterrupt({});
  return folder->commit();
}

Result<std::vector<sight::Findings>> seen(const SeeOptions &o) {
  if (o.shared.json && o.wantsSarif && o.sarif.empty())
    return userError("--json and --sarif both want standard output", "give --sarif a FILE");
  Result<port::Request> request = requestOf(o.shared);
  if (!request)
    return std::unexpected(request.error());
  port::Overrides overrides = o.shared.overrides;
  const std::string card = std::exchange(overrides.card, "");
  port::Plan plan(progressListener(o.shared.quiet, o.shared.color), {});
  return port::see(std::move(*request), overrides, card, plan);
}

int run(const SeeOptions &o) {
  Result<std::vector<sight::Findings>> findings = seen(o);
  if (!findings)
    return complain(findings.error(), o.shared.color);
  if (Status written = writeFiles(o, *findings); !written)
    return complain(written.error(), o.shared.color);
  const std::string text = shown(o, *findings);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

} // namespace

Verb addSee(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("see", "show what a kernel does to a card's memory and threads, and what to change");
  command->description(
      "Example:\n  opsight see examples/sdpa/port.toml\n  opsight see examples/saxpy/verify.toml --card h100 --json\n\n"
      "Runs a CUDA kernel once on a small problem on the embedded card, watches every access, and assesses it on a "
      "card's profile (docs/sight.md). Judges nothing: the exit code is 0 whatever is found.");
  auto options = std::make_shared<SeeOptions>();
  addJudgingOptions(*command, options->shared);
  command->get_option("--card")->description("profile to assess on, " + std::string(port::defaultProfile) +
                                             " unless told; see: opsight cards");
  command->get_option("--json")->description("print the findings as JSON and nothing else");
  command->get_option("-o")->description("folder for findings.json, findings.sarif and findings.txt; none unless told");
  command->get_option("--seed")->description("of the inputs; the same each time unless told");
  command->get_option("--timeout")->description("seconds one watched run may take; 120 unless told");
  command->get_option("--case")->description("B=1,H=8,L=256,…: the problem to watch");
  CLI::Option *sarif =
      command->add_option("--sarif", options->sarif, "the findings as SARIF 2.1.0, into FILE or to standard output");
  sarif->expected(0, 1)->type_name("[FILE]");
  return {command, [options, sarif] {
            options->wantsSarif = sarif->count() > 0;
            return run(*options);
          }};
}

} // namespace opsight::cli
