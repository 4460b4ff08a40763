#include "port/settle.h"
#include "base/text.h"
#include "card/profile.h"
#include "port/ask.h"
#include "port/contains.h"
#include "port/hint.h"
#include "port/port_file.h"
#include <sstream>

namespace opsight::port {

/// With `onlyRunning` without those that are profiles only.
static std::vector<std::string> namesOf(const std::vector<card::Profile> &profiles, bool onlyRunning) {
  std::vector<std::string> names;
  for (const card::Profile &profile : profiles) {
    if (profile.canRun() || !onlyRunning)
      names.push_back(profile.name);
    if (profile.canRun() && !contains(names, profile.driver))
      names.push_back(profile.driver);
  }
  return names;
}

Result<std::vector<std::string>> cardNames() {
  Result<std::vector<card::Profile>> profiles = card::allProfiles();
  if (!profiles)
    return std::unexpected(profiles.error());
  return namesOf(*profiles, false);
}

static Status checkCard(const std::string &name, const std::vector<std::string> &known, SourcePlace where = {}) {
  if (contains(known, name))
    return {};
  return userError(unknownName("card", name, known), "see: opsight cards", where);
}

static std::string shortest(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

/// The demands of one level: its plain settings first, then its sentences, so that a clash between them is found.
static Result<Asked> level(Asked asked, const std::vector<Placed> &asks, const std::vector<std::string> &cards) {
  for (const Placed &ask : asks)
    if (Status understood = understand(ask, cards, asked); !understood)
      return std::unexpected(understood.error());
  return asked;
}

static void mergeBar(std::optional<double> &bar, const std::optional<double> &over, const std::string &name,
                     std::vector<std::string> &notes) {
  if (!over)
    return;
  if (bar && *bar != *over)
    notes.push_back(name + " " + shortest(*bar) + " of the port file gives way to the command line's " + shortest(*over));
  bar = over;
}

static void mergeHints(std::vector<Hint> &hints, const std::vector<Hint> &over, std::vector<std::string> &notes) {
  for (const Hint &hint : over) {
    bool repeatable = std::ranges::find(hintKinds(), hint.key, &HintKind::key)->repeatable;
    std::erase_if(hints, [&](const Hint &other) {
      if (other.key != hint.key || (repeatable && other.value != hint.value))
        return false;
      if (other.value != hint.value)
        notes.push_back("hint " + other.key + "=" + other.value + " of the port file gives way to the command line's " +
                        hint.key + "=" + hint.value);
      return true;
    });
    hints.push_back(hint);
  }
}

static Result<Asked> commandLine(const Overrides &overrides, const std::vector<std::string> &cards) {
  Asked asked;
  asked.maxError = overrides.maxError;
  asked.minSpeed = overrides.minSpeed;
  for (const std::string &text : overrides.hints) {
    Result<Hint> hint = parseHint(text, {.file = "--hint"});
    if (!hint)
      return std::unexpected(hint.error());
    if (Status added = addHint(asked.hints, *hint); !added)
      return std::unexpected(added.error());
  }
  std::vector<Placed> asks;
  for (const std::string &text : overrides.asks)
    asks.push_back({text, {.file = "--ask"}});
  return level(std::move(asked), asks, cards);
}

static Status settleCard(Request &request, const Overrides &overrides, const std::optional<std::string> &said,
                         const std::vector<std::string> &cards) {
  if (said && !request.card.empty() && request.card != *said && overrides.card.empty())
    return userError("two different cards: '" + request.card + "' in the port file, '" + *said + "' in the request",
                     "keep one of them, or give --card");
  if (said)
    request.card = *said;
  if (!overrides.card.empty())
    request.card = overrides.card;
  if (request.card.empty())
    request.card = "cpu";
  return checkCard(request.card, cards);
}

static Status settleSpeed(Request &request, const Overrides &overrides) {
  request.accept.accuracyOnly |= overrides.accuracyOnly;
  if (!overrides.reference.empty())
    request.accept.reference = Placed{overrides.reference, {.file = "--reference"}};
  if (!request.accept.reference)
    return {};
  const Placed &reference = *request.accept.reference;
  if (reference.text == "vendor" || reference.text == "source" || reference.text.ends_with(".toml"))
    return {};
  return userError(unknownName("reference", reference.text, std::vector<std::string>{"vendor", "source"}),
                   "vendor, source, or a .toml file of figures recorded on another card", reference.where);
}

/// What goes with an operator only would be dropped silently.
static Status settleDeclared(Request &request) {
  const Accept &accept = request.accept;
  if (accept.minSpeed || accept.reference)
    return unsupported("a speed for a kernel without an operator: it is judged for accuracy alone",
                       "leave out min_speed and accept.reference; what its outputs are compared with is [reference]",
                       {request.file.string()});
  if (!request.hints.empty())
    return unsupported("hint '" + request.hints.front().key + "' for a kernel without an operator: there is no recipe for it",
                       "leave the hints out to have the kernel judged as it is", request.hints.front().where);
  request.accept.accuracyOnly = true;
  return {};
}

Status settle(Request &request, const Overrides &overrides, std::vector<std::string> &notes) {
  Result<std::vector<card::Profile>> profiles = card::allProfiles();
  if (!profiles)
    return std::unexpected(profiles.error());
  // A profile that a sentence names is something to compare with, not to run on.
  const std::vector<std::string> askable = namesOf(*profiles, true);
  Asked written{{}, request.accept.maxError, request.accept.minSpeed, {}, request.hints};
  Result<Asked> file = level(std::move(written), request.asks, askable);
  if (!file)
    return std::unexpected(file.error());
  Result<Asked> line = commandLine(overrides, askable);
  if (!line)
    return std::unexpected(line.error());
  if (Status card = settleCard(request, overrides, line->card ? line->card : file->card, namesOf(*profiles, false)); !card)
    return card;
  mergeBar(file->maxError, line->maxError, "the error limit", notes);
  mergeBar(file->minSpeed, line->minSpeed, "the speed limit", notes);
  mergeHints(file->hints, line->hints, notes);
  request.accept.maxError = file->maxError;
  request.accept.minSpeed = file->minSpeed;
  request.hints = file->hints;
  request.understood = file->parts;
  request.understood.insert(request.understood.end(), line->parts.begin(), line->parts.end());
  if (Status speed = settleSpeed(request, overrides); !speed)
    return speed;
  if (request.declared)
    if (Status declared = settleDeclared(request); !declared)
      return declared;
  for (const std::string &text : overrides.cases) {
    Result<ops::Case> made = parseCase(*request.op, text, request.options);
    if (!made)
      return std::unexpected(made.error());
    request.cases.push_back(std::move(*made));
  }
  if (!overrides.mapping.empty())
    request.mapping = overrides.mapping;
  if (overrides.seed)
    request.seed = overrides.seed;
  if (overrides.timeoutSeconds)
    request.timeoutSeconds = *overrides.timeoutSeconds;
  request.tuneSeconds = overrides.tuneSeconds.value_or(request.tuneSeconds);
  request.retune = overrides.retune;
  return {};
}

} // namespace opsight::port
