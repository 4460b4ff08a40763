// opsight cards: the cards known here, which have a device, and each profile with its sources.
#include "base/text.h"
#include "card/session.h"
#include "cli/screen.h"
#include "cli/verbs.h"
#include "report/catalogue.h"
#include <cstdio>
#include <unistd.h>

namespace opsight::cli {

namespace {

struct Options {
  std::string name;
  bool json = false;
  Color color = Color::Auto;
};

/// The profile with what its device says and measures, where there is one.
report::CardEntry entryOf(card::Profile profile) {
  report::CardEntry entry{std::move(profile), std::nullopt, std::nullopt, {}};
  if (!entry.profile.canRun()) {
    entry.absent = "a profile only, for `opsight see`";
    return entry;
  }
  Result<std::unique_ptr<card::Session>> session = card::Session::open(entry.profile.name, {});
  if (!session) {
    entry.absent = session.error().what;
    return entry;
  }
  entry.device = (*session)->info();
  if (Result<card::Session::Peak> peak = (*session)->measurePeak())
    entry.peak = *peak;
  return entry;
}

Result<std::vector<card::Profile>> chosen(const std::string &name) {
  if (name.empty())
    return card::allProfiles();
  Result<card::Profile> profile = card::findProfile(name);
  if (!profile)
    return std::unexpected(profile.error());
  return std::vector{*profile};
}

int run(const Options &options) {
  Result<std::vector<card::Profile>> profiles = chosen(options.name);
  if (!profiles)
    return complain(profiles.error(), options.color);
  std::vector<report::CardEntry> entries;
  for (card::Profile &profile : *profiles)
    entries.push_back(entryOf(std::move(profile)));
  std::string text = options.json ? report::cardsJson(entries) : report::cardsText(entries, columnsOf(STDOUT_FILENO));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

} // namespace

Verb addCards(CLI::App &app) {
  CLI::App *command = app.add_subcommand("cards", "the cards known here, their devices and profiles");
  command->description("Example:\n  opsight cards\n  opsight cards cpu --json\n\nLists each card: its device, driver, measured peak, "
                       "what it cannot do, and its profile's figures with their sources.");
  auto options = std::make_shared<Options>();
  command->add_option("NAME", options->name, "one card");
  command->add_flag("--json", options->json, "as JSON and nothing else");
  return {command, [options] { return run(*options); }};
}

} // namespace opsight::cli
