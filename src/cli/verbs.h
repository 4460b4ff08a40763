// The verbs of the command line. Each registers its options and returns what runs it; only this room prints or exits.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace opsight::cli {

/// Runs a verb after parsing; returns the exit code (interface.md, "Exit codes").
using Run = std::function<int()>;

/// A verb's subcommand and what runs it.
struct Verb {
  CLI::App *command;
  Run run;
};

Verb addPort(CLI::App &app);
Verb addVerify(CLI::App &app);
Verb addSee(CLI::App &app);
Verb addBench(CLI::App &app);
Verb addCards(CLI::App &app);
Verb addOps(CLI::App &app);

} // namespace opsight::cli
