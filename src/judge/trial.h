// One candidate on one problem: buffers made anew, poisoned and guarded, launched, and read back with suspicion.
#pragma once
#include "judge/judge.h"
#include <map>
#include <set>

namespace opsight::judge {

/// What one launch left behind.
struct Trace {
  card::Launched launched;
  std::map<std::string, ops::Tensor> outputs; // by tensor name; only after End::Done
  uint32_t poison = 0;                        // the word that outputs held before
  std::set<std::string> filled{};             // outputs that held data before instead
  std::string modifiedInput;                  // "query: byte 12", empty: none
  std::string scribble;                       // "output: 4 bytes past its end", empty: none
};

/// Loads each artifact once.
class Programs {
public:
  explicit Programs(card::Session &session) : session(session) {}
  Result<card::ProgramId> of(const std::shared_ptr<const card::Artifact> &artifact);

private:
  card::Session &session;
  std::map<std::shared_ptr<const card::Artifact>, card::ProgramId> loaded;
};

/// Buffers and arguments of `build` for `c`; the same buffers may be filled with several problems.
class Trial {
public:
  /// Why the kernel cannot be asked this case at all (a size its parameters cannot hold, a scale it does not take).
  static std::optional<std::string> outside(const ops::Operator &op, const ops::Case &c, const Build &build);

  static Result<Trial> create(card::Session &session, Programs &programs, const ops::Operator &op, const ops::Case &c,
                              const Build &build, const ops::Problem &problem);

  /// Fills inputs from `problem`, poisons outputs with `poison`, sets the sentinels.
  void fill(const ops::Problem &problem, uint32_t poison);
  /// Replaces one input after fill().
  void replace(const std::string &tensor, const ops::Problem &problem);
  /// In which order launches take warps and blocks from now on (card::LaunchConfig::order).
  void takeOrder(uint64_t order);
  /// All steps of the build, up to the first that does not end well. An Error means that the session is unusable. With
  /// `observers` the build is one that was lowered to be watched.
  Result<card::Launched> launch(std::span<card::Observer *const> observers = {});
  /// The same of a build that was lowered to be checked, up to the first step that is not clean.
  Result<card::CheckedLaunch> check();
  /// Step `number` of the build alone; those before it must have run.
  Result<card::Launched> launchStep(size_t number, std::span<card::Observer *const> observers = {});
  /// What is to be said of the run after launch(): tampering and outputs.
  Trace collect(card::Launched launched) const;
  bool receives(const std::string &tensor) const { return buffers.contains(tensor); }

private:
  const ops::Operator *op = nullptr;
  ops::Case c;
  card::Session *session = nullptr;
  struct Launching {
    std::string kernel;
    card::ProgramId program = 0;
    card::LaunchConfig config;
    std::vector<card::Argument> arguments{};
  };
  Status addStep(Programs &programs, const Step &step, const ops::Presented &seen);
  Result<const card::Buffer *> bufferFor(const std::string &tensor, const ops::Presented &seen);

  std::vector<Launching> launchings;
  std::vector<std::string> heard;                     // symbols that scalar parameters mention
  std::map<std::string, std::unique_ptr<card::Buffer>> buffers; // by tensor name
  std::map<std::string, ops::Tensor> inputs;          // private copy of what the buffers were filled with
  std::map<std::string, ops::Tensor> outputs;         // type and shape of each that the build receives, without bytes
  uint32_t poison = 0;
};

/// Two poisons with nothing in common: a NaN with an odd payload, and a huge number.
uint32_t poisonWord(uint64_t seed, int run);

} // namespace opsight::judge
