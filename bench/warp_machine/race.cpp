#include "race.h"
#include <algorithm>
#include <chrono>
#include <thread>

namespace opsight::bench {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr double turnSeconds = 0.04; // of a turn, where launches are short
constexpr int fewestLaunches = 3, mostLaunches = 100;
constexpr double longLaunch = 0.3;   // seconds after which a launch has warmed its own caches, and is a turn by itself
constexpr double patience = 6;       // times the seconds asked for, before rounds end at fewer than an interval needs
constexpr size_t fewestRounds = 3;

/// The fastest of a turn's launches; the first only warms up.
Result<double> turn(Contender &contender) {
  double fastest = 0;
  auto start = Clock::now();
  for (int n = 0; n <= fewestLaunches || (n < mostLaunches && since(start) < turnSeconds); ++n) {
    auto seconds = contender.launch();
    if (!seconds || *seconds > longLaunch)
      return seconds;
    if (n > 0)
      fastest = n == 1 ? *seconds : std::min(fastest, *seconds);
  }
  return fastest;
}

/// A plain copy by as many threads as there are processors: as many bytes read and written in all as asked for.
class Copy {
public:
  explicit Copy(double bytes) : from_(size_t(bytes / 2), 'x'), to_(from_.size()) {}
  double turn() {
    double fastest = once(); // warms up
    auto start = Clock::now();
    for (int n = 0; n < fewestLaunches || (n < mostLaunches && since(start) < turnSeconds); ++n)
      fastest = n == 0 ? once() : std::min(fastest, once());
    return fastest;
  }

private:
  double once() {
    size_t threads = std::max(1u, std::thread::hardware_concurrency()), part = from_.size() / threads;
    auto start = Clock::now();
    {
      std::vector<std::jthread> running;
      for (size_t i = 0; i < threads; ++i)
        running.emplace_back([this, i, part] { std::memcpy(&to_[i * part], &from_[i * part], part); });
    }
    return since(start);
  }
  std::vector<char> from_, to_;
};

/// The roof's rate now, in 1e9 operations or bytes a second; 0 where there is none.
Result<double> measureRoof(const Workload &workload, Contender &contender, Copy &copy) {
  if (workload.roof == Roof::Peak)
    return contender.peakGflops();
  return workload.roof == Roof::Copy ? workload.bytes / copy.turn() / 1e9 : 0;
}

void summarise(Outcome &outcome, const std::vector<double> &roofs) {
  const std::vector<double> &first = outcome.parts.front().turns;
  for (Part &part : outcome.parts) {
    std::vector<double> ratios;
    for (size_t i = 0; i < std::min(first.size(), part.turns.size()); ++i)
      ratios.push_back(part.turns[i] / first[i]);
    if (!part.turns.empty())
      part.seconds = judge::medianInterval(part.turns);
    if (!ratios.empty())
      part.ratio = judge::medianInterval(ratios);
  }
  std::vector<double> shares;
  for (size_t i = 0; i < first.size() && outcome.roof != Roof::None; ++i)
    shares.push_back(outcome.work / first[i] / 1e9 / roofs[i]);
  if (!shares.empty()) {
    outcome.share = judge::medianInterval(shares);
    outcome.roofRate = judge::medianInterval(roofs);
  }
}

} // namespace

std::string Part::suspicion() const {
  for (const std::string &note : notes)
    if (note.starts_with(notClean))
      return note;
  return {};
}

void check(const Workload &workload, Outcome &outcome) {
  for (Part &part : outcome.parts) {
    if (!part.contender)
      continue;
    Status prepared = part.contender->prepare(workload);
    auto seconds = prepared ? part.contender->launch() : std::unexpected(prepared.error());
    part.notes = part.contender->notes();
    if (!seconds) {
      part.failure = describe(seconds.error());
      part.isWrong = prepared.has_value(); // it compiled and did not end
    } else if (auto mistake = part.contender->mistake(workload)) {
      part.failure = *mistake;
      part.isWrong = true;
    }
  }
}

Status time(const Workload &workload, double seconds, Outcome &outcome) {
  std::vector<Part *> running;
  for (Part &part : outcome.parts)
    if (part.contender && part.failure.empty())
      running.push_back(&part);
  if (running.empty())
    return {};
  Copy copy(workload.roof == Roof::Copy ? workload.bytes : 0);
  std::vector<double> roofs;
  auto start = Clock::now();
  auto goesOn = [&](size_t rounds) {
    double spent = since(start);
    return spent < seconds || rounds < fewestRounds || (rounds < judge::fewestForInterval && spent < patience * seconds);
  };
  for (size_t round = 0; goesOn(round); ++round) {
    for (size_t i = 0; i < running.size(); ++i) {
      Part &part = *running[(round + i) % running.size()]; // nobody always follows the same one
      auto taken = turn(*part.contender);
      if (!taken)
        return std::unexpected(taken.error());
      part.turns.push_back(*taken);
    }
    auto roof = measureRoof(workload, *running.front()->contender, copy);
    if (!roof)
      return std::unexpected(roof.error());
    roofs.push_back(*roof);
  }
  summarise(outcome, roofs);
  return {};
}

} // namespace opsight::bench
