// bench-warp-machine: the embedded card `cpu` beside PoCL and Intel's OpenCL runtime on typical CUDA kernels, all fed by
// our own front end. A kernel's results are checked against a plain loop in double on each machine before it is timed;
// race.h says how the timing is made. bench/README.md has the command and how to read the table.
#include "base/file.h"
#include "race.h"
#include "table.h"
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <regex>
#include <thread>

using namespace opsight;
using namespace opsight::bench;

namespace {
struct Arguments {
  std::string filter = ".*", jsonFile;
  std::vector<std::string> only = {"cpu", "pocl", "intel"};
  double seconds = 4;
  bool checkOnly = false, compileOnly = false, launchOnly = false;
  std::vector<unsigned> lanes = {0};
  Options options;
};

void declare(CLI::App &app, Arguments &arguments) {
  app.add_option("--filter", arguments.filter, "kernels whose name holds this regular expression");
  app.add_option("--seconds", arguments.seconds, "of timing a kernel, all machines together")->capture_default_str();
  app.add_option("--only", arguments.only, "machines to run, the first is what the others are compared with; watched: the cpu card as a verdict watches it; published: with observers")
      ->check(CLI::IsMember({"cpu", "watched", "published", "pocl", "intel"}))
      ->delimiter(',')
      ->capture_default_str();
  app.add_flag("--check", arguments.checkOnly, "results only, nothing is timed");
  app.add_flag("--compile", arguments.compileOnly, "how long the cpu card's compiler takes, first and from the cache");
  app.add_flag("--launch", arguments.launchOnly, "what a launch of an empty kernel costs on the cpu card");
  app.add_option("--json", arguments.jsonFile, "write all figures to this file");
  app.add_option("--lanes", arguments.lanes, "threads in one vector of the cpu card; several are run as so many machines")
      ->delimiter(',')
      ->default_str("as it chooses");
  app.add_option("--processor", arguments.options.processor, "the cpu card's -march, x86-64-v3 for AVX2")
      ->capture_default_str();
  app.add_option("--keep", arguments.options.keepFolder, "folder that receives the cpu card's code, .so and .s");
}

std::string describeMachine(const std::vector<std::unique_ptr<Contender>> &contenders) {
  double load = 0;
  ::getloadavg(&load, 1);
  std::string text = contenders.empty() ? "" : contenders.front()->info().device;
  text += fmt::format(", {} processors, load {:.1f} at the start", std::thread::hardware_concurrency(), load);
  for (const auto &contender : contenders)
    text += fmt::format("; {}: {}", contender->info().card, contender->info().driver);
  return text;
}

/// What to open: "cpu" once for each number of lanes.
std::vector<std::pair<Part, Options>> chosen(const Arguments &arguments) {
  std::vector<std::pair<Part, Options>> machines;
  for (const std::string &name : arguments.only)
    for (unsigned lanes : name == "cpu" ? arguments.lanes : std::vector<unsigned>{0}) {
      Part part;
      lower::Watched watched = name == "watched"     ? lower::Watched::Checked
                               : name == "published" ? lower::Watched::Published
                                                     : lower::Watched::No;
      bool isWatched = watched != lower::Watched::No;
      part.card = isWatched || name == "cpu" ? "cpu" : "opencl:" + name;
      part.label = isWatched ? name : lanes ? fmt::format("{}/{}", part.card, lanes) : part.card;
      Options options = arguments.options;
      options.watched = watched;
      options.lanes = lanes;
      machines.emplace_back(std::move(part), std::move(options));
    }
  return machines;
}

/// Opens the machines asked for; one without a device stays in the table as such.
Result<std::vector<Part>> openParts(const Arguments &arguments, std::vector<std::unique_ptr<Contender>> &contenders) {
  std::vector<Part> parts;
  for (auto &[part, options] : chosen(arguments)) {
    auto opened = Contender::open(part.card, options);
    if (!opened && opened.error().kind != ErrorKind::NoVerdict)
      return std::unexpected(opened.error());
    if (opened) {
      contenders.push_back(std::move(*opened));
      part.contender = contenders.back().get();
    } else {
      fmt::print(stderr, "{}\n", describe(opened.error()));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<Outcome> run(const Entry &entry, const Arguments &arguments, const std::vector<Part> &parts) {
  Workload workload = entry.make();
  Outcome outcome{.name = entry.name, .size = workload.size, .usesWarps = workload.usesWarps, .roof = workload.roof, .parts = parts};
  outcome.work = workload.roof == Roof::Peak ? workload.flops : workload.bytes;
  check(workload, outcome);
  if (!arguments.checkOnly)
    if (Status timed = bench::time(workload, arguments.seconds, outcome); !timed)
      return std::unexpected(timed.error());
  return outcome;
}

/// One line a machine and a kernel, for --check.
std::string verdictRow(const Outcome &outcome) {
  std::string text;
  for (const Part &part : outcome.parts)
    text += fmt::format("{:<18} {:<23} {:<12} {}\n", outcome.name, outcome.size, part.label,
                        !part.contender                ? "no device"
                        : !part.failure.empty()        ? part.failure
                        : !part.suspicion().empty()    ? part.suspicion()
                                                       : "right");
  return text;
}

/// In the worker, from the first thread that starts to the last that ends; and for who waits for the launch, in the tool.
Status launchEmpty(Contender &contender) {
  fmt::print("{:<28} {:>12} {:>12}\n{:<28} {:>12} {:>12}\n", "empty kernel", "kernel", "caller", "", "us, median", "us, median");
  for (uint32_t blocks : {1u, 1'000'000u}) {
    Workload workload{.file = "bench/kernels/empty.cu", .kernel = "empty"};
    workload.launch.grid = {blocks, 1, 1};
    workload.launch.block = {32, 1, 1};
    if (Status prepared = contender.prepare(workload); !prepared)
      return prepared;
    std::vector<double> kernel, caller;
    for (int i = 0; i < (blocks == 1 ? 2000 : 20); ++i) {
      auto start = std::chrono::steady_clock::now();
      auto seconds = contender.launch();
      if (!seconds)
        return std::unexpected(seconds.error());
      caller.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      kernel.push_back(*seconds);
    }
    fmt::print("{:<28} {:>12.1f} {:>12.1f}\n", fmt::format("{} block{} of 32 threads", blocks, blocks == 1 ? "" : "s"),
               judge::medianInterval(kernel).median * 1e6, judge::medianInterval(caller).median * 1e6);
  }
  return {};
}

/// Each kernel compiled into an empty cache, then again, five times; the fastest of those.
Status compileAll(const Contender &contender, const std::regex &filter) {
  std::string folder = (std::filesystem::temp_directory_path() / "opsight-bench-cache-XXXXXX").string();
  if (!::mkdtemp(folder.data()))
    return noVerdict("no temporary folder can be made", "set TMPDIR to a folder that can be written");
  ::setenv("OPSIGHT_CACHE", folder.c_str(), 1);
  fmt::print("{:<20} {:>10} {:>12}\n{:<20} {:>10} {:>12}\n", "kernel", "first", "from cache", "", "ms", "ms");
  Status done;
  for (const Entry &entry : workloads()) {
    if (!std::regex_search(entry.name, filter))
      continue;
    Workload workload = entry.make();
    auto first = contender.compileSeconds(workload);
    Result<double> cached = first;
    for (int i = 0; i < 5 && cached; ++i)
      if (auto again = contender.compileSeconds(workload); !again || *again < *cached)
        cached = again;
    if (!cached) {
      done = std::unexpected(cached.error());
      break;
    }
    fmt::print("{:<20} {:>10.0f} {:>12.1f}\n", entry.name, *first * 1e3, *cached * 1e3);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return done;
}

int fail(const Error &error) {
  fmt::print(stderr, "{}\n", describe(error));
  return exitCode(error.kind);
}
} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  CLI::App app("Compares the embedded card `cpu` with PoCL and Intel's OpenCL runtime on typical CUDA kernels.");
  declare(app, arguments);
  CLI11_PARSE(app, argc, argv);
  std::vector<std::unique_ptr<Contender>> contenders;
  auto parts = openParts(arguments, contenders);
  if (!parts)
    return fail(parts.error());
  std::string machine = describeMachine(contenders);
  if ((arguments.compileOnly || arguments.launchOnly) && !contenders.empty()) {
    fmt::print("{}\n", machine);
    Status done = arguments.compileOnly ? compileAll(*contenders.front(), std::regex(arguments.filter))
                                        : launchEmpty(*contenders.front());
    return done ? 0 : fail(done.error());
  }
  fmt::print("{}\n{}", machine, arguments.checkOnly ? "" : tableHead(*parts));
  std::vector<Outcome> outcomes;
  bool isFirstRight = true, isUnsuspected = true;
  std::regex filter(arguments.filter);
  for (const Entry &entry : workloads()) {
    if (!std::regex_search(entry.name, filter))
      continue;
    auto outcome = run(entry, arguments, *parts);
    if (!outcome)
      return fail(outcome.error());
    fmt::print("{}", arguments.checkOnly ? verdictRow(*outcome) : tableRow(*outcome));
    std::fflush(stdout);
    isFirstRight &= outcome->parts.front().contender && outcome->parts.front().failure.empty();
    for (const Part &part : outcome->parts)
      isUnsuspected &= part.suspicion().empty();
    outcomes.push_back(std::move(*outcome));
  }
  fmt::print("{}", tableEnd(outcomes));
  if (!arguments.jsonFile.empty())
    if (Status written = writeFile(arguments.jsonFile, json(outcomes, machine)); !written)
      return fail(written.error());
  return isFirstRight && isUnsuspected && !outcomes.empty() ? 0 : 1;
}
