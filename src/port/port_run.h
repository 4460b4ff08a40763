// One run of `port` or `verify`, task by task: port.cpp has the way from request to verdict, port_search.cpp what is proposed
// and how the best is found.
#pragma once
#include "judge/judge.h"
#include "port/port.h"
#include "port/tuner.h"
#include "port/watch_check.h"
#include "sight/findings.h"

namespace opsight::port {

class Port {
public:
  Port(Verb verb, Request request, std::filesystem::path folder, Plan &plan)
      : verb(verb), plan(plan), folder(std::move(folder)) {
    outcome.request = std::move(request);
    outcome.verb = verb == Verb::Port ? "port" : verb == Verb::Verify ? "verify" : "bench";
  }
  Result<Outcome> run(const Overrides &overrides);

private:
  Status read(const Overrides &overrides);
  Status openDevice();
  Status see();
  void lookAtSource();
  Status chooseSample();
  Status propose();
  Status translate();
  Status chooseReference();
  Status readRecorded();
  Status judgeOne(Entry &entry, double from, double to);
  Status screen(Entry &entry, double from, double to);
  Result<std::vector<ops::Case>> casesOfTimedBuilds(const SourceCandidate &candidate) const;
  Result<judge::Verdict> judged(Entry &entry, std::span<const ops::Case> on, const judge::Further &further, double from,
                                double to);
  Status verify();
  Status judgeOpen();
  Status improve();
  Status conclude();
  Result<std::vector<HintResult>> evidenceOf(const std::vector<Hint> &hints);
  Status judgeHints();
  Status judgeOwnHints();
  Entry *best();

  Status proposeKernels();
  bool proposeRecorded();
  void proposeAll();
  void forgetRecorded();
  Status tune(Tuner &tuner);
  std::unique_ptr<SourceCandidate> made(SourceKernel kernel) const {
    return std::make_unique<SourceCandidate>(*outcome.request.op, std::move(kernel), target());
  }
  void add(const Proposal &proposal, const Symbols &values) {
    entries.emplace_back(made(proposal.kernelWith(values)), values);
  }
  TuningGround ground() const { return {outcome.profile, source->symbolsOf(sample)}; }
  CardTarget target() const { return {outcome.profile, session ? session->info() : card::DeviceInfo{}}; }
  bool isRight(const std::string &name) const {
    return std::ranges::any_of(entries,
                               [&](const Entry &entry) { return entry.result.name == name && entry.isRight(); });
  }
  bool isShaped() const { return std::ranges::any_of(outcome.request.hints, shapesKernel); }

  Verb verb;
  Plan &plan;
  std::filesystem::path folder; // where the results will lie
  Outcome outcome;
  judge::Bar bar;
  card::Limits limits;
  std::unique_ptr<card::Session> session;
  std::optional<WatchCheck> watch;
  std::vector<ops::Case> cases, speedCases;
  std::vector<sight::Findings> seen; // of the source, where the engineer gave no hints of its construction
  ops::Case sample; // the case that stands for the kernel where one is needed: the first speed case it takes
  std::unique_ptr<SourceCandidate> source; // the user's kernel, read before anything is proposed
  std::vector<Proposal> proposals;         // in the order of judgement
  std::deque<Entry> entries;
  std::unique_ptr<TuningRecord> record;
  std::optional<WinnerLine> recorded; // of an earlier search of this request, where it is used again
  std::unique_ptr<judge::Candidate> reference;
  Entry *winner = nullptr;
};

} // namespace opsight::port
