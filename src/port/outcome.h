// What a port or a verification ended with: everything that reports show. No formatting here.
#pragma once
#include "card/profile.h"
#include "judge/verdict.h"
#include "port/request.h"
#include "port/tuning_line.h"

namespace opsight::port {

/// Whether one hint was kept by the candidate that won, with what shows it.
struct HintResult {
  Hint hint;
  /// True: kept, `evidence` shows it. False: not kept. None: it does not apply here; `evidence` is the reason.
  std::optional<bool> kept;
  std::string evidence;
};

struct FileText {
  std::string name; // relative to the candidate's folder
  std::string bytes;
};

/// One candidate and how far it came.
struct CandidateResult {
  std::string name, proposer;
  std::map<std::string, std::string> parameters;
  std::string state; // "judged", "screened" (in the cases of the build that is timed), "recorded", "unsupported", "not tried"
  std::string why;   // of all but the first
  std::optional<judge::Verdict> verdict;
  std::optional<TrialLine> recorded{}; // judged by an earlier run of the same request, and not again
  std::vector<FileText> files; // source, IR, and what else a reader wants
};

/// "tile 64x64, reduce_stride 4".
std::string parametersText(const std::map<std::string, std::string> &parameters);

/// A short account of what the kernel does, one line a subject.
struct KernelAccount {
  std::string kernel;
  SourcePlace where;
  std::vector<std::pair<std::string, std::string>> lines; // "barriers", "4 (flash.cu:41, …)"
};

struct Outcome {
  std::string verb;
  Request request; // with everything merged that was asked
  std::string referenceName;
  card::Profile profile;
  KernelAccount account;
  judge::Verdict verdict; // the winner's; hints that were not kept are among its reasons
  std::vector<HintResult> hints;
  std::vector<CandidateResult> candidates;
  std::vector<FileText> artifact;  // of the winner, relative to artifact/
  std::string figures;             // figures.toml: the winner's times, empty where it was not timed
  std::vector<std::string> notes;  // what a reader should know: overridden bars, what the translation did
  std::vector<std::string> advice; // after a FAIL: what would address it
  std::string replay;
  uint64_t seed = 0;
  double seconds = 0;
};

} // namespace opsight::port
