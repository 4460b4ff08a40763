#include "port/tuner.h"
#include "base/text.h"
#include "port/contains.h"
#include "port/parameters.h"
#include <fmt/format.h>

namespace opsight::port {

namespace {

constexpr size_t mostBesides = 4;     // candidates measured to tell what one hint costs
constexpr double worthTelling = 0.01; // a smaller gain is within what two measurements differ by

/// The parameters that parts of `hint` fix.
std::vector<std::string> parametersOf(const Proposal &proposal, const Hint &hint) {
  std::vector<std::string> names;
  for (const auto &[name, value] : fixedBy(std::span(&hint, 1), proposal.declared->parameters))
    names.push_back(name);
  return names;
}

} // namespace

Result<Entry *> Tuner::measure(const Proposal &proposal, const Symbols &values, std::deque<Entry> &entries, double from,
                               double to) {
  if (!earlier)
    earlier = record.trials();
  for (Entry &entry : entries)
    if (entry.result.name == proposal.name && entry.values == values)
      return &entry;
  Entry &entry = entries.emplace_back(hands.make(proposal.kernelWith(values)), values);
  for (const TrialLine &trial : *earlier)
    if (trial.candidate == proposal.name && trial.values == values) {
      entry.result.state = "recorded";
      entry.result.why =
          "judged " + std::string(trial.right ? "right" : "wrong") + " on " + trial.day + " by a run of this request";
      entry.result.recorded = trial;
      return &entry;
    }
  Status judged = hands.judge(entry, from, to);
  if (!judged) {
    // A value that does not compile, or whose launch has no value, is no candidate; what was found already stays.
    if (judged.error().kind == ErrorKind::Internal)
      return std::unexpected(judged.error());
    entry.result.state = "unsupported";
    entry.result.why = describe(judged.error());
    plan.note(entry.result.name + " with " + parametersText(entry.result.parameters) + ": " + judged.error().what);
    return &entry;
  }
  record.add(TrialLine::of(proposal.name, values, *entry.result.verdict));
  if (entry.ratio() > 0)
    plan.note(fmt::format("{} with {}: {:.2f} times the reference", entry.result.name, parametersText(entry.result.parameters), entry.ratio()));
  return &entry;
}

Status Tuner::search(const Proposal &proposal, std::deque<Entry> &entries) {
  const double count = double(proposal.others.size());
  for (size_t i = 0; i < proposal.others.size(); ++i) {
    if (isOver()) {
      left += proposal.others.size() - i;
      return {};
    }
    if (Result<Entry *> measured =
            measure(proposal, proposal.others[i], entries, double(i) / count, double(i + 1) / count);
        !measured)
      return std::unexpected(measured.error());
  }
  return {};
}

Result<std::vector<std::string>> Tuner::costsOfHints(const Proposal &proposal, std::span<const Hint> hints,
                                                     const Entry &winner, const TuningGround &ground,
                                                     std::deque<Entry> &entries) {
  std::vector<std::string> sentences;
  for (const Hint &hint : hints) {
    const std::vector<std::string> names = parametersOf(proposal, hint);
    std::vector<Symbols> others =
        names.empty() ? std::vector<Symbols>() : besides(proposal, winner.values, names, ground);
    others.resize(std::min(others.size(), mostBesides));
    const Entry *best = nullptr;
    std::vector<std::string> slower;
    for (const Symbols &values : others) {
      if (isOver()) {
        ++left;
        continue;
      }
      Result<Entry *> measured = measure(proposal, values, entries, 0, 1);
      if (!measured)
        return std::unexpected(measured.error());
      Entry &entry = **measured;
      entry.besideHints = true;
      if (!entry.isRight() || entry.ratio() <= 0)
        continue;
      slower.push_back(fmt::format("{} {:+.0f} %", parametersText(entry.result.parameters), (entry.ratio() / winner.ratio() - 1) * 100));
      if (!best || entry.ratio() > best->ratio())
        best = &entry;
    }
    if (!best)
      continue;
    const double gain = best->ratio() / winner.ratio() - 1;
    sentences.push_back(gain > worthTelling
                            ? fmt::format("{}={} kept; {} would be {:.0f} % faster here", hint.key, hint.value,
                                          parametersText(best->result.parameters), gain * 100)
                            : fmt::format("{}={} kept, and costs nothing here: beside it were measured {}", hint.key,
                                          hint.value, join(slower, "; ")));
  }
  return sentences;
}

} // namespace opsight::port
