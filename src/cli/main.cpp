// opsight: ports CUDA operators to other accelerators and proves the port. One file a verb; this one only chooses.
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/screen.h"
#include "cli/verbs.h"
#include <algorithm>
#include <cstdio>
#include <string_view>

using namespace opsight;

static int usageError(const CLI::App &app, const CLI::ParseError &error) {
  if (error.get_exit_code() == 0) { // --help, --version
    app.exit(error);
    return 0;
  }
  return cli::complain({ErrorKind::User, error.what(), {}, "see: opsight --help, opsight VERB --help"}, cli::Color::Auto);
}

/// A first word that is no verb is more likely a slip than an option's value.
static int unknownVerb(const std::string &word, const std::vector<cli::Verb> &verbs) {
  std::vector<std::string> known;
  for (const cli::Verb &verb : verbs)
    known.push_back(verb.command->get_name());
  return cli::complain({ErrorKind::User, unknownName("verb", word, known), {}, "see: opsight --help"}, cli::Color::Auto);
}

int main(int argc, char **argv) {
  CLI::App app("Example:\n  opsight port examples/sdpa/port.toml\n\n"
               "Opsight ports CUDA operators to other accelerators and says PASS only for what it has measured.",
               "opsight");
  app.set_version_flag("--version", "opsight " OPSIGHT_VERSION);
  app.require_subcommand(1);
  std::vector<cli::Verb> verbs = {cli::addPort(app), cli::addVerify(app), cli::addSee(app), cli::addBench(app), cli::addCards(app), cli::addOps(app)};
  if (argc == 1) {
    std::fputs(app.help().c_str(), stderr);
    return 2;
  }
  bool isVerb = std::ranges::any_of(verbs, [&](const cli::Verb &verb) { return verb.command->get_name() == argv[1]; });
  if (argv[1][0] != '-' && !isVerb)
    return unknownVerb(argv[1], verbs);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return usageError(app, error);
  }
  cli::watchForInterrupts();
  auto chosen = std::ranges::find_if(verbs, [](const cli::Verb &verb) { return verb.command->parsed(); });
  return chosen->run();
}
